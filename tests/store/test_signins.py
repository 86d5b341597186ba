"""What state.db says of sign-ins: all but the tokens."""

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from helm_cli.store import database, signins
from helm_cli.store.schema import STEPS
from helm_cli.store.signins import Signin
from tests.rig.failing import failing

CAL: Final = Signin(
    service="cal",
    client_id="id",
    authorize_url="https://auth.example.com/authorize?access_type=offline",
    token_url="https://auth.example.com/token",
    scopes=("a", "b"),
    asked=("a", "b", "c,d"),
    issuer="https://auth.example.com",
    place="keychain",
    signed_in_at=1_800_000_000.5,
    expires=1_800_003_600.25,
    life=3600.0,
    refreshable=True,
    ids=("one", "two"),
)
# A service that says no more than it must.
TERSE: Final = CAL._replace(
    service="adr", scopes=(), asked=(), issuer=None, place="file", expires=None, life=None, refreshable=False
)


def test_what_is_saved_is_found(db: sqlite3.Connection) -> None:
    assert signins.find(db, "cal") is None
    assert signins.listed(db) == []
    for signin in (CAL, TERSE):
        signins.save(db, signin)
        assert signins.find(db, signin.service) == signin
    assert signins.listed(db) == [TERSE, CAL]


def test_a_new_one_takes_the_place_of_the_former(db: sqlite3.Connection) -> None:
    signins.save(db, CAL)
    signins.save(db, TERSE._replace(service="cal"))
    assert signins.listed(db) == [TERSE._replace(service="cal")]


def test_one_that_ended_says_why_and_the_others_go_on(db: sqlite3.Connection) -> None:
    for signin in (CAL, TERSE):
        signins.save(db, signin)
    signins.end(db, "cal", "the service ended it")
    assert signins.listed(db) == [TERSE, CAL._replace(ended="the service ended it")]
    signins.save(db, CAL)
    assert signins.find(db, "cal") == CAL


def test_one_that_is_forgotten_is_gone(db: sqlite3.Connection) -> None:
    for signin in (CAL, TERSE):
        signins.save(db, signin)
    assert signins.forget(db, "cal")
    assert not signins.forget(db, "cal")
    assert signins.listed(db) == [TERSE]


@pytest.mark.contract("C60")
def test_there_is_no_place_for_a_token(db: sqlite3.Connection) -> None:
    columns = [column for _, column, *_ in db.execute("PRAGMA table_info(signins)")]
    assert columns == list(Signin._fields)
    assert not any("token" in column and column != "token_url" for column in columns)
    assert not any("secret" in column for column in columns)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("scopes", b"a b"),
        ("asked", b""),
        ("token_url", b"https://auth.example.com"),
        ("place", "nowhere"),
        ("issuer", b"x"),
        ("signed_in_at", "z"),
        ("signed_in_at", 1e300),
        ("expires", "soon"),
        ("life", b"1"),
        ("refreshable", "no"),
        ("ended", b"\xff"),
        ("ids", b"one"),
    ],
)
def test_a_row_that_helm_cannot_have_written_is_told_and_can_go(
    db: sqlite3.Connection, column: str, value: object
) -> None:
    signins.save(db, CAL)
    db.execute(f"UPDATE signins SET {column} = ?", (value,))
    told = "state.db holds a sign-in to cal that cannot be read; take it away with: helm oauth disconnect cal"
    with failing("state", told):
        signins.find(db, "cal")
    assert signins.forget(db, "cal")
    assert signins.find(db, "cal") is None


def test_a_sign_in_of_before_there_were_ids_has_none(home: Path) -> None:
    """And so its tokens, which are bound to none, serve no call."""
    home.mkdir(mode=0o700)
    with closing(sqlite3.connect(home / "state.db")) as old, old:
        for statement in itertools.chain(*STEPS[:3]):
            old.execute(statement)
        columns = Signin._fields[:-1]
        values = ["a b" if isinstance(value, tuple) else value for value in CAL[:-1]]
        old.execute(f"INSERT INTO signins ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", values)
        old.execute("PRAGMA user_version = 3")
    with closing(database.open_state(home)) as db:
        assert signins.find(db, "cal") == CAL._replace(asked=("a", "b"), ids=())


def test_a_state_that_is_damaged_is_told(db: sqlite3.Connection, home: Path) -> None:
    db.execute("DROP TABLE signins")
    told = (
        f"{home}/state.db is damaged (no such table: signins); nothing was changed in it: put back a copy of it, or"
        " move it away and review your extensions again"
    )
    with failing("state", told):
        signins.find(db, "cal")
    with failing("state", told):
        signins.save(db, CAL)
