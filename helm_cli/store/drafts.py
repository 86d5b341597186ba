"""How drafts, what people said to them and that they went out stand as files in the folder that a team shares."""

import base64
import hashlib
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from helm_cli.model import jsontext
from helm_cli.model.draft import (
    MOST_BODY_BYTES,
    STATES,
    Decision,
    Draft,
    Filed,
    Said,
    Sending,
    Sent,
    body_fault,
    title_fault,
)
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.plugin import DRAFT_KINDS
from helm_cli.store import config, shared
from helm_cli.store import home as homes

NAME: Final = "drafts"
# A control character takes six bytes in JSON, and the rest of a draft is small.
_MOST_BYTES: Final = 6 * MOST_BODY_BYTES + 16 * 1024
_MOST_SMALL_BYTES: Final = 4 * 1024
# What so many people said to one draft, each of them often, is enough.
_MOST_DECISIONS: Final = 500

ID: Final = re.compile(r"[a-z2-7]{8}")
_PLUGIN: Final = re.compile(r"([a-z0-9][a-z0-9-]{0,38}/)?[a-z0-9][a-z0-9-]{0,63}")
_RUN: Final = ID
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", re.ASCII)
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_TOOL: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_DRAFT_FILE: Final = re.compile(r"(?P<id>[a-z2-7]{8})\.draft\.json")
_DECISION_FILE: Final = re.compile(r"(?P<id>[a-z2-7]{8})\.[0-9a-f]{16}\.decision\.json")
_ATTEMPTS: Final = 10


def folder(home: Path, settings: config.Config) -> Path:
    """Where drafts wait: `drafts_dir`, which a team makes itself, else a folder of the home's own, made here.

    Raises HelmError("state").
    """
    if settings.drafts_dir is not None:
        return Path(settings.drafts_dir)
    homes.prepare(home)
    homes.prepare(home / NAME)
    return home / NAME


def moment(at: float) -> str:
    """An instant as the files have it: sorted as texts they are in order."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")


def after(moments: Iterable[str], at: float) -> str:
    """This instant, or just after the last of the moments, where a clock was ahead when that was written."""
    last = max(moments, default="")
    with suppress(ValueError, OverflowError):
        last = moment((datetime.fromisoformat(last) + timedelta(microseconds=1)).timestamp())
    return max(last, moment(at))


def new_id() -> str:
    """A short id that nobody can foresee."""
    return base64.b32encode(os.urandom(5)).decode().lower()


def add(opened: int, draft: Draft, name: str) -> Draft:
    """File a draft under an id of its own, `name` being what its asker, this process's user, is called.

    Its `id`, `asker` and `digest` are those that it then has. Raises HelmError("state").
    """
    for _ in range(_ATTEMPTS):
        id_ = new_id()
        record: dict[str, Json] = {
            "id": id_,
            "plugin": draft.plugin,
            "kind": draft.kind,
            "title": draft.title,
            "body": draft.body,
            "run": draft.run,
            "at": draft.at,
            "asked_by": {"uid": os.geteuid(), "name": name},
        }
        data = _bytes(record)
        if shared.create(opened, _draft_file(id_), data, everybody=False):
            return draft._replace(id=id_, asker=os.geteuid(), digest=_digest(data))
    raise HelmError("state", "the folder of drafts takes no new draft; look at drafts_dir in config.toml")


def hidden(opened: int, draft: Draft) -> bool:
    """Whether the others of the team cannot read this draft. Raises HelmError("state")."""
    return shared.hidden(opened, _draft_file(draft.id))


def every(opened: int) -> tuple[list[Filed], list[str]]:
    """Every draft in the folder, oldest first, and why other files that look like drafts are none.

    Raises HelmError("state").
    """
    names = shared.names(opened)
    said: dict[str, list[str]] = {}
    for name in names:
        if match := _DECISION_FILE.fullmatch(name):
            said.setdefault(match["id"], []).append(name)
    found, broken = [], []
    for name in names:
        match = _DRAFT_FILE.fullmatch(name)
        if match is None:
            continue
        try:
            draft = _draft(opened, match["id"])
            found += [_filed(opened, draft, said.get(draft.id, ()))] if draft is not None else []
        except ValueError as error:
            broken.append(f"{name} {error}")
    return sorted(found, key=lambda filed: (filed.draft.at, filed.draft.id)), broken


def find(opened: int, id_: str) -> Filed | None:
    """The draft of this id with all that is said of it, None where there is none.

    Raises HelmError("state"), also where its file is not one to be believed.
    """
    try:
        draft = _draft(opened, id_) if ID.fullmatch(id_) else None
        if draft is None:
            return None
        names = (name for name in shared.names(opened) if name.startswith(f"{id_}.") and _DECISION_FILE.fullmatch(name))
        return _filed(opened, draft, names)
    except ValueError as error:
        raise HelmError("state", f"the draft {id_} cannot be used: its file {error}") from None


def decide(opened: int, draft: Draft, said: Said, at: str, name: str) -> None:
    """File what this process's user says to exactly this content, at this `moment`. Raises HelmError("state")."""
    record: dict[str, Json] = {
        "draft": draft.id,
        "digest": draft.digest,
        "decision": said,
        "at": at,
        "by": {"uid": os.geteuid(), "name": name},
    }
    shared.replace(opened, f"{draft.id}.{os.urandom(8).hex()}.decision.json", _bytes(record))


