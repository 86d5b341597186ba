"""What a changed manifest may do now: each kind of difference by name, widened rights first."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from helm_cli import dialects
from helm_cli.broker import difference
from helm_cli.model.content import Content
from helm_cli.model.extension import Extension
from helm_cli.model.review import Change, FileChange
from tests.broker.folders import FIVE_KINDS

Edit = Callable[[dict[str, Any]], object]


def built(declared: dict[str, Any]) -> Extension:
    return dialects.build(Content({"manifest.json": json.dumps(declared).encode()}))


def changed(edit: Edit) -> tuple[Change, ...]:
    declared = copy.deepcopy(FIVE_KINDS)
    edit(declared)
    return difference.between(built(FIVE_KINDS), built(declared))


def undone(edit: Edit) -> tuple[Change, ...]:
    declared = copy.deepcopy(FIVE_KINDS)
    edit(declared)
    return difference.between(built(declared), built(FIVE_KINDS))


def connection(declared: dict[str, Any], id_: str) -> dict[str, Any]:
    found: dict[str, Any] = next(entry for entry in declared["connections"] if entry["id"] == id_)
    return found


def query(declared: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = connection(declared, "app")["queries"][name]
    return found


def call(declared: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = connection(declared, "cal")["calls"][name]
    return found


def without_writes(declared: dict[str, Any]) -> None:
    del declared["permissions"]
    del connection(declared, "app")["queries"]["close"]
    del connection(declared, "cal")["calls"]["cancel"]
    del connection(declared, "gh")["writes"]


def test_the_same_declaration_has_no_difference() -> None:
    assert changed(lambda declared: None) == ()
    assert changed(lambda declared: declared.update(widgets=[{"new": 1}])) == ()


SQL = "SELECT id, title\nFROM tickets\nWHERE status = ? LIMIT ?"
NEW_QUERY = {"sql": "SELECT 1", "params": []}
NEW_WRITE = {"sql": "DELETE FROM tickets", "params": [], "write": True}
OTHER = {"id": "app", "kind": "mcp", "server": "app", "operations": ["list"]}
LOG = {"id": "log", "kind": "db", "service": "log", "engine": "mysql", "queries": {"all": NEW_QUERY, "none": NEW_WRITE}}
AUTH = "https://auth.example.com/authorize?access_type=offline"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (
            lambda declared: query(declared, "recent").update(sql=f"{SQL} OFFSET 0"),
            [Change("changed", "app recent: its SQL changed", SQL, f"{SQL} OFFSET 0")],
        ),
        (
            lambda declared: query(declared, "recent").update(params=["limit", "status"]),
            [Change("changed", "app recent: its params changed", "status, limit", "limit, status")],
        ),
        (
            lambda declared: connection(declared, "app")["queries"].update(one=NEW_QUERY),
            [Change("widened", "app: new query one")],
        ),
        (
            lambda declared: connection(declared, "app")["queries"].update(wipe=NEW_WRITE),
            [Change("widened", "app: new write query wipe")],
        ),
        (
            lambda declared: connection(declared, "app")["queries"].pop("recent"),
            [Change("narrowed", "app: query recent is gone")],
        ),
        (
            lambda declared: query(declared, "recent").update(write=True),
            [Change("widened", "app recent: the read became a write")],
        ),
        (
            lambda declared: query(declared, "close").update(write=False),
            [Change("narrowed", "app close: the write became a read")],
        ),
        (
            lambda declared: connection(declared, "app").update(service="production"),
            [Change("widened", "app: it now uses another profile", "local-app", "production")],
        ),
        (
            lambda declared: connection(declared, "app").update(engine="mysql"),
            [Change("changed", "app: its engine changed", "sqlite", "mysql")],
        ),
        (
            lambda declared: declared["connections"].append(LOG),
            [Change("widened", "new connection log (db, profile log), 1 read, 1 write")],
        ),
        (
            lambda declared: declared["connections"].pop(),
            [Change("narrowed", "connection tdt (tdt-mcp), 1 read, 0 writes is gone")],
        ),
        (
            lambda declared: declared["connections"].__setitem__(0, OTHER),
            [
                Change("widened", "new connection app (mcp, profile app), 1 read, 0 writes"),
                Change("narrowed", "connection app (db, profile local-app), 1 read, 1 write is gone"),
            ],
        ),
        (
            lambda declared: call(declared, "events").update(path="/all", query={}),
            [
                Change("changed", "cal events: its path changed", "/calendars/{calendar}/events", "/all"),
                Change("changed", "cal events: its query changed", '{"per_page": "{limit}", "state": "open"}', "{}"),
            ],
        ),
        (
            lambda declared: call(declared, "cancel").update(method="DELETE", body=None),
            [
                Change("changed", "cal cancel: its method changed", "PATCH", "DELETE"),
                Change("changed", "cal cancel: its body changed", '{"state": "cancelled"}', "null"),
            ],
        ),
        (
            lambda declared: call(declared, "cancel").pop("body"),
            [Change("changed", "cal cancel: its body changed", '{"state": "cancelled"}', None)],
        ),
        (
            lambda declared: connection(declared, "notes").update(root="workspace", paths=["docs/**", "**"]),
            [
                Change("widened", "notes: its root changed", "project", "workspace"),
                Change("widened", "notes: new path **"),
                Change("narrowed", "notes: path *.md is gone"),
            ],
        ),
        (
            lambda declared: connection(declared, "notes").update(operations=["read", "write"]),
            [
                Change("widened", "notes: new write operation write"),
                Change("narrowed", "notes: operation list is gone"),
            ],
        ),
        (
            lambda declared: connection(declared, "gh").update(operations=["list_issues", "create_issue"], writes=[]),
            [
                Change("widened", "gh create_issue: the write became a read, which is never confirmed"),
                Change("narrowed", "gh: tool delete_issue is gone"),
            ],
        ),
        (
            lambda declared: declared.update(name="All", version="3", description=""),
            [
                Change("changed", "the name changed", "Everything", "All"),
                Change("changed", "the version changed", "2.1.0", "3"),
                Change("changed", "the description changed", "One connection of each kind.", ""),
            ],
        ),
    ],
)
def test_a_difference_is_named(edit: Edit, expected: list[Change]) -> None:
    assert list(changed(edit)) == expected


@pytest.mark.contract("C68")
def test_urls_and_scopes_of_a_sign_in_are_rights() -> None:
    def edit(declared: dict[str, Any]) -> None:
        connection(declared, "cal")["oauth2"] = {
            "authorizeUrl": AUTH,
            "tokenUrl": "https://evil.example.com/token",
            "scopes": ["calendar.write", "profile"],
        }

    token = ("https://auth.example.com/token", "https://evil.example.com/token")
    assert changed(edit) == (
        Change("widened", "cal: its OAuth2 token URL changed", *token),
        Change("widened", "cal: new OAuth2 scope calendar.write"),
        Change("narrowed", "cal: OAuth2 scope calendar.read is gone"),
    )
    assert changed(lambda declared: connection(declared, "cal").pop("oauth2")) == (
        Change("changed", "cal: it no longer signs in with OAuth2"),
        Change("changed", "cal: its OAuth2 sign-in URL changed", AUTH, None),
        Change("changed", "cal: its OAuth2 token URL changed", token[0], None),
        Change("narrowed", "cal: OAuth2 scope calendar.read is gone"),
        Change("narrowed", "cal: OAuth2 scope profile is gone"),
    )
    assert undone(lambda declared: connection(declared, "cal").pop("oauth2")) == (
        Change("widened", "cal: it now signs in with OAuth2"),
        Change("widened", "cal: its OAuth2 sign-in URL changed", None, AUTH),
        Change("widened", "cal: its OAuth2 token URL changed", None, token[0]),
        Change("widened", "cal: new OAuth2 scope calendar.read"),
        Change("widened", "cal: new OAuth2 scope profile"),
    )


def test_permission_to_write_is_a_right() -> None:
    assert undone(without_writes) == (
        Change("widened", "the extension now declares that it may write"),
        Change("widened", "app: new write query close"),
        Change("widened", "cal: new write call cancel"),
        Change("widened", "gh: new write tool create_issue"),
    )
    assert changed(without_writes) == (
        Change("narrowed", "the extension no longer declares that it may write"),
        Change("narrowed", "app: query close is gone"),
        Change("narrowed", "cal: call cancel is gone"),
        Change("narrowed", "gh: tool create_issue is gone"),
    )


def test_files_that_differ_are_listed_by_path() -> None:
    old = Content({"b": b"1", "a": b"1", "same": b"1"})
    new = Content({"b": b"2", "c": b"1", "same": b"1"})
    assert difference.files(old, new) == (
        FileChange("a", "removed"),
        FileChange("b", "changed"),
        FileChange("c", "added"),
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": b"x\ny\n"}, {"a": b"x\r\ny\r\n"}, True),
        ({"a": b"x\r\ny\n"}, {"a": b"x\ny\n"}, True),
        ({"a": b"x\n"}, {"a": b"x\n"}, False),
        ({"a": b"x\n"}, {"a": b"x\ry"}, False),
        ({"a": b"x\n", "b": b"1"}, {"a": b"x\r\n", "b": b"2"}, False),
        ({"a": b"x\n"}, {"a": b"x\r\n", "b": b""}, False),
    ],
)
def test_only_line_ends(old: dict[str, bytes], new: dict[str, bytes], expected: bool) -> None:
    assert difference.only_line_ends(Content(old), Content(new)) is expected
