"""A home in which something of everything has a name to be completed, made by the stores themselves."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from helm_cli.broker.stores import Stores
from helm_cli.model.content import Content
from helm_cli.model.draft import Draft
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Binding
from helm_cli.model.plugin import Bound
from helm_cli.model.profile import Database, Profile, Server, Service
from helm_cli.store import (
    approvals,
    bindings,
    confirmations,
    drafts,
    profiles,
    projects,
    runs,
    shared,
    tools,
    workspaces,
)
from helm_cli.store.approvals import Approval
from helm_cli.store.projects import Registered
from helm_cli.store.runs import Run

# Names of tools that would do something, or be something else, where a shell read them as its own.
HOSTILE: Final = (
    '$(touch evil) `touch evil`; touch evil | x > evil & {a,b} [a]* it\'s "a" \\ !! #x ~ (b) %',
    "!!",
    "$HOME",
    "a:b",
    "*",
    "$(touch evil)",
    "`touch evil`",
    "; touch evil",
    "| touch evil",
    "> evil",
    "a b",
    "it's",
    'say "hi"',
    "back\\slash",
    "[a]",
    "{a,b}",
    "#x",
    "a=b",
    "@x",
    "%x",
    "(a)",
    "né",
    "&",
)
# What has no place on a line at all.
UNFIT: Final = ("~/x", "new\nline", "esc\x1b[31m", "--workspace", "zero\u200bwidth", " space", "tab\tbed")

TICKETS: Final[dict[str, Any]] = {
    "id": "tickets",
    "permissions": {"write": True},
    "connections": [
        {
            "id": "app",
            "kind": "db",
            "service": "local-app",
            "engine": "sqlite",
            "queries": {
                "recent": {"sql": "SELECT ?, ?, ?", "params": ["status", "limit", "status"]},
                "every": {"sql": "SELECT 1"},
                "close": {"sql": "UPDATE t SET a = ?", "params": ["id"], "write": True},
            },
        },
        {
            "id": "web",
            "kind": "http",
            "service": "github",
            "calls": {
                "issues": {"method": "GET", "path": "/{owner}/{repo}", "query": {"n": "{limit}", "a": "b"}},
                "open": {
                    "method": "POST",
                    "path": "/{owner}/issues",
                    "body": {"title": "{title}", "in": ["{owner}", {"x": "{labels}"}], "free": "not {this}"},
                    "write": True,
                },
            },
        },
        {"id": "docs", "kind": "files", "root": "project", "paths": ["**"], "operations": ["list", "read", "write"]},
        {"id": "notes", "kind": "files", "root": "workspace", "paths": ["*"], "operations": ["read"]},
        {"id": "tdt", "kind": "tdt-mcp", "operations": ["tdt_status"], "writes": ["tdt_apply"]},
        {"id": "files", "kind": "mcp", "server": "files", "operations": ["get"], "writes": ["put"]},
    ],
}
MARKETING: Final[dict[str, Any]] = {
    "name": "acme/marketing",
    "version": "1.0.0",
    "description": "Writes posts.",
    "tools": [
        {"ref": "mcp:cms", "allow": ["list_posts", "find_*"]},
        {"ref": "mcp:cms", "allow": ["save_post", "find_and_*"], "risk": "write"},
        {"name": "send_post", "kind": "http", "risk": "consequential"},
        {"name": "count_posts", "kind": "http", "risk": "read"},
        {"name": "read_notes", "kind": "builtin", "risk": "read"},
    ],
    "settings": [{"key": "tone", "type": "string"}, {"key": "api_key", "type": "secret"}],
    "triggers": [
        {"on": "manual", "form": {"brief": "text", "channel": ["blog", "email"]}},
        {"on": "schedule", "cron": "0 14 * * MON"},
    ],
    "outputs": [
        {"type": "draft", "kinds": ["blog"]},
        {"type": "publish", "via": "send_post", "approval": {"role": "editor", "min": 2}},
    ],
}
PROFILES: Final[tuple[Profile, ...]] = (
    Database("local-app", "sqlite", path="/srv/app.db"),
    Database("shop", "postgres", host="localhost", port=5432, database="shop", user="me"),
    Service("github", "https://api.example.com", credential="file"),
    Service("cal", "https://cal.example.com", client_id="7"),
    Service("open", "http://localhost:1"),
    Server("files", command=("npx", "server", "/srv")),
    Server("linear", url="https://mcp.example.com/mcp"),
)


class World(NamedTuple):
    """`workspace` is registered, `elsewhere` too, with the extension `other` in it. The ids are of what waits."""

    home: Path
    workspace: Path
    elsewhere: Path
    pending: str
    draft: str
    run: str


def world(folder: Path) -> World:
    """Everything once, under this folder."""
    home, workspace, elsewhere = folder / "home", folder / "space", folder / "else where"
    workspace.mkdir(parents=True)
    elsewhere.mkdir()
    stores = Stores(home)
    for profile in PROFILES:
        profiles.create(home, profile)
    tickets = approve(stores, workspace, "tickets", {"manifest.json": json.dumps(TICKETS)})
    marketing = approve(stores, workspace, "acme/marketing", {"plugin.yaml": json.dumps(MARKETING)})
    approve(stores, workspace, "off", manifest("off", "gone", "x"))
    approvals.set_enabled(stores.db, str(workspace), "off", False)
    approve(stores, workspace, "hostile", _hostile())
    approve(stores, elsewhere, "other", manifest("other", "there", "far"))
    _seen(stores, tickets, {"files": {"get": {"path": {}, "head": {}}, "put": {}}})
    _seen(stores, marketing, {"cms": {"find_old": {"q": {}}, "find_and_fix": {}, "other": {}, "list_posts": {}}})
    for tool, path, body in (("send_post", "/posts?list={list}", '{"t":"{title}"}'), ("count_posts", "/count", None)):
        to = Bound(tool, "github", "POST" if body else "GET", path, body)
        bindings.bind(stores.db, str(workspace), "acme/marketing", marketing.digest, to, 1.0)
    projects.add(stores.db, str(workspace), Registered("website", str(folder / "website")), 1.0)
    runs.begin(stores.db, Run("k3v7q2ab", str(workspace), "acme/marketing", "d", "manual", {}, time.time(), "me", 0))
    pending = _pending(stores, workspace)
    draft = _draft(stores)
    stores.close()
    return World(home, workspace, elsewhere, pending, draft, "k3v7q2ab")


def approve(stores: Stores, workspace: Path, id_: str, files: Mapping[str, str]) -> Approval:
    """As a review does once a person said yes."""
    content = Content({path: text.encode() for path, text in files.items()})
    approval = Approval(str(workspace), id_, str(workspace / "gone"), content.digest, True, 1.0, "person")
    workspaces.register(stores.db, str(workspace), 1.0)
    approvals.approve(stores.db, approval, content, ())
    return approval


def manifest(id_: str, connection: str, *tools: str) -> dict[str, str]:
    """The files of an extension with one connection to an MCP server."""
    one = {"id": connection, "kind": "mcp", "server": "files", "operations": list(tools)}
    return {"manifest.json": json.dumps({"id": id_, "connections": [one]})}


def _hostile() -> dict[str, str]:
    """A connection for each name, so that a Tab has one way to go on, and one with all that is unfit."""
    connections = [
        {"id": f"h{at}", "kind": "mcp", "server": "files", "operations": [name]} for at, name in enumerate(HOSTILE)
    ]
    connections.append({"id": "all", "kind": "mcp", "server": "files", "operations": [*HOSTILE]})
    connections.append({"id": "unfit", "kind": "mcp", "server": "files", "operations": [*UNFIT, "fit"]})
    return {"manifest.json": json.dumps({"id": "hostile", "connections": connections})}


def _seen(stores: Stores, approval: Approval, servers: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """What a person was shown of the tools of servers: by connection and tool, the properties of its arguments."""
    pins: dict[str, dict[str, dict[str, Json] | None]] = {
        connection: {
            name: {"name": name, "inputSchema": {"type": "object", "properties": dict(properties)}}
            for name, properties in found.items()
        }
        for connection, found in servers.items()
    }
    tools.pin(stores.db, approval.workspace, approval.extension, pins, pins)


def _pending(stores: Stores, workspace: Path) -> str:
    binding = Binding(str(workspace), "tickets", "d", "app", "close", "t", "r")
    now = time.time()
    expired, unlisted = binding._replace(operation="old"), binding._replace(operation="other")
    confirmations.issue(stores.db, "write", expired, {}, now - 301, listed=True, asked_by="a script")
    confirmations.issue(stores.db, "write", unlisted, {}, now, listed=False, asked_by="a script")
    return confirmations.issue(stores.db, "write", binding, {}, now, listed=True, asked_by="a script").id


def _draft(stores: Stores) -> str:
    draft = Draft("", "acme/marketing", "blog", "Version 2", "Text", None, drafts.moment(1.0), 0, "")
    with shared.opened(drafts.folder(stores.home, stores.config)) as folder:
        return drafts.add(folder, draft, "me").id
