"""Which folders are workspaces, and which of TDT's profiles each uses."""

import sqlite3

from helm_cli.store import workspaces
from tests.store.samples import NOW


def test_a_workspace_is_registered_by_its_very_path_and_once(db: sqlite3.Connection) -> None:
    assert (workspaces.registered(db), workspaces.is_registered(db, "/b")) == ([], False)
    for path in ("/b", "/a", "/b"):
        workspaces.register(db, path, NOW)
    assert workspaces.registered(db) == ["/a", "/b"]
    assert [workspaces.is_registered(db, path) for path in ("/a", "/b", "/B", "/a/", "/")] == [True, True] + [False] * 3


def test_tdt_is_read_only_until_a_person_chose(db: sqlite3.Connection) -> None:
    assert workspaces.tdt_profile(db, "/a") == "read-only"
    workspaces.register(db, "/a", NOW)
    assert workspaces.tdt_profile(db, "/a") == "read-only"
    workspaces.set_tdt_profile(db, "/a", "everyday", NOW)
    workspaces.set_tdt_profile(db, "/b", "everyday", NOW)
    assert [workspaces.tdt_profile(db, path) for path in ("/a", "/b", "/c")] == ["everyday", "everyday", "read-only"]
    assert workspaces.registered(db) == ["/a", "/b"]
    workspaces.register(db, "/a", NOW)
    assert workspaces.tdt_profile(db, "/a") == "everyday"
    workspaces.set_tdt_profile(db, "/a", "read-only", NOW)
    assert workspaces.tdt_profile(db, "/a") == "read-only"


def test_a_profile_that_helm_does_not_know_is_the_one_that_may_least(db: sqlite3.Connection) -> None:
    workspaces.set_tdt_profile(db, "/a", "everyday", NOW)
    db.execute("UPDATE workspaces SET tdt_profile = 'everything'")
    assert workspaces.tdt_profile(db, "/a") == "read-only"
