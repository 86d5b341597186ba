"""How the secrets that an export does not hold are entered: unseen, or all at once on standard input."""

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final

from helm_cli.broker.portable import Entry
from helm_cli.broker.portable_taking import Standing
from helm_cli.cli import entry, mcp_profile, service_entry
from helm_cli.cli.here import Here
from helm_cli.model import jsontext
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Profile, Server, Service
from helm_cli.view.streams import piped_bytes

CALLED: Final = {"password": "password", "token": "token", "client-secret": "client secret"}
_ID: Final = re.compile(r"(db|service|mcp)/[a-z0-9][a-z0-9._-]{0,63}")
_MOST_BYTES: Final = 1024 * 1024


def piped(place: Here, entries: Iterable[Entry]) -> dict[str, str]:
    """The secrets on standard input by the ids of their profiles, each as it is kept; "" is one that comes later.

    Raises HelmError "usage", without a word of any secret, where one is not of these entries or cannot be used.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        raise HelmError("usage", "the secrets would stand on the screen as you type them; pipe them in")
    data = piped_bytes("the secrets", _MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise HelmError("usage", "the secrets on standard input are over 1 MiB")
    found = _object(data)
    known = {one.id: one.profile for one in entries if one.secret is not None}
    for id_ in found:
        if id_ not in known:
            # What is no id may be a secret in the wrong place.
            told = id_ if _ID.fullmatch(id_) else "a key that is not written GROUP/NAME"
            raise HelmError("usage", f"the secrets name {told}, which needs none in the export or is not in it")
    return {id_: fit(place, known[id_], text) if text else "" for id_, text in found.items()}


def wanted(place: Here, one: Standing, given: Mapping[str, str]) -> str:
    """The secret of one that was chosen, "" for none now. Raises HelmError "usage" and "declined"."""
    if one.entry.secret is None:
        return ""
    if one.entry.id in given or not entry.can_ask(place):
        return given.get(one.entry.id, "")
    label = f"{CALLED[one.entry.secret].capitalize()} of {one.entry.id} ({_when_empty(one)})"
    text = entry.typed_secret(place, label)
    return fit(place, one.entry.profile, text) if text else ""


def fit(place: Here, profile: Profile, text: str) -> str:
    """A secret as it is kept. Raises HelmError "usage" for what cannot be one of such a profile."""
    if isinstance(profile, Service):
        return service_entry.fit(place, profile, text)
    return mcp_profile.secret(profile, text) if isinstance(profile, Server) else text


def _when_empty(one: Standing) -> str:
    return "empty to keep the one that is here" if one.state == "same" else "empty to enter it later"


def _object(data: bytes) -> dict[str, str]:
    try:
        found: Any = jsontext.parse(data)
    except ValueError:
        # Its reason may repeat a word of them.
        found = None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        told = 'the secrets on standard input must be one JSON object of texts, such as {"db/shop": "…"}'
        raise HelmError("usage", told)
    return found
