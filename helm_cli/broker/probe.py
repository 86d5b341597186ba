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
        driver = drivers.driver(profile.engine if isinstance(profile, Database) else _DRIVERS[profile.group])
        answer = driver.probe(profile, secret, driver.LIMITS)
    return authorization.unsaid(answer, profile, secret)


def tools(stores: Stores, server: Server) -> "list[Tool]":
    """What an MCP server says of its tools, in its order. HelmError as for `probe`."""
    with authorization.authorized(stores, server) as secret:
        from helm_cli.drivers import mcp

        return mcp.tools(server, secret, mcp.LIMITS)
