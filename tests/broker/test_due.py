"""Which schedules came due: by the clock of this machine, each told once, and none of a plugin that changed."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from helm_cli.broker import due
from helm_cli.broker.due import Due
from helm_cli.store import approvals
from tests.broker.office import Office, office
from tests.rig.team import AGENT, ID

MONDAY = 1_782_741_600.0  # 2026-06-29 14:00 UTC
WEEKLY, OFTEN = "0 14 * * MON", "*/15 9-17 * * 1-5"
TRIGGERS = [{"on": "schedule", "cron": cron} for cron in (WEEKLY, OFTEN)]
ALL = [Due(ID, WEEKLY), Due(ID, OFTEN)]


@pytest.fixture
def us(home: Path) -> Iterator[Office]:
    with office(home) as opened:
        opened.now = MONDAY - 60
        opened.approve(triggers=[*TRIGGERS, {"on": "github.release"}])
        yield opened


def take(us: Office, now: float) -> list[Due]:
    us.now = now
    return due.take(us.stores, us.here)


@pytest.mark.contract("P27")
def test_a_schedule_is_due_once_after_it_was_first_seen(us: Office) -> None:
    told = [take(us, MONDAY + after) for after in (-60, -1, 0, 0, 900, 21 * 86_400, 21 * 86_400)]
    assert told == [[], [], ALL, [], [Due(ID, OFTEN)], ALL, []]
    assert us.told == []


def test_a_schedule_goes_by_the_clock_of_the_machine(us: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    us.approve(triggers=[{"on": "schedule", "cron": WEEKLY}])
    noon = MONDAY + 4 * 3600
    assert [take(us, at) for at in (MONDAY - 60, MONDAY, noon - 1, noon)] == [[], [], [], [Due(ID, WEEKLY)]]


def test_the_schedules_of_a_plugin_that_changed_count_anew(us: Office) -> None:
    take(us, MONDAY - 60)
    (us.plugin / "agents" / "writer.md").write_text(AGENT + "More.\n")
    assert take(us, MONDAY) == []
    assert us.told == [f"{ID} changed since it was approved, so its schedules count anew once it is reviewed"]
    us.approve(triggers=TRIGGERS, version="1.3.0")
    assert [take(us, MONDAY), take(us, MONDAY + 7 * 86_400)] == [[], ALL]


def test_without_schedules_or_an_enabled_plugin_nothing_is_due(us: Office) -> None:
    take(us, MONDAY - 60)
    approvals.set_enabled(us.stores.db, us.here.path, ID, False)
    assert take(us, MONDAY) == []
    us.approve(triggers=[{"on": "manual"}])
    (us.plugin / "agents" / "writer.md").write_text(AGENT + "More.\n")
    assert (take(us, MONDAY), us.told) == ([], [])