def claim(opened: int, sending: Sending, id_: str) -> bool:
    """Say that this process's user sends the draft out from now on; False where somebody did. HelmError("state")."""
    return shared.create(opened, _sending_file(id_), _sending_bytes(sending, id_), everybody=True)


def settle(opened: int, sending: Sending, id_: str) -> None:
    """Put what became of a draft that `claim` gave to this user. Raises HelmError("state")."""
    shared.replace(opened, _sending_file(id_), _sending_bytes(sending, id_))


def unclaim(opened: int, id_: str) -> None:
    """Nothing was sent, so the draft may be sent again. Raises HelmError("state")."""
    shared.remove(opened, _sending_file(id_))


def _filed(opened: int, draft: Draft, names: Iterable[str]) -> Filed:
    """Raises ValueError, a clause that follows the file's name."""
    decisions, ignored = [], []
    for count, name in enumerate(names):
        # To read some of them only would let whoever made the others hide a no.
        _need(count < _MOST_DECISIONS, f"has over {_MOST_DECISIONS} files of decisions beside it; take some away")
        try:
            decision = _decision(opened, name, draft.id)
        except ValueError as error:
            ignored.append(f"{name} {error}")
        else:
            decisions += [decision] if decision is not None else []
    return Filed(draft, tuple(decisions), _sending(opened, draft.id), tuple(ignored))


def _draft(opened: int, id_: str) -> Draft | None:
    """Raises ValueError, a clause that follows the file's name."""
    file = shared.read(opened, _draft_file(id_), _MOST_BYTES)
    if file is None:
        return None
    record = _record(file.data, ("id", "plugin", "kind", "title", "body", "run", "at", "asked_by"))
    body, title, asked_by = record["body"], record["title"], record["asked_by"]
    _need(record["id"] == id_, "says that it is another draft")
    _need(_matches(_PLUGIN, record["plugin"]), "names no plugin")
    _need(record["kind"] in DRAFT_KINDS, "has a kind that no draft has")
    _need(title_fault(title) is None and body_fault(body) is None, "has a title or a text that no draft may have")
    _need(record["run"] is None or _matches(_RUN, record["run"]), "names no run")
    _need(_matches(_TIME, record["at"]), "does not say when it was asked for")
    _need(isinstance(asked_by, dict) and asked_by.get("uid") == file.uid, "belongs to another user than asked for it")
    return Draft(
        id=id_,
        plugin=record["plugin"],
        kind=record["kind"],
        title=title,
        body=body,
        run=record["run"],
        at=record["at"],
        asker=file.uid,
        digest=_digest(file.data),
    )


def _decision(opened: int, name: str, id_: str) -> Decision | None:
    """Raises ValueError, a clause that follows the file's name."""
    file = shared.read(opened, name, _MOST_SMALL_BYTES)
    if file is None:
        return None
    record = _record(file.data, ("draft", "digest", "decision", "at", "by"))
    said: dict[Any, Said] = {"approve": "approve", "reject": "reject"}
    _need(record["draft"] == id_, "is about another draft")
    _need(record["decision"] in said, "says neither yes nor no")
    _need(_matches(_DIGEST, record["digest"]) and _matches(_TIME, record["at"]), "is no decision")
    # A second name of a no takes nothing away; else whoever makes one could undo it.
    alone = file.names == 1 or record["decision"] == "reject"
    _need(alone, "has a second name, so others than its owner may have put it there")
    return Decision(file.uid, said[record["decision"]], record["digest"], record["at"])


def _sending(opened: int, id_: str) -> Sending | None:
    """What stands in the way of sending it, whatever it is: what cannot be read may be that it went out."""
    try:
        file = shared.read(opened, _sending_file(id_), _MOST_SMALL_BYTES)
        if file is None:
            return None
        record = _record(file.data, ("draft", "digest", "state", "via", "at"))
        states: dict[Any, Sent] = {state: state for state in STATES}
        _need(record["state"] in states and _matches(_TOOL, record["via"]), "")
        _need(_matches(_DIGEST, record["digest"]) and _matches(_TIME, record["at"]), "")
    except ValueError:
        return Sending(-1, "unknown", "", "", "")
    return Sending(file.uid, states[record["state"]], record["via"], record["digest"], record["at"])


def _record(data: bytes, members: tuple[str, ...]) -> dict[str, Any]:
    try:
        value = jsontext.parse(data)
    except ValueError as error:
        raise ValueError(f"cannot be read: {error}") from None
    if not isinstance(value, dict) or value.keys() != set(members):
        raise ValueError(f"does not have the members {', '.join(members)}")
    return value


def _need(held: bool, otherwise: str) -> None:
    if not held:
        raise ValueError(otherwise)


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _bytes(record: dict[str, Json]) -> bytes:
    return (jsontext.dump(record) + "\n").encode()


def _sending_bytes(sending: Sending, id_: str) -> bytes:
    told: dict[str, Json] = {
        "draft": id_,
        **{name: value for name, value in sending._asdict().items() if name != "uid"},
    }
    return _bytes(told)


def _digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _draft_file(id_: str) -> str:
    return f"{id_}.draft.json"


def _sending_file(id_: str) -> str:
    return f"{id_}.sent.json"
