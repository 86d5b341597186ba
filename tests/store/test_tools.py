"""The definitions that were shown with an approval: kept as they were, replaced by the next, gone with it."""

import sqlite3
from typing import Any, Final

from helm_cli.store import approvals, tools
from tests.store.samples import approval, content

LIST: Final[dict[str, Any]] = {
    "name": "list",
    "description": "Lists.",
    "inputSchema": {"type": "object"},
    "x-\u00e9": [1, None],
}


def test_what_was_shown_is_kept_as_it_was(db: sqlite3.Connection) -> None:
    assert tools.pinned(db, "/w", "e") == {}
    tools.pin(db, "/w", "e", {"gh": {"list": LIST, "gone": None}, "jira": {}}, ["gh", "jira"])
    assert tools.pinned(db, "/w", "e") == {"gh": {"gone": None, "list": LIST}}
    assert tools.pinned(db, "/w", "other") == tools.pinned(db, "/v", "e") == {}


def test_what_utf8_cannot_carry_is_kept_in_its_repaired_form(db: sqlite3.Connection) -> None:
    tools.pin(db, "/w", "e", {"gh": {"list": {"name": "a\ud800", "n": float("inf")}}}, ["gh"])
    assert tools.pinned(db, "/w", "e") == {"gh": {"list": {"name": "a\ufffd", "n": "Infinity"}}}


def test_the_next_replaces_what_was_seen_again_and_keeps_what_was_not(db: sqlite3.Connection) -> None:
    first: dict[str, Any] = {
        "gh": {"list": {"name": "list"}, "old": None},
        "jira": {"find": {"name": "find"}},
        "x": {"y": None},
    }
    tools.pin(db, "/w", "e", first, ["gh", "jira", "x"])
    tools.pin(db, "/w", "e", {"gh": {"list": {"name": "list", "title": "L"}}}, ["gh", "jira"])
    assert tools.pinned(db, "/w", "e") == {
        "gh": {"list": {"name": "list", "title": "L"}},
        "jira": {"find": {"name": "find"}},
    }


def test_a_connection_that_is_seen_without_tools_has_none(db: sqlite3.Connection) -> None:
    tools.pin(db, "/w", "e", {"gh": {"list": None}}, ["gh"])
    tools.pin(db, "/w", "e", {"gh": {}}, ["gh"])
    assert tools.pinned(db, "/w", "e") == {}


def test_it_goes_with_the_approval_and_no_sooner(db: sqlite3.Connection) -> None:
    for workspace in ("/w", "/v"):
        approvals.approve(db, approval(content(1), workspace), content(1), ())
        tools.pin(db, workspace, "e", {"gh": {"list": None}}, ["gh"])
    approvals.approve(db, approval(content(2)), content(2), ())
    assert tools.pinned(db, "/w", "e") == {"gh": {"list": None}}
    approvals.forget(db, "/w", "e")
    assert tools.pinned(db, "/w", "e") == {}
    assert tools.pinned(db, "/v", "e") == {"gh": {"list": None}}


def test_the_tools_that_a_server_had_are_named_by_connection(db: sqlite3.Connection) -> None:
    tools.pin(db, "/w", "e", {"jira": {"find": LIST}, "gh": {"b": LIST, "a": {}, "gone": None}, "x": {"y": None}}, [])
    tools.pin(db, "/w", "other", {"gh": {"c": LIST}}, [])
    assert tools.names(db, "/w", "e") == {"gh": ["a", "b"], "jira": ["find"]}
    assert tools.names(db, "/v", "e") == {}
