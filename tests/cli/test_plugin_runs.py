"""Runs of a team's plugin as its host starts them: by a form, a schedule and a release, within a budget."""

import json
import os
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import due
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.store import approvers, runs
from tests.grammar.test_release_event import EVENT
from tests.program import Finished, Helm
from tests.rig.team import AGENT, ID, PLUGIN, confirm, write
from tests.rig.terminal import CTRL_C, DOWN, ENTER, at_terminal

TRIGGERS: list[dict[str, Any]] = [
    {"on": "manual", "form": {"brief": "text", "tone": ["plain", "playful"]}},
    {"on": "schedule", "cron": "0 14 * * MON"},
    {"on": "schedule", "cron": "*/15 9-17 * * 1-5"},
    {"on": "github.release"},
]
SETTINGS: list[dict[str, Any]] = [
    {"key": "audience", "type": "string"},
    {"key": "codename", "type": "string", "sensitive": True},
    {"key": "api_key", "type": "secret"},
]
SKILL = "---\nname: house-style\ndescription: How texts sound.\n---\n\nShort.\n\n\tNo \x85 noise.\n"
MANUAL = ("--arg", "brief=Announce it", "--arg", "tone=plain")
HELM = (sys.executable, "-m", "helm_cli")
MONDAY = 1_782_741_600.0  # 2026-06-29 14:00 UTC


def plugin(**changes: Any) -> dict[str, Any]:
    return {**PLUGIN, "triggers": TRIGGERS, "settings": SETTINGS, "budget": {"monthly_tokens": 1000}, **changes}


def ready(helm: Helm, **changes: Any) -> str:
    """The plugin, written into this folder and approved for it; its digest."""
    write(Path("marketing"), plugin(**changes))
    Path("marketing/skills/house-style").mkdir(parents=True, exist_ok=True)
    Path("marketing/skills/house-style/SKILL.md").write_text(SKILL)
    digest = str(helm("plugin", "review", "marketing", "-o", "json").json["digest"])
    done = helm("plugin", "review", "marketing", "--approve", digest)
    assert done.status == 0, done
    return digest


