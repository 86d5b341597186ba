"""Where the calls of named tools go: for one content, until another was shown, changed or forgotten."""

import sqlite3
from typing import Final

from helm_cli.model.plugin import Bound
from helm_cli.store import bindings
from tests.store import samples

ONE: Final = Bound("send", "blog", "POST", "/posts", '{"t": "{title}"}')
TWO: Final = Bound("find", "blog", "GET", "/posts?q={q}", None)
HERE: Final = ("/w", "a/b")


def bind(db: sqlite3.Connection, to: Bound, digest: str = "one", where: tuple[str, str] = HERE) -> None:
    bindings.bind(db, *where, digest, to, samples.NOW)


def test_a_binding_holds_for_one_content(db: sqlite3.Connection) -> None:
    bind(db, ONE)
    bind(db, TWO, "two")
    bind(db, TWO, where=("/v", "a/b"))
    assert bindings.listed(db, *HERE) == (TWO, ONE)
    assert [bindings.listed(db, *HERE, digest) for digest in ("one", "two", "three")] == [(ONE,), (TWO,), ()]
    bind(db, ONE._replace(path="/drafts"), "two")
    assert bindings.listed(db, *HERE, "one") == ()
    assert bindings.listed(db, *HERE, "two") == (TWO, ONE._replace(path="/drafts"))


def test_what_was_shown_holds_for_the_next_content_and_what_was_changed_since_does_not(db: sqlite3.Connection) -> None:
    bind(db, ONE)
    bind(db, TWO)
    bindings.hold(db, *HERE, "two", [ONE._replace(body=None), TWO])
    assert (bindings.listed(db, *HERE, "one"), bindings.listed(db, *HERE, "two")) == ((ONE,), (TWO,))
    bindings.hold(db, *HERE, "two", [ONE])
    assert bindings.listed(db, *HERE, "two") == (TWO, ONE)


def test_a_binding_is_taken_away_and_all_with_the_extension(db: sqlite3.Connection) -> None:
    for to in (ONE, TWO):
        bind(db, to)
        bind(db, to, where=("/w", "a/c"))
    assert [bindings.remove(db, *HERE, "send"), bindings.remove(db, *HERE, "send")] == [True, False]
    assert bindings.listed(db, *HERE) == (TWO,)
    bindings.forget(db, *HERE)
    assert bindings.listed(db, *HERE) == ()
    assert bindings.listed(db, "/w", "a/c") == (TWO, ONE)
