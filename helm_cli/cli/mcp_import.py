"""How servers are taken over from another MCP client's file: shown first, chosen by the person, tokens to the store."""

import os
import stat
from typing import Final, NamedTuple

from helm_cli.broker import profiles as broker
from helm_cli.cli import entry, mcp_profile
from helm_cli.cli.here import Here, answered, tell
from helm_cli.grammar import mcp_servers
from helm_cli.grammar.mcp_servers import Found
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Server
from helm_cli.store import groups, profiles
from helm_cli.view.lines import Line, drawn, folded, line
from helm_cli.view.text import shown

# Such files may hold years of a client's history besides.
MOST_BYTES: Final = 64 * 1024 * 1024
_DEEP: Final = "      "


class Offer(NamedTuple):
    """One server of the file as a profile, or why it is not taken over."""

    found: Found
    profile: Server | None
    reason: str


def run(place: Here, file: str, *, force: bool) -> int:
    """Show what the file holds, ask which of it to take, and take it; the file itself is never changed.

    Raises HelmError "usage" where the file cannot be understood, "confirmation_required" without a person, "declined".
    """
    try:
        found = mcp_servers.read(_text(file))
    except ValueError as error:
        raise HelmError("usage", f"{file} cannot be used: {error}") from None
    offers = [_offer(place, one, force=force) for one in found]
    _show(place, file, offers)
    able = {offer.profile.name: offer for offer in offers if offer.profile is not None}
    if not able:
        tell(place.streams, f"nothing of {file} is to be taken over")
        return 0
    if not entry.can_ask(place):
        told = "taking servers over needs a person at the terminal, who chooses; run it in one, or use helm mcp add"
        raise HelmError("confirmation_required", told)
    from helm_cli.cli import wizard

    names = wizard.chosen("Take over (space marks, Enter takes)", list(able))
    answered(place)
    for name in names:
        _take(place, able[name], force=force)
    return 0


def _text(file: str) -> str:
    path = os.path.expanduser(file)
    try:
        # A FIFO would hold helm for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise HelmError("usage", f"{file} is not a regular file; name the configuration file itself")
            with open(descriptor, "rb", closefd=False) as opened:
                data = opened.read(MOST_BYTES + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise HelmError("usage", f"{file} cannot be read ({reason}); name a configuration file") from None
    if len(data) > MOST_BYTES:
        raise HelmError("usage", f"{file} is over {MOST_BYTES // 1024 // 1024} MiB; name a configuration file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HelmError("usage", f"{file} is not UTF-8; name a configuration file") from None


def _offer(place: Here, found: Found, *, force: bool) -> Offer:
    if found.fault:
        return Offer(found, None, found.fault)
    profile = Server(found.name, found.command, found.url, found.variable)
    wrong = groups.GROUPS["mcp"].fault(profile)
    if wrong:
        return Offer(found, None, wrong)
    if not force and profiles.exists(place.stores.home, "mcp", found.name):
        return Offer(found, None, f"there is a profile {found.name} already; --force replaces it")
    return Offer(found, profile, "")


def _show(place: Here, file: str, offers: list[Offer]) -> None:
    servers = "1 MCP server" if len(offers) == 1 else f"{len(offers)} MCP servers"
    laid = [Line(shown(f"{file} holds {servers}")), *(part for offer in offers for part in _laid(offer))]
    streams = place.streams
    if streams.out_terminal:
        laid = [part for whole in laid for part in folded(whole, streams.width)]
    streams.write("".join(f"{drawn(whole, color=streams.color)}\n" for whole in laid))


def _laid(offer: Offer) -> list[Line]:
    found, profile = offer.found, offer.profile
    called = "" if found.origin == found.name else f" ({found.origin})"
    if profile is None:
        return [
            line("  ", (shown(found.name or found.origin), "bold"), shown(called)),
            Line(_DEEP + shown(f"not taken over: {offer.reason}")),
        ]
    told = [profile.where(), *_of_token(found), *found.notes]
    return [
        line("  ", (shown(found.name), "bold"), shown(called)),
        *(Line(_DEEP + shown(text)) for text in told),
    ]


def _of_token(found: Found) -> list[str]:
    """What becomes of the token, never the token."""
    way = f"in {found.variable}" if found.variable else "as Authorization: Bearer"
    if found.asked:
        return [f"its token, which it gets {way}, is not in the file ({found.asked}): you are asked for it"]
    if found.token is not None:
        return [f"its token, which it gets {way}, goes to the credential store"]
    return [f"its token, which it gets {way}, is empty in the file"] if found.variable else []


def _take(place: Here, offer: Offer, *, force: bool) -> None:
    found, profile = offer.found, offer.profile
    if profile is None:
        return
    secret = found.token
    if found.asked:
        label = shown(f"Token of {profile.name}, {found.asked} in the file (empty for none)")
        secret = mcp_profile.secret(profile, entry.typed_secret(place, label))
    recorded = broker.add(place.stores, profile, secret, force=force)
    where = f", its token in the {recorded.credential}" if recorded.credential else ""
    tell(place.streams, f"added the MCP server profile {recorded.name}{where}")
    mcp_profile.warn(place, recorded)
