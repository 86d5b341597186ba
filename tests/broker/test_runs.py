"""Runs of a team's plugin: what starts one, what belongs to it, what its host is told, and what it may use."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import approve, briefing, budget, ledger, runs, settings
from helm_cli.broker.budget import Budget
from helm_cli.broker.runs import Form
from helm_cli.model.plugin import Instructions
from helm_cli.store import drafts
from helm_cli.store import runs as records
from helm_cli.store.runs import Run
from tests.broker.office import NOW, Office, office
from tests.rig.failing import failing
from tests.rig.team import AGENT, ID

WEEKLY, OFTEN = "0 14 * * MON", "*/15 9-17 * * 1-5"
FORM: Form = {"brief": "text", "tone": ("plain", "playful")}
TRIGGERS: list[dict[str, Any]] = [
    {"on": "manual", "form": {"brief": "text", "tone": ["plain", "playful"]}},
    {"on": "schedule", "cron": WEEKLY},
    {"on": "schedule", "cron": OFTEN},
    {"on": "github.release"},
]
SETTINGS = [
    {"key": "audience", "type": "string"},
    {"key": "codename", "type": "string", "sensitive": True},
    {"key": "api_key", "type": "secret"},
    {"key": "unset", "type": "string"},
]
SPENT = (
    f"{ID} has used 1,004 of its 1,000 tokens of 2027-01 (UTC); wait for the next month, or raise the limit with: helm"
    f" plugin usage {ID} --limit N"
)


@pytest.fixture
def us(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with office(home) as opened:
        opened.approve(triggers=TRIGGERS, settings=SETTINGS, budget={"monthly_tokens": 1000})
        yield opened


def use(us: Office, tokens: int, run: str | None = None) -> Budget:
    return budget.add(us.stores, us.team(), tokens, run)


# --- what starts a run


@pytest.mark.contract("P25", "P27", "P28")
def test_a_run_is_of_one_content_and_one_cause(us: Office) -> None:
    answers: dict[str, Any] = {"brief": "Announce it", "tone": "plain"}
    release: Any = {"tag": "v1.2.0", "prerelease": False}
    team = us.team()
    for running, trigger, form in (
        (runs.manual(us.stores, team, FORM, answers), "manual", answers),
        (runs.scheduled(us.stores, team, WEEKLY), f"schedule {WEEKLY}", {}),
        (runs.event(us.stores, team, "github.release", release), "github.release", release),
    ):
        run = running.run
        assert drafts.ID.fullmatch(run.id)
        digest = team.approval.digest
        assert run == Run(run.id, us.here.path, ID, digest, trigger, form, NOW, ledger.caller(), 0)
        assert (running.team, running.budget) == (team, budget.find(us.stores, team))
        assert records.find(us.stores.db, run.id) == run
        assert runs.find(us.stores, run.id) == running


@pytest.mark.contract("P25")
def test_the_forms_that_a_person_may_fill_in(us: Office) -> None:
    assert runs.forms(us.team().plugin) == [FORM]
    two = [{"on": "manual"}, {"on": "manual", "form": {"topic": ["a", "b"]}}]
    assert runs.forms(us.approve(triggers=two).plugin) == [{"brief": "text"}, {"topic": ("a", "b")}]
    # A person may write any plugin a brief.
    assert runs.forms(us.approve(triggers=[{"on": "github.release"}]).plugin) == [{"brief": "text"}]


@pytest.mark.contract("P25")
@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("brief", "", None),
        ("brief", "é" * 32_768, None),
        ("brief", "é" * 32_768 + "x", "brief is over 64 KiB; give less"),
        ("brief", "\ud800", None),
        ("tone", "playful", None),
        ("tone", "loud" + "!" * 60, f"tone is one of plain, playful, not loud{'!' * 56}"),
        ("breif", "x", "the form has no field breif; did you mean brief?"),
        ("zzz", "x", "the form has no field zzz; it has brief, tone"),
    ],
)
def test_what_answers_a_field(name: str, value: str, told: str | None) -> None:
    assert runs.form_fault(FORM, name, value) == told


@pytest.mark.contract("P25", "P27", "P28")
def test_what_starts_no_run(us: Office) -> None:
    team = us.team()
    with failing("usage", "tone is one of plain, playful, not loud"):
        runs.manual(us.stores, team, FORM, {"brief": "x", "tone": "loud"})
    with failing("usage", "the form needs tone too; give it with --arg tone=…"):
        runs.manual(us.stores, team, FORM, {"brief": "x"})
    with failing("usage", f"{ID} has no schedule 0 15 * * MON; it has {WEEKLY}; {OFTEN}"):
        runs.scheduled(us.stores, team, "0 15 * * MON")
    with failing("usage", f"there is no event {'x' * 60}; take github.release"):
        runs.event(us.stores, team, "x" * 99, {})
    plain = us.approve(triggers=[{"on": "manual"}])
    with failing("usage", f"{ID} has no schedule {WEEKLY}; it has none"):
        runs.scheduled(us.stores, plain, WEEKLY)
    with failing("usage", f"{ID} has no trigger on: github.release, so a release starts no run of it"):
        runs.event(us.stores, plain, "github.release", {})
    assert us.stores.db.execute("SELECT COUNT(*) FROM runs").fetchone() == (0,)


def test_a_run_belongs_to_the_content_that_it_started_with(us: Office) -> None:
    run = runs.scheduled(us.stores, us.team(), WEEKLY).run
    us.approve(triggers=TRIGGERS, version="1.3.0")
    anew = f"{ID} was approved anew since the run {run.id} started; start another with helm plugin run"
    with failing("refused", anew):
        runs.find(us.stores, run.id)
    (us.plugin / "agents" / "writer.md").write_text(AGENT + "More.\n")
    step = f"run helm plugin review {us.plugin}"
    with failing("refused", f"{ID} changed since it was approved for {us.here.path}, or its folder is gone; {step}"):
        runs.find(us.stores, run.id)
    approve.forget(us.stores, us.approval())
    with failing("refused", f"there is no run {run.id}; start one with helm plugin run"):
        runs.find(us.stores, run.id)


# --- what its host is told


@pytest.mark.contract("P8", "P23", "P25")
def test_a_host_is_told_everything_that_belongs_to_its_run(us: Office) -> None:
    team = us.team()
    for key in ("audience", "codename", "api_key"):
        settings.fill_text(
            us.stores, us.here.path, team.extension, settings.declared(team.extension, key), f"the {key}"
        )
    running = runs.manual(us.stores, team, FORM, {"brief": "x", "tone": "plain"})
    found = briefing.of(us.stores, running)
    assert found._replace(tools=()) == briefing.Briefing(
        run=running.run,
        extension=team.extension,
        agents=(Instructions("agents/writer.md", "writer", "Writes.", "Write what the brief says."),),
        skills=(),
        tools=(),
        draft_kinds=("blog", "email"),
        settings={"audience": "the audience"},
        withheld=("codename", "api_key", "unset"),
        budget=Budget(ID, us.here.path, "2027-01", 0, 1000, "plugin"),
        serve=("helm", "mcp", "serve", "--run", running.run.id),
    )
    # Named tools that are not bound, and those that only publish, are none of them.
    assert [(tool.name, tool.extension, tool.risk) for tool in found.tools] == [
        ("cms_list_posts", ID, "read"),
        ("cms_save_post", ID, "write"),
    ]


# --- what it may use


@pytest.mark.contract("P33")
def test_beyond_its_budget_no_run_starts(us: Office) -> None:
    team = us.team()
    run = runs.scheduled(us.stores, team, WEEKLY).run
    used = use(us, 999, run.id)
    assert (used, used.left, used.spent) == (Budget(ID, us.here.path, "2027-01", 999, 1000, "plugin"), 1, False)
    assert budget.check(us.stores, team) == used
    spent = use(us, 5)
    assert (spent.used, spent.left, spent.spent) == (1004, 0, True)
    found = records.find(us.stores.db, run.id)
    assert found is not None and found.tokens == 999
    with failing("refused", SPENT):
        runs.scheduled(us.stores, team, WEEKLY)
    # What it has used in one month is over with the next.
    us.now = datetime(2027, 2, 1, tzinfo=UTC).timestamp()
    assert runs.scheduled(us.stores, team, WEEKLY).budget == Budget(ID, us.here.path, "2027-02", 0, 1000, "plugin")


@pytest.mark.contract("P33")
def test_the_limit_of_the_team_holds_in_place_of_the_plugins_own(us: Office) -> None:
    team = us.team()
    use(us, 10)
    lowered = budget.set_limit(us.stores, team, 10)
    assert (lowered.limit, lowered.source, lowered.spent) == (10, "team", True)
    none = budget.set_limit(us.stores, team, 0)
    assert (none.limit, none.source, none.left, none.spent) == (None, "team", None, False)
    assert budget.check(us.stores, team) == none


@pytest.mark.contract("P33")
@pytest.mark.parametrize("tokens", [None, 0])
def test_an_empty_budget_is_no_limit(us: Office, tokens: int | None) -> None:
    team = us.approve(budget={"monthly_tokens": tokens})
    assert use(us, 10**9) == Budget(ID, us.here.path, "2027-01", 10**9, None, "plugin")
    assert budget.check(us.stores, team).left is None


@pytest.mark.parametrize(
    ("limit", "tokens", "wider"), [(10, 11, True), (10, 0, True), (10, 10, False), (10, 9, False), (None, 5, False)]
)
def test_what_lets_a_plugin_use_more(limit: int | None, tokens: int, wider: bool) -> None:
    assert budget.widens(Budget(ID, "/w", "2027-01", 0, limit, "team"), tokens) is wider
