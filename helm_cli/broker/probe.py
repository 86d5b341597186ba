"""How a profile is tried by the person who configured it: reached with its secret, which no command gets to see."""

from typing import TYPE_CHECKING, Final

from helm_cli import drivers
from helm_cli.broker import authorization
from helm_cli.broker.stores import Stores
from helm_cli.model.profile import Database, Profile, Server

if TYPE_CHECKING:
    from helm_cli.model.tool import Tool

# Of the groups whose profiles do not name theirs.
_DRIVERS: Final = {"service": "http", "mcp": "mcp"}


def probe(stores: Stores, profile: Profile) -> str:
    """One line on what answered at the profile's target. HelmError where nothing did, and as `authorization.secret`."""
    with authorization.authorized(stores, profile) as secret:
        answer = reached(profile, secret)
    return authorization.unsaid(answer, profile, secret)


def reached(profile: Profile, secret: str | None, seconds: float | None = None) -> str:
    """The same with a secret that is at hand, and in `seconds` at most where the usual limits are longer.

    What answered had a part in the line, and in the message of a HelmError (`authorization.unsaid`).
    """
    driver = _driver(profile)
    profile, limits = _limited(profile, driver.LIMITS, seconds)
    return driver.probe(profile, secret, limits)


def longest(profile: Profile, seconds: float | None) -> float:
    """How many seconds that may take, if its driver keeps its limits."""
    profile, limits = _limited(profile, _driver(profile).LIMITS, seconds)
    return limits.seconds + (profile.start_seconds if isinstance(profile, Server) else 0)


def tools(stores: Stores, server: Server) -> "list[Tool]":
    """What an MCP server says of its tools, in its order. HelmError as for `probe`."""
    with authorization.authorized(stores, server) as secret:
        from helm_cli.drivers import mcp

        return mcp.tools(server, secret, mcp.LIMITS)


def _driver(profile: Profile) -> drivers.Driver:
    return drivers.driver(profile.engine if isinstance(profile, Database) else _DRIVERS[profile.group])


def _limited(profile: Profile, limits: drivers.Limits, seconds: float | None) -> tuple[Profile, drivers.Limits]:
    if seconds is None:
        return profile, limits
    if isinstance(profile, Server):
        profile = profile._replace(start_seconds=min(profile.start_seconds, max(1, round(seconds))))
    return profile, limits._replace(seconds=min(limits.seconds, seconds))
