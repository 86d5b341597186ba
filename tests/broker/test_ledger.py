"""Each call has one line in the history, that tells how it ended, whatever it was that ended it."""

import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from helm_cli.broker import call, ledger
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.envelope import Envelope, failure, success
from helm_cli.model.errors import HelmError
from helm_cli.store import history

REQUEST: Final = call.Request(Workspace("/srv", "named"), "app", "recent", {})


@pytest.fixture
def stores(home: Path) -> Iterator[Stores]:
    with closing(Stores(home)) as opened:
        yield opened


def told(stores: Stores) -> list[tuple[str, str]]:
    return [(entry.extension, entry.outcome) for entry in history.entries(stores.db)]


@pytest.mark.parametrize(
    ("envelope", "outcome"),
    [
        (None, "ok"),
        (success([]), "ok"),
        (failure(HelmError("timeout", "it took too long")), "timeout"),
        ({"ok": False, "error": {"code": "x" * 100}}, "x" * 64),
        ({"ok": False, "error": {"message": "no code"}}, "tool_error"),
        ({"ok": False, "error": "a server's own word"}, "tool_error"),
    ],
)
def test_an_envelope_tells_how_a_call_ended(stores: Stores, envelope: Envelope | None, outcome: str) -> None:
    entry, waited = ledger.begin(stores, REQUEST, "tickets")
    with ledger.ended(stores, REQUEST, "tickets", entry) as ending:
        assert told(stores) == [("tickets", "running")]
        ending.envelope = envelope
    assert (told(stores), waited) == ([("tickets", outcome)], False)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (HelmError("timeout", "it took too long"), "timeout"),
        (ValueError("a fault of helm's own"), "internal"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
@pytest.mark.parametrize("begun", [True, False])
def test_what_a_call_raises_tells_it_too_and_goes_on(
    stores: Stores, error: BaseException, outcome: str, begun: bool
) -> None:
    entry = ledger.begin(stores, REQUEST, "tickets")[0] if begun else None
    with pytest.raises(type(error)) as caught, ledger.ended(stores, REQUEST, "tickets", entry):
        raise error
    assert caught.value is error
    assert told(stores) == [("tickets", outcome)]


@pytest.mark.parametrize(("error", "outcome"), [(HelmError("refused", "no"), "refused"), (ValueError(), "internal")])
def test_what_was_counted_and_not_sent_says_why(stores: Stores, error: Exception, outcome: str) -> None:
    entry, _ = ledger.begin(stores, REQUEST, "tickets")
    with pytest.raises(type(error)), ledger.failures(stores, entry):
        raise error
    assert told(stores) == [("tickets", outcome)]


def test_no_call_begins_in_a_series_that_is_over(stores: Stores) -> None:
    with ledger.in_a_row(stores):
        other = stores.again()
        entry, _ = ledger.begin(stores, REQUEST, "tickets")
        with pytest.raises(HelmError), ledger.failures(stores, entry):
            raise HelmError("refused", "no")
    with closing(other), pytest.raises(CancelledError):
        ledger.begin(other, REQUEST, "tickets")
    assert told(stores) == [("tickets", "refused")]


def test_what_runs_when_a_series_is_over_is_told_as_interrupted_with_how_long_it_took(stores: Stores) -> None:
    with ledger.in_a_row(stores):
        ledger.begin(stores, REQUEST, "tickets")
        time.sleep(0.002)
    (entry,) = history.entries(stores.db)
    assert entry.outcome == "interrupted"
    assert 1 <= entry.ms < 20_000
