"""Workspaces, the person, and the targets of secrets: small things that are remembered."""

import sqlite3

from helm_cli.store import person, targets, workspaces


def test_workspaces_are_registered_once(db: sqlite3.Connection) -> None:
    assert workspaces.registered(db) == []
    for path in ("/w/b", "/w/a", "/w/b"):
        workspaces.register(db, path, 1.0)
    assert workspaces.registered(db) == ["/w/a", "/w/b"]
    assert workspaces.is_registered(db, "/w/a")
    assert not workspaces.is_registered(db, "/w")


def test_a_person_is_seen_for_ever(db: sqlite3.Connection) -> None:
    assert not person.seen(db)
    person.mark(db)
    person.mark(db)
    assert person.seen(db)


def test_a_target_is_that_of_the_secret_entered_last(db: sqlite3.Connection) -> None:
    account = "db/app/password"
    assert targets.target(db, account) is None
    targets.remember(db, account, "one")
    targets.remember(db, account, "two")
    assert targets.target(db, account) == "two"
    targets.forget(db, account)
    targets.forget(db, account)
    assert targets.target(db, account) is None