@pytest.fixture
def here(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace in which the plugin is approved."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    ready(helm)
    return tmp_path


def run(helm: Helm, *words: str, stdin: str | bytes = b"") -> Finished:
    return helm("plugin", "run", ID, *words, stdin=stdin)


def told(done: Finished) -> tuple[int, str]:
    assert done.out == ""
    return done.status, done.err.removeprefix("helm: ").rstrip("\n")


# --- what a host is told


@pytest.mark.contract("P8", "P23", "P25")
def test_a_run_tells_its_host_everything_that_belongs_to_it(helm: Helm, here: Path) -> None:
    assert helm("plugin", "settings", ID, "set", "audience", "developers").status == 0
    assert helm("plugin", "settings", ID, "set", "codename", "Zephyr-77").status == 0
    assert helm("plugin", "settings", ID, "set", "api_key", "--stdin", stdin="hunter2").status == 0
    done = run(helm, *MANUAL, "-o", "json")
    assert (done.status, done.err) == (0, f"helm: the run {done.json['run']} of {ID} started\n")
    found = done.json
    digest = helm("plugin", "list", "-o", "json").json[0]["digest"]
    month = found["budget"].pop("month")
    assert len(month) == 7
    tools = found.pop("tools")
    assert found == {
        "run": found["run"],
        "plugin": ID,
        "version": "1.2.0",
        "description": "Writes posts.",
        "workspace": str(here),
        "digest": digest,
        "trigger": "manual",
        "form": {"brief": "Announce it", "tone": "plain"},
        "agents": [
            {
                "path": "agents/writer.md",
                "name": "writer",
                "description": "Writes.",
                "text": "Write what the brief says.",
            }
        ],
        "skills": [
            {
                "path": "skills/house-style/SKILL.md",
                "name": "house-style",
                "description": "How texts sound.",
                "text": "Short.\n\n\tNo \x85 noise.",
            }
        ],
        "draft_kinds": ["blog", "email"],
        "settings": {"audience": "developers"},
        "withheld": ["codename", "api_key"],
        "budget": {"used": 0, "limit": 1000, "left": 1000},
        "serve": ["helm", "mcp", "serve", "--run", found["run"]],
    }
    assert [(tool["name"], tool["connection"], tool["operation"], tool["risk"]) for tool in tools] == [
        ("cms_list_posts", "cms", "list_posts", "read"),
        ("cms_save_post", "cms", "save_post", "write"),
    ]
    assert "Zephyr" not in done.out
    assert "hunter2" not in done.out


def test_a_person_reads_the_same_as_a_page(helm: Helm, here: Path) -> None:
    done = helm("plugin", "run", ID, "--arg", "brief=One\nTwo \x1b[2J", "--arg", "tone=playful")
    id_, digest = done.out.split()[1], helm("plugin", "list", "-o", "json").json[0]["digest"]
    lines = done.out.splitlines()
    budget = next(line for line in lines if line.startswith("  budget"))
    assert budget.startswith("  budget     1,000 of 1,000 tokens left in 2")
    assert [line for line in lines if line != budget] == [
        f"run {id_} of {ID} 1.2.0",
        "",
        "  trigger    manual",
        f"  workspace  {here}",
        f"  digest     {digest}",
        "",
        "Brief",
        "  brief",
        "    One",
        "    Two \\u{1b}[2J",
        "  tone   playful",
        "",
        "Tools: 2; no other exists for this run",
        "  read           cms_list_posts  (cms list_posts)",
        "  write          cms_save_post  (cms save_post)",
        "",
        "Drafts: blog, email",
        "",
        "Settings",
        "  audience  (not filled in, or not for a model)",
        "  codename  (not filled in, or not for a model)",
        "  api_key   (not filled in, or not for a model)",
        "",
        "Agent writer (agents/writer.md)",
        "  Writes.",
        "",
        "  Write what the brief says.",
        "",
        "Skill house-style (skills/house-style/SKILL.md)",
        "  How texts sound.",
        "",
        "  Short.",
        "",
        "  \tNo \\u{85} noise.",
        "",
        f"Serve its tools with: helm mcp serve --run {id_}",
    ]


# --- forms


@pytest.mark.contract("P25")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            (),
            "--arg brief=… is missing; give it, or run this in a terminal to be asked",
        ),
        (
            ("--arg", "brief=x"),
            "--arg tone=… (plain, playful) is missing; give it, or run this in a terminal to be asked",
        ),
        (("--arg", "tone=loud", "--arg", "brief=x"), "tone is one of plain, playful, not loud"),
        (("--arg", "breif=x"), "the form has no field breif; did you mean brief?"),
        (("--arg", "zzz=x"), "the form has no field zzz; it has brief, tone"),
        (("--arg", "brief"), "--arg takes NAME=VALUE, as in --arg title=Launch"),
        (("--arg", "brief=x", "--arg", "brief=y"), "the field brief is given twice; give it once"),
        (("--arg", "brief=" + "x" * 65_537), "brief is over 64 KiB; give less"),
        ((*MANUAL, "--schedule", "0 14 * * MON"), "a run has one cause: give --arg, --schedule or --event"),
        (("--schedule", "0 15 * * MON"), f"{ID} has no schedule 0 15 * * MON; it has 0 14 * * MON; */15 9-17 * * 1-5"),
        (("--event", "github.push"), "there is no event github.push; take github.release"),
    ],
)
def test_what_starts_no_run(helm: Helm, here: Path, words: tuple[str, ...], message: str) -> None:
    assert told(run(helm, *words)) == (2, message)


@pytest.mark.contract("P25")
def test_a_person_is_asked_for_each_field(helm: Helm, here: Path) -> None:
    with at_terminal(*HELM, "plugin", "run", ID, size=(120, 60)) as screen:
        screen.wait_for("? brief")
        screen.send(b"Announce it", ENTER)
        screen.wait_for("? tone")
        screen.wait_for("playful")
        screen.send(DOWN, ENTER)
        screen.wait_for("Serve its tools with")
        assert screen.status() == 0
        lines = [line.rstrip() for line in screen.screen()]
    assert "  brief  Announce it" in lines
    assert "  tone   playful" in lines
    with at_terminal(*HELM, "plugin", "run", ID, "--arg", "tone=plain", size=(120, 60)) as screen:
        screen.wait_for("? brief")
        screen.send(CTRL_C)
        assert screen.status() == 6


def test_a_plugin_without_a_manual_trigger_takes_a_brief(helm: Helm, here: Path) -> None:
    ready(helm, triggers=[])
    assert run(helm, "--arg", "brief=x", "-o", "json").json["form"] == {"brief": "x"}
    assert told(run(helm, "--arg", "tone=plain")) == (2, "the form has no field tone; it has brief")


