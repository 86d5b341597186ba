"""What is given to whoever a call goes to is in no message about it, and a profile is tried without being shown."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.broker import authorization, probe, profiles
from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database, Server, Service
from tests.rig.failing import failing
from tests.rig.http_server import answering, serving

SECRET: Final = "canary-9d1e"
SAID: Final = f'the answer names "{SECRET}" and {SECRET}x'


@pytest.fixture
def stores(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with closing(Stores(home)) as opened:
        yield opened


@pytest.mark.contract("C18")
@pytest.mark.parametrize("target", [Service("x", "https://api.example.com"), Server("x", ("srv",), token_env="T")])
def test_no_message_repeats_what_was_given(stores: Stores, target: Any) -> None:
    recorded = profiles.add(stores, target, SECRET, force=False)
    with (
        failing("not_json", 'the answer names "***" and ***x', SECRET),
        authorization.authorized(stores, recorded) as it,
    ):
        assert it == SECRET
        raise HelmError("not_json", SAID)


def test_what_goes_with_a_message_stays(stores: Stores) -> None:
    with pytest.raises(HelmError) as caught, authorization.authorized(stores, Service("x", "https://a.example")) as it:
        assert it is None
        raise HelmError("http_error", SAID, {"retry_after": 1}, {"status": 401, "data": SECRET})
    assert (caught.value.message, caught.value.members) == (SAID, {"retry_after": 1})
    assert caught.value.outer == {"status": 401, "data": SECRET}


def test_a_password_cannot_be_guessed_by_what_is_hidden(stores: Stores) -> None:
    shop = Database("x", "postgres", host="h", port=1, database="d", user="u")
    recorded = profiles.add(stores, shop, "hunter2", force=False)
    with failing("query_failed", 'no number: "hunter2"'), authorization.authorized(stores, recorded):
        raise HelmError("query_failed", 'no number: "hunter2"')


def test_a_probe_sends_the_secret_and_gives_only_the_answer(stores: Stores) -> None:
    with serving(answering(status=f"299 {SECRET}")) as server:
        recorded = profiles.add(stores, Service("x", server.url), SECRET, force=False)
        assert probe.probe(stores, recorded) == "the service answered 299"
    assert server.received[0].header("Authorization") == [f"Bearer {SECRET}"]
