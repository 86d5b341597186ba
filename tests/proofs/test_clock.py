"""A clock that jumps, by seconds or by years, either way: nothing lives longer for it, and nothing is shut for ever.

Each command runs in the time that the test gives it; to its children, and to the agent, it is the time that it is.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests import example
from tests.program import Helm
from tests.proofs import acts
from tests.rig import agents, http_server, plugins, token_endpoint
from tests.rig.calendar import oauth2
from tests.rig.forks import Forks, How, Ran, forking

RECENT: Final = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1")
MINUTE, HOUR, DAY, YEAR = 60.0, 3_600.0, 86_400.0, 365 * 86_400.0
# What is allowed for clocks that are set right a little.
UNREST: Final = 5.0
CLIENT: Final = ("--oauth2", "--client-id", "me", "--client-secret-stdin")


class World(NamedTuple):
    """helm, and what time it takes it for."""

    forks: Forks

    def __call__(self, later: float, *words: str, stdin: str = "") -> Ran:
        return self.forks(*words, stdin=stdin, how=How(later=later))

    def act(self, later: float, act: Any, *words: str) -> Ran:
        return self.forks(*words, how=How(later=later, act=f"{act.__module__}:{act.__name__}"))

    def file(self) -> Path:
        return example.ready(lambda *words, cwd: self.forks.helm(*words), Path.cwd())


@pytest.fixture(scope="module")
def running() -> Iterator[Forks]:
    with forking() as forks:
        yield forks


@pytest.fixture
def world(running: Forks, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    return World(running)


# --- tokens of writes


@pytest.mark.contract("C109")
def test_a_yes_counts_for_five_minutes_of_the_clock_and_for_none_before_it(world: World) -> None:
    file = world.file()
    jumps = {
        0.0: True,
        290.0: True,
        300.0: False,
        HOUR: False,
        50 * YEAR: False,
        -UNREST / 2: True,
        -MINUTE: False,
        -HOUR: False,
        -20 * YEAR: False,
    }
    for ticket, (jump, sends) in enumerate(jumps.items()):
        # Every second one is open.
        number = 2 * ticket + 1
        write = ("app", "close", json.dumps({"id": number}))
        token, entry = world.act(0, acts.asked, *write).json
        done = world.act(jump, acts.performed, *write, token, str(entry))
        assert (done.status, example.status(file, number)) == ((0, "closed") if sends else (7, "open")), jump
        # What was once over stays over, and what was sent is not sent again, when the clock is right again.
        again = world.act(0, acts.performed, *write, token, str(entry))
        assert again.json["error"]["code"] == "confirmation_required"
        assert example.status(file, number) == ("closed" if sends else "open")


def test_what_waits_is_told_of_as_long_as_it_can_be_confirmed(world: World) -> None:
    world.file()

    def waiting(later: float) -> int:
        return len(world(later, "confirm", "--list", "-o", "json").json)

    def ask(later: float) -> None:
        assert world(later, "call", "app", "close", "--arg", "id=1").status == 7

    ask(0)
    assert [waiting(later) for later in (0, 200, 0, 400, 0)] == [1, 1, 1, 0, 0]
    ask(0)
    assert [waiting(later) for later in (0, -HOUR, 0)] == [1, 0, 0]
    # Nothing of the time before stands in the way of a new one, whichever way the clock went.
    for later in (YEAR, -YEAR, 0):
        ask(later)
        assert waiting(later) == 1
    # Twenty may wait; those that ended by a jump do not count among them.
    for _ in range(20):
        ask(DAY)
    assert world(DAY, "call", "app", "close", "--arg", "id=1").json["error"]["code"] == "refused"
    ask(-DAY)


# --- the rate


def limited(ran: Ran) -> int:
    """After how many seconds there is room again; 0 where the call was made."""
    if ran.status == 0:
        return 0
    assert ran.json["error"]["code"] == "rate_limited", ran
    return int(ran.json["error"]["retry_after"])


@pytest.mark.contract("C119")
def test_no_jump_shuts_an_extension_out_or_gives_it_more_than_a_minute_s(world: World, home: Path) -> None:
    world.file()
    (home / "config.toml").write_text("[limits]\ncalls_per_minute = 3\n")

    def calls(later: float) -> list[bool]:
        """Which of five calls at this time are made."""
        waits = [limited(world(later, *RECENT)) for _ in range(5)]
        assert max(waits) <= MINUTE + UNREST
        return [wait == 0 for wait in waits]

    a_minute_s = [True, True, True, False, False]
    assert calls(0) == a_minute_s
    for later in (-HOUR, HOUR, -10 * YEAR, 10 * YEAR):
        assert calls(later) == a_minute_s, later
        assert calls(later) == [False] * 5, later
    # When the clock is right again, what was called before the jumps still counts, and nothing else does.
    assert calls(0) == [False] * 5
    assert calls(2 * MINUTE) == a_minute_s
    assert calls(2 * MINUTE - UNREST / 2) == [False] * 5


# --- the history


def test_the_history_tells_what_was_called_last_first_whatever_the_clock_said(world: World) -> None:
    world.file()
    order = (0.0, YEAR, -YEAR, HOUR, 0.0)
    for number, later in enumerate(order, 1):
        assert world(later, "call", "app", "recent", "--arg", "status=open", "--arg", f"limit={number}").status == 0
    told = world(0, "history", "-o", "json").json
    assert len(told) == len(order)
    times = [entry["at"] for entry in reversed(told)]
    assert times != sorted(times)
    assert [entry["outcome"] for entry in told] == ["ok"] * len(order)
    assert len(world(0, "history", "--since", "2h", "-o", "json").json) == 4
    assert len(world(YEAR, "history", "--since", "2h", "-o", "json").json) == 1


# --- sign-ins


class Service(NamedTuple):
    """A signed-in service: its API, its token endpoint, and what came to the API."""

    tokens: token_endpoint.Endpoint
    api: http_server.Server

    def sign_in(self, world: World) -> None:
        urls = ("https://id.example/auth", self.tokens.url("good"))
        assert world.act(0, acts.signed_in, "cal", *urls, "old-access", "old-refresh", "3600").status == 0

    def sent(self) -> list[str]:
        return [request.header("Authorization")[0] for request in self.api.received]


@pytest.fixture
def service(world: World) -> Iterator[Service]:
    """Signed in for an hour, by an extension that is approved."""
    with token_endpoint.endpoint() as tokens, http_server.serving(http_server.answering()) as api:
        assert world(0, "service", "add", "cal", "--base-url", api.url, *CLIENT, stdin="client-secret").status == 0
        manifest = {
            "id": "cal",
            "connections": [
                {
                    "id": "cal",
                    "kind": "http",
                    "service": "cal",
                    "calls": {"events": {"method": "GET", "path": "/events"}},
                    "oauth2": oauth2("a", "b", "offline_access", token=tokens.url("good")),
                }
            ],
        }
        Path("cal").mkdir()
        Path("cal", "manifest.json").write_text(json.dumps(manifest))
        digest = world(0, "plugin", "review", "cal", "-o", "json").json["digest"]
        assert world(0, "plugin", "review", "cal", "--approve", digest).status == 0
        found = Service(tokens, api)
        found.sign_in(world)
        yield found


@pytest.mark.contract("C63")
def test_a_token_is_used_within_its_life_and_else_renewed(world: World, service: Service) -> None:
    new = token_endpoint.ACCESS
    jumps = {
        0.0: "old-access",
        HOUR - 2 * MINUTE: "old-access",
        HOUR - MINUTE / 2: new,
        2 * HOUR: new,
        30 * YEAR: new,
        -MINUTE / 2: "old-access",
        -HOUR: new,
        -20 * YEAR: new,
    }
    for jump, token in jumps.items():
        service.sign_in(world)
        service.api.received.clear()
        called = world(jump, "call", "cal", "events")
        assert (called.status, service.sent()) == (0, [f"Bearer {token}"]), jump
        # Whatever it was: when the clock is right again it goes on.
        assert world(0, "call", "cal", "events").status == 0


def test_where_it_cannot_be_renewed_it_is_not_used_beyond_its_life(world: World, service: Service) -> None:
    service.tokens.answer("good", lambda: token_endpoint.ANSWERS["broken"])
    for jump in (2 * HOUR, 30 * YEAR, -2 * HOUR):
        assert world(jump, "call", "cal", "events").json["error"]["code"] == "unavailable"
    assert service.sent() == []
    assert world(0, "call", "cal", "events").status == 0


# --- plugins: schedules and budgets


def approve(world: World, **sections: Any) -> None:
    plugins.write(Path("plugin"), **sections)
    digest = world(0, "plugin", "review", "plugin", "-o", "json").json["digest"]
    assert world(0, "plugin", "review", "plugin", "--approve", digest).status == 0


def test_a_schedule_is_due_once_after_a_jump_however_long(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    crons = ("* * * * *", "30 2 * * *", "0 0 29 2 *")
    approve(world, triggers=[{"on": "schedule", "cron": cron} for cron in crons])

    def due(later: float) -> list[str]:
        return [row["cron"] for row in world(later, "plugin", "due", "-o", "json").json]

    assert due(0) == []
    for jump in (YEAR, 10 * YEAR):
        found = due(jump)
        assert found[:2] == list(crons[:2])
        assert due(jump) == []
    # Back again it waits for its next time, as one that was seen for the first time does.
    assert due(0) == []
    assert due(2 * MINUTE) == [crons[0]]
    assert due(2 * DAY) == list(crons[:2])


def test_a_budget_is_of_the_month_that_the_clock_says(world: World) -> None:
    approve(world)
    usage = ("plugin", "usage", plugins.ID)

    def used(later: float) -> int:
        return int(world(later, *usage, "-o", "json").json["used"])

    assert world(0, *usage, "--add", "7").status == 0
    assert (used(0), used(40 * DAY), used(-40 * DAY)) == (7, 0, 0)
    assert world(40 * DAY, *usage, "--add", "5").status == 0
    assert (used(0), used(40 * DAY), used(10 * YEAR)) == (7, 5, 0)


# --- the agent


def test_an_agent_serves_callers_whose_clock_is_another(world: World, helm: Helm, home: Path) -> None:
    world.file()
    with agents.agent(helm, home) as agent:
        for number, later in enumerate((0.0, YEAR, -YEAR), 1):
            assert world(later, *RECENT).status == 0
            assert agent.calls() == number
        assert agent.status()["idle_seconds"] < MINUTE