def test_of_several_forms_the_one_that_fits_is_filled_in(helm: Helm, here: Path) -> None:
    manual = [{"on": "manual", "form": {"brief": "text"}}, {"on": "manual", "form": {"topic": ["a", "b"]}}]
    ready(helm, triggers=manual)
    assert run(helm, "--arg", "topic=b", "-o", "json").json["form"] == {"topic": "b"}
    assert run(helm, "--arg", "brief=b", "-o", "json").json["form"] == {"brief": "b"}


# --- a release


@pytest.mark.contract("P28")
def test_a_release_starts_a_run_with_its_notes(helm: Helm, here: Path) -> None:
    done = run(helm, "--event", "github.release", "-o", "json", stdin=json.dumps(EVENT))
    assert (done.json["trigger"], done.json["form"]["tag"]) == ("github.release", "v1.2.0")
    assert done.json["form"]["notes"] == "* Faster\n* Smaller"
    shown = run(helm, "--event", "github.release", stdin=json.dumps(EVENT)).out
    assert "  notes\n    * Faster\n    * Smaller\n" in shown
    assert "  prerelease    false\n" in shown


@pytest.mark.contract("P28")
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the event cannot be read: not JSON: expecting value at line 1 column 1"),
        (b'{"action": "deleted"}', 'the event is not the publication of a release: its action is not "published"'),
        (b" " * (2 * 1024 * 1024 + 1), "the event is over 2,097,152 bytes"),
    ],
)
def test_what_is_no_release_starts_none(helm: Helm, here: Path, data: bytes, message: str) -> None:
    assert told(run(helm, "--event", "github.release", stdin=data)) == (2, message)


def test_a_plugin_without_that_trigger_is_started_by_no_release(helm: Helm, here: Path) -> None:
    ready(helm, triggers=[])
    message = f"{ID} has no trigger on: github.release, so a release starts no run of it"
    assert told(run(helm, "--event", "github.release", stdin=json.dumps(EVENT))) == (2, message)


# --- schedules


