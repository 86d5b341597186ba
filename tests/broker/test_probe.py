"""A profile is tried with its own secret, which no answer gets back, and in no longer than was said."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from helm_cli.broker import probe, profiles
from helm_cli.broker.stores import Stores
from helm_cli.drivers import http, mcp, sqlite
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database, Profile, Server, Service
from tests import example
from tests.rig import mcp_calls
from tests.rig.http_server import answering, serving

SECRET: Final = "canary-77e1"


@pytest.fixture
def stores(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with closing(Stores(home)) as opened:
        yield opened


def test_a_database_says_what_it_is(stores: Stores, tmp_path: Path) -> None:
    example.database(tmp_path / "app.db")
    assert probe.probe(stores, Database("lite", "sqlite", path=str(tmp_path / "app.db"))) == (
        f"SQLite {sqlite3.sqlite_version}, 1 table"
    )


def test_a_service_is_tried_with_its_token_which_its_answer_does_not_repeat(stores: Stores) -> None:
    with serving(answering(status=f"200 {SECRET}")) as server:
        service = profiles.add(stores, Service("s", server.url), SECRET, force=False)
        assert SECRET not in probe.probe(stores, service)
        server.script = answering(status=f"401 {SECRET}")
        with pytest.raises(HelmError) as caught:
            probe.probe(stores, service)
    assert SECRET not in caught.value.message
    assert [request.header("Authorization") for request in server.received] == [[f"Bearer {SECRET}"]] * 2


def test_a_server_tells_its_tools_and_gets_its_token(stores: Stores) -> None:
    server = Server("m", mcp_calls.command("chatty"), token_env="SERVER_TOKEN", folder=str(stores.home.parent))
    server = profiles.add(stores, server, SECRET, force=False)
    first = probe.tools(stores, server)[0]
    assert (first.name, first.description) == ("echo", "The tool echo with \x1b[2J ***")


@pytest.mark.parametrize(
    ("profile", "usual"),
    [
        (Database("lite", "sqlite", path="/x"), sqlite.LIMITS.seconds),
        (Service("s", "https://api.example.com"), http.LIMITS.seconds),
        (Server("m", ("srv",), start_seconds=7), mcp.LIMITS.seconds + 7),
    ],
)
def test_a_try_takes_no_longer_than_its_limits_and_no_longer_than_was_said(profile: Profile, usual: float) -> None:
    assert probe.longest(profile, None) == probe.longest(profile, 10_000.0) == usual
    # A start of an MCP server is counted in whole seconds.
    short = 0.25 + (1 if isinstance(profile, Server) else 0)
    assert probe.longest(profile, 0.25) == short


def test_what_does_not_answer_in_that_time_is_given_up() -> None:
    with serving(lambda peer, _: peer.hold()) as server, pytest.raises(HelmError) as caught:
        probe.reached(Service("s", server.url), SECRET, 0.2)
    assert (caught.value.code, "0.2 s" in caught.value.message) == ("timeout", True)
