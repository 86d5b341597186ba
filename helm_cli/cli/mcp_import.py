"""How servers are taken over from another MCP client's file: what of each is told, and how its token is asked for."""

from functools import partial
from typing import Final

from helm_cli.cli import entry, mcp_profile, taking
from helm_cli.cli.here import Here, note
from helm_cli.cli.taking import Manner, Offer, Section
from helm_cli.grammar import mcp_servers
from helm_cli.grammar.mcp_servers import Found
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Server
from helm_cli.view.text import shown

# Such files may hold years of a client's history besides.
_MIB: Final = 64


def run(place: Here, file: str, *, force: bool) -> int:
    """Show what the file holds, ask which of it to take, and take it.

    Raises HelmError "usage" where the file cannot be understood, and as `taking.run` does.
    """
    source = taking.read(file, "configuration file", mib=_MIB)
    try:
        found = mcp_servers.read(source.text)
    except ValueError as error:
        raise HelmError("usage", f"{source.label} cannot be used: {error}") from None
    offers = tuple(taking.standing(place, _offer(one), force=force) for one in found)
    heading = taking.counted(source.label, offers, "MCP server", "MCP servers")
    asked = {one.name: one.asked for one in found if one.asked}
    manner = Manner("mcp", "servers", partial(_ask, place, asked), partial(_taken, place))
    return taking.run(place, [Section(heading, offers)], manner, source.label, force=force)


def _offer(found: Found) -> Offer[Server]:
    offer = Offer[Server](found.name, found.origin, secret=found.token, reason=found.fault)
    if found.fault:
        return offer
    profile = Server(found.name, found.command, found.url, found.variable)
    return offer._replace(profile=profile, told=(profile.where(), *_of_token(found), *found.notes))


def _of_token(found: Found) -> list[str]:
    """What becomes of the token, never the token."""
    way = f"in {found.variable}" if found.variable else "as Authorization: Bearer"
    if found.asked:
        return [f"its token, which it gets {way}, is not in the file ({found.asked}): you are asked for it"]
    if found.token is not None:
        return [f"its token, which it gets {way}, goes to the credential store"]
    return [f"its token, which it gets {way}, is empty in the file"] if found.variable else []


def _ask(place: Here, asked: dict[str, str], offer: Offer[Server]) -> Offer[Server]:
    if offer.profile is None or offer.name not in asked:
        return offer
    label = shown(f"Token of {offer.name}, {asked[offer.name]} in the file (empty for none)")
    fitting = partial(mcp_profile.secret, offer.profile)
    return offer._replace(secret=fitting(entry.typed_secret(place, label, fitting)))


def _taken(place: Here, recorded: Server, verb: str) -> None:
    where = f", its token in the {recorded.credential}" if recorded.credential else ""
    note(place.streams, f"{verb} the MCP server profile {recorded.name}{where}")
    mcp_profile.warn(place, recorded)