class Clock:
    """The time that a test says it is."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.notices: list[str] = []

    def take(self, home: Path, workspace: Path) -> list[tuple[str, str]]:
        stores = Stores(home, clock=lambda: self.now, notice=self.notices.append)
        try:
            found = due.take(stores, Workspace(str(workspace), "named by a test"))
            return [(one.plugin, one.cron) for one in found]
        finally:
            stores.close()


def test_what_the_team_decided_goes_with_the_plugin_and_what_was_used_stays(helm: Helm, here: Path, home: Path) -> None:
    id_ = run(helm, *MANUAL, "-o", "json").json["run"]
    clock = Clock(MONDAY - 60)
    clock.take(home, here)
    assert helm("plugin", "usage", ID, "--limit", "10").status == 0
    assert helm("plugin", "usage", ID, "--add", "7").status == 0
    stores = Stores(home)
    approvers.put(stores.db, str(here), ID, "editor", [1])
    assert helm("plugin", "forget", ID).status == 0
    for table in ("approvers", "budgets", "schedules", "runs", "approvals"):
        assert stores.db.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,), table
    stores.close()
    clock.now = MONDAY
    ready(helm)
    assert clock.take(home, here) == []
    assert helm("plugin", "usage", ID, "-o", "json").json["used"] == 7
    assert helm("plugin", "usage", ID, "-o", "json").json["source"] == "plugin"
    words = ("draft", "add", "--run", id_, "--kind", "blog", "--title", "t")
    assert told(helm(*words, stdin="x")) == (3, f"there is no run {id_}; start one with helm plugin run")


def test_due_tells_what_to_run(helm: Helm, here: Path, home: Path) -> None:
    done = helm("plugin", "due", "-o", "json")
    assert (done.status, done.json, done.err) == (0, [], "")
    with closing(sqlite3.connect(home / "state.db")) as db, db:
        db.execute("UPDATE schedules SET last = last - 8 * 86400")
    found: list[Any] = []

    def look() -> None:
        found.append(helm("plugin", "due", "-o", "json").json)

    both = [threading.Thread(target=look) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    (rows,) = [rows for rows in found if rows]
    assert rows == [
        {"plugin": ID, "cron": cron, "run": ["helm", "plugin", "run", ID, "--schedule", cron]}
        for cron in ("0 14 * * MON", "*/15 9-17 * * 1-5")
    ]
    started = helm(*rows[0]["run"][1:], "-o", "json")
    assert (started.json["trigger"], started.json["form"]) == ("schedule 0 14 * * MON", {})
    with closing(sqlite3.connect(home / "state.db")) as db, db:
        db.execute("UPDATE schedules SET last = last - 8 * 86400")
    assert helm("plugin", "due").out.splitlines()[0] == (
        f"{ID}\t0 14 * * MON\thelm plugin run {ID} --schedule '0 14 * * MON'"
    )


# --- the budget


@pytest.mark.contract("P33")
def test_beyond_its_budget_a_run_is_refused(helm: Helm, here: Path) -> None:
    id_ = run(helm, *MANUAL, "-o", "json").json["run"]
    usage = ("plugin", "usage", ID)
    assert helm(*usage, "--add", "999", "--run", id_, "-o", "json").json["left"] == 1
    assert run(helm, *MANUAL).status == 0
    done = helm(*usage, "--add", "5", "-o", "json")
    month = done.json["month"]
    assert done.json == {
        "plugin": ID,
        "workspace": str(here),
        "month": month,
        "used": 1004,
        "limit": 1000,
        "source": "plugin",
        "left": 0,
    }
    assert done.err == f"helm: {ID} has used up its tokens of {month}: its runs and calls are refused\n"
    for words in (MANUAL, ("--schedule", "0 14 * * MON")):
        assert told(run(helm, *words)) == (
            3,
            f"{ID} has used 1,004 of its 1,000 tokens of {month} (UTC); wait for the next month, or raise the limit"
            f" with: helm plugin usage {ID} --limit N",
        )
    spent = f"{ID} has used 1,004 of its 1,000 tokens of {month} (UTC); wait for the next month, or raise the limit"
    of_run = ("draft", "add", "--run", id_, "--kind", "blog", "--title", "t")
    assert told(helm(*of_run, stdin="x")) == (3, f"{spent} with: helm plugin usage {ID} --limit N")
    for connection, operation in (("cms", "list_posts"), ("cms", "save_post"), ("_tools", "count_posts")):
        refused = helm("call", connection, operation, "--plugin", ID)
        assert (refused.status, refused.json["error"]["message"].startswith(spent)) == (3, True), refused
    # What belongs to no run may still be asked to be reviewed.
    by_hand = ("draft", "add", "--plugin", ID, "--kind", "blog", "--title", "t")
    assert helm(*by_hand, stdin="x").status == 0
    assert helm(*usage).out.splitlines() == [
        f"plugin  {ID}",
        f"month   {month} (UTC)",
        "used    1,004",
        "limit   1,000 (the plugin's own)",
        "left    0",
    ]


@pytest.mark.contract("P33")
def test_the_team_lowers_a_limit_and_a_person_raises_it(helm: Helm, here: Path) -> None:
    usage = ("plugin", "usage", ID)
    assert helm(*usage, "--limit", "10", "-o", "json").json["limit"] == 10
    assert helm(*usage, "--add", "10").status == 0
    for tokens in ("11", "1000", "0"):
        message = "this needs a person at the terminal; run it in one"
        assert told(helm(*usage, "--limit", tokens)) == (7, message)
    with at_terminal(*HELM, *usage, "--limit", "0", size=(120, 40)) as screen:
        screen.wait_for("Any other key cancels")
        lines = [line.rstrip() for line in screen.screen()]
        assert f"Raise the limit of {ID}" in lines
        assert "  now        10 tokens a month" in lines
        assert "  then       no limit a month" in lines
        confirm(screen)
        assert screen.status() == 0
    assert helm(*usage).out.splitlines()[2:] == ["used    10", "limit   none"]
    budgeted = "Budget: 1,000 tokens a month; the team's limit holds instead: none"
    assert budgeted in helm("plugin", "review", "marketing", "--check").out.splitlines()
    reviewed = helm("plugin", "review", "marketing", "-o", "json").json
    assert reviewed["budget"] == {"monthly_tokens": 1000, "team_tokens": 0}
    assert run(helm, *MANUAL).status == 0
    assert helm(*usage, "--limit", "9").status == 0
    assert run(helm, *MANUAL).status == 3


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("--add", "1", "--limit", "2"), 2, "give --add or --limit, not both"),
        (("--add", "9007199254740992"), 2, "at most 9,007,199,254,740,991 tokens are counted; report what was used"),
        (("--add", "1" + "0" * 30), 2, "at most 9,007,199,254,740,991 tokens are counted; report what was used"),
        (("--run", "abcdefgh"), 2, "--run goes with --add: it says which run used the tokens"),
        (("--add", "1", "--run", "abcdefgh"), 3, f"{ID} has no run abcdefgh in this workspace"),
        (("--limit", str(2**53)), 2, "a limit is at most 9,007,199,254,740,991 tokens; 0 is no limit"),
    ],
)
def test_what_is_no_use(helm: Helm, here: Path, words: tuple[str, ...], status: int, message: str) -> None:
    assert told(helm("plugin", "usage", ID, *words)) == (status, message)
    assert helm("plugin", "usage", ID, "-o", "json").json["used"] == 0


@pytest.mark.parametrize("words", [("--add", "0"), ("--add", "-5"), ("--limit", "-1"), ("--add", "1.5")])
def test_tokens_are_counted_in_whole_numbers(helm: Helm, here: Path, words: tuple[str, ...]) -> None:
    assert helm("plugin", "usage", ID, *words).status == 2


def test_tokens_count_whatever_became_of_the_plugin(helm: Helm, here: Path, home: Path) -> None:
    id_ = run(helm, *MANUAL, "-o", "json").json["run"]
    (here / "marketing" / "agents" / "writer.md").write_text(AGENT + "More.\n")
    assert helm("plugin", "usage", ID, "--add", "7", "--run", id_, "-o", "json").json["used"] == 7
    stores = Stores(home)
    found = runs.find(stores.db, id_)
    stores.close()
    assert found is not None
    assert found.tokens == 7


# --- what a run belongs to


def test_a_run_belongs_to_the_content_that_it_started_with(helm: Helm, here: Path) -> None:
    id_ = run(helm, *MANUAL, "-o", "json").json["run"]
    draft = ("draft", "add", "--run", id_, "--kind", "blog", "--title", "t")
    assert helm(*draft, stdin="x").status == 0
    (listed,) = helm("draft", "list", "-o", "json").json
    assert (listed["run"], listed["plugin"]) == (id_, ID)
    (here / "marketing" / "agents" / "writer.md").write_text(AGENT + "More.\n")
    changed = f"{ID} changed since it was approved for {here}, or its folder is gone; run helm plugin review"
    assert helm(*draft, stdin="x").err == f"helm: {changed} {here}/marketing\n"
    assert run(helm, *MANUAL).status == 3
    ready(helm, version="1.3.0")
    anew = f"{ID} was approved anew since the run {id_} started; start another with helm plugin run"
    assert told(helm(*draft, stdin="x")) == (3, anew)
    assert told(helm("mcp", "serve", "--run", id_)) == (3, anew)
    assert helm("plugin", "disable", ID).status == 0
    assert run(helm, *MANUAL).err == (f"helm: {ID} is disabled for the workspace {here}; run helm plugin enable {ID}\n")


def test_an_extension_of_another_kind_has_no_runs(helm: Helm, here: Path) -> None:
    Path("tickets").mkdir()
    Path("tickets/manifest.json").write_text('{"id": "tickets", "connections": []}')
    digest = helm("plugin", "review", "tickets", "-o", "json").json["digest"]
    assert helm("plugin", "review", "tickets", "--approve", digest).status == 0
    message = "tickets is no team's plugin: it has no plugin.yaml, so no runs and no drafts"
    for words in (("run", "tickets"), ("usage", "tickets"), ("approvers", "tickets")):
        assert told(helm("plugin", *words)) == (3, message)
    assert helm("plugin", "due").status == 0


def test_a_workspace_is_found_as_for_every_command(
    helm: Helm, here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    done = helm("plugin", "run", ID, *MANUAL, cwd=elsewhere)
    assert (done.status, done.err) == (
        3,
        f"helm: {ID} is not approved for the workspace {elsewhere} (the current folder);"
        " run helm plugin review on its folder\n",
    )
    id_ = helm("plugin", "run", ID, *MANUAL, "--workspace", str(here), "-o", "json", cwd=elsewhere).json["run"]
    draft = ("draft", "add", "--run", id_, "--kind", "blog", "--title", "t")
    assert helm(*draft, stdin="x", cwd=elsewhere).status == 0
    words = ("mcp", "serve", "--run", id_, "--workspace", str(elsewhere))
    message = f"the run {id_} belongs to the workspace {here}; leave --workspace out"
    assert told(helm(*words, cwd=elsewhere)) == (2, message)
    assert told(helm("mcp", "serve", "--run", "abcdefgh")) == (
        3,
        "there is no run abcdefgh; start one with helm plugin run",
    )
    assert os.getcwd() == str(here)
