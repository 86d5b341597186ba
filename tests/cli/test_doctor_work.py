"""`helm doctor` in a workspace: extensions whose calls would be refused, and what waits there for a person."""

import json
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.broker import bindings, profiles, signin
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.drivers.oauth_token import Grant
from helm_cli.model.plugin import Bound
from helm_cli.model.profile import Service
from helm_cli.store import approvals, person
from tests.program import HELM, Helm, run
from tests.rig import doctor, plugins, said_yes, signing, team
from tests.rig.doctor import SURROUNDINGS, Clinic

WELL: Final = "all is well"
HOUR: Final = 3600.0
URLS: Final = ("http://127.0.0.1:1/authorize", "http://127.0.0.1:1/token")


@pytest.fixture
def clinic(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    doctor.well(tmp_path)
    monkeypatch.chdir(tmp_path / "workspace")
    for name, value in {**SURROUNDINGS, "HELM_CLI_HOME": str(tmp_path / "home")}.items():
        monkeypatch.setenv(name, value)
    return Clinic(helm, tmp_path / "home", tmp_path / "workspace")


@contextmanager
def stores_of(clinic: Clinic) -> Iterator[Stores]:
    with closing(Stores(clinic.home)) as stores:
        yield stores


def approve(clinic: Clinic, folder: Path) -> None:
    with stores_of(clinic) as stores:
        doctor.approve(stores, clinic.workspace, folder)


def sql(clinic: Clinic, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(clinic.home / "state.db")) as db, db:
        db.execute(statement, values)


def looked(clinic: Clinic) -> tuple[int, list[str]]:
    """The status, and what is not well of the workspace."""
    found = clinic.look("--offline")
    lines = [line.removeprefix("warning: workspace: ").replace(str(clinic.workspace), "HERE") for line in found.lines]
    assert (found.last == WELL) is (not lines)
    return found.status, lines


def changed(clinic: Clinic) -> None:
    (clinic.workspace / "tickets" / "notes.txt").write_text("new")


def gone(clinic: Clinic) -> None:
    shutil.rmtree(clinic.workspace / "tickets")


def unconfigured(clinic: Clinic) -> None:
    (clinic.home / "profiles/db/local-app.toml").unlink()


def of_another_engine(clinic: Clinic) -> None:
    lines = ('engine = "mysql"', 'host = "127.0.0.1"', "port = 1", 'database = "d"', 'user = "u"', "")
    (clinic.home / "profiles/db/local-app.toml").write_text("\n".join(lines))


def broken_profile(clinic: Clinic) -> None:
    (clinic.home / "profiles/db/local-app.toml").write_text("=")


def disabled(clinic: Clinic) -> None:
    with stores_of(clinic) as stores:
        assert approvals.set_enabled(stores.db, str(clinic.workspace), "tickets", False)
    changed(clinic)


def asked(clinic: Clinic) -> None:
    assert clinic.helm("call", "app", "close", "--arg", "id=1").status == 7


def asked_more(clinic: Clinic) -> None:
    """Two writes, and an approval in a home where a person was asked before."""
    asked(clinic)
    asked(clinic)
    with stores_of(clinic) as stores:
        person.mark(stores.db)
    shutil.copytree("tickets", "others")
    manifest = json.loads(Path("others/manifest.json").read_text())
    Path("others/manifest.json").write_text(json.dumps({**manifest, "id": "others"}))
    digest = clinic.helm("plugin", "review", "others", "-o", "json").json["digest"]
    assert clinic.helm("plugin", "review", "others", "--approve", digest).status == 7


def not_of_tdt(clinic: Clinic) -> None:
    connection = {"id": "tdt", "kind": "tdt-mcp", "operations": ["tdt_workspace_status"]}
    (clinic.workspace / "brain").mkdir()
    (clinic.workspace / "brain" / "manifest.json").write_text(json.dumps({"id": "brain", "connections": [connection]}))
    approve(clinic, clinic.workspace / "brain")


def signed_in(clinic: Clinic, *scopes: str, client_id: str | None = "id") -> None:
    """The service `cal`, granted these scopes, and an extension that declares the scopes a and b."""
    with stores_of(clinic) as stores:
        service = profiles.add(stores, Service("cal", "http://127.0.0.1:1", client_id=client_id), None, force=False)
        if client_id is not None:
            grant = Grant("access", "refresh", scopes, stores.clock() + HOUR, HOUR)
            signin.keep(stores, service, grant, Connected(*URLS, ("a", "b")))
    oauth2 = {"authorizeUrl": URLS[0], "tokenUrl": URLS[1], "scopes": ["a", "b"]}
    approve(clinic, signing.write(clinic.workspace, oauth2))


CHANGED: Final = "tickets: it changed since it was approved, so its calls are refused (next: helm plugin review {})"

# What happened in the workspace -> the lines that are not well.
HAPPENED: Final[dict[str, tuple[Callable[[Clinic], None], list[str]]]] = {
    "nothing": (lambda clinic: None, []),
    "an extension changed": (changed, [CHANGED.format("HERE/tickets")]),
    "its folder is gone": (
        gone,
        ["tickets: its folder is gone, so its calls are refused (next: helm plugin forget tickets)"],
    ),
    "it is disabled": (disabled, []),
    "its profile is missing": (
        unconfigured,
        ["tickets: app is not configured: there is no db profile local-app (next: helm db add local-app)"],
    ),
    "its profile is of another engine": (
        of_another_engine,
        [
            "tickets: app cannot use the db profile local-app: the profile is mysql (next: helm db show local-app)",
        ],
    ),
    "a write waits": (asked, ["waiting: 1 write waits for a person (next: helm confirm)"]),
    "more waits": (
        asked_more,
        [
            "waiting: 2 writes wait for a person (next: helm confirm)",
            "waiting: 1 approval waits for a person (next: helm confirm)",
        ],
    ),
    "it is none of TDT's": (
        not_of_tdt,
        [
            "brain: the workspace HERE (registered by a review) is not one of TDT's"
            " (next: run tdt init in it, or name another with --workspace)"
        ],
    ),
    "all scopes were granted": (lambda clinic: signed_in(clinic, "a", "b"), []),
    "fewer scopes were granted": (
        lambda clinic: signed_in(clinic, "a"),
        ["calendar: the sign-in to cal was not granted what cal declares (b) (next: helm oauth connect cal)"],
    ),
    "the profile does not sign in": (
        lambda clinic: signed_in(clinic, client_id=None),
        ["calendar: cal cannot use the service profile cal: the profile sends no token (next: helm service show cal)"],
    ),
}


@pytest.mark.parametrize("name", HAPPENED)
def test_what_happened_in_a_workspace_is_told(clinic: Clinic, name: str) -> None:
    act, lines = HAPPENED[name]
    act(clinic)
    assert looked(clinic) == (0, lines)


def test_what_is_broken_of_an_extension_is_told_once(clinic: Clinic) -> None:
    broken_profile(clinic)
    told = (
        f"broken: profiles: db/local-app: {clinic.home}/profiles/db/local-app.toml cannot be used: it is no valid TOML"
    )
    status, lines = looked(clinic)
    assert (status, [line.partition(": invalid")[0].replace("HOME", str(clinic.home)) for line in lines]) == (1, [told])


def test_a_sign_in_that_is_missing_stands_in_the_line_of_its_profile_alone(clinic: Clinic) -> None:
    with stores_of(clinic) as stores:
        doctor.add(stores, Service("cal", "http://127.0.0.1:1", client_id="id"), None)
    approve(clinic, signing.write(clinic.workspace, {"authorizeUrl": URLS[0], "tokenUrl": URLS[1], "scopes": ["a"]}))
    told = "not reachable: profiles: service/cal: cal is not connected (next: helm oauth connect cal)"
    assert looked(clinic) == (10, [told])


def test_an_approved_copy_that_is_lost_is_broken(clinic: Clinic) -> None:
    sql(clinic, "DELETE FROM contents")
    told = "broken: workspace: tickets: the approved copy of the extension is missing"
    assert looked(clinic) == (1, [f"{told} (next: helm plugin review HERE/tickets)"])


def test_the_folder_that_is_looked_at_is_told(clinic: Clinic, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def folder(env: dict[str, str | None] | None = None) -> list[str]:
        done = clinic.helm("doctor", "--offline", env=env)
        return [line for line in done.out.splitlines() if ": workspace: " in line]

    named = folder({"HELM_CLI_WORKSPACE": str(clinic.workspace)})
    assert f"ok: workspace: folder: {clinic.workspace} (named by HELM_CLI_WORKSPACE)" in named
    told = "the workspace nowhere is not a folder (next: unset HELM_CLI_WORKSPACE)"
    assert folder({"HELM_CLI_WORKSPACE": "nowhere"})[1:] == [f"warning: workspace: folder: {told}"]
    monkeypatch.chdir(home.parent)
    assert folder()[1:] == [f"ok: workspace: folder: {home.parent} is never a workspace by itself"]
    (home.parent / "elsewhere").mkdir()
    monkeypatch.chdir(home.parent / "elsewhere")
    assert folder()[1:] == [
        f"ok: workspace: folder: {home.parent}/elsewhere (the current folder)",
        "ok: workspace: extensions: none is approved here yet",
    ]


def test_a_current_folder_that_is_gone_is_no_workspace(clinic: Clinic, tmp_path: Path) -> None:
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    done = run(["sh", "-c", script, "sh", *HELM, "doctor"], cwd=tmp_path)
    told = "ok: workspace: folder: the current folder is gone; change into one, or name it with --workspace"
    assert told.partition(";")[0] in done.out
    assert "ok: profiles: mcp/m: misbehaving 1.0, protocol 2025-11-25, 35 tools" in done.out.splitlines()
    assert (done.status, done.err) == (10, "")


TOOLS: Final = [
    plugins.named("find_posts"),
    plugins.named("count_posts"),
    plugins.named("release_notes", kind="builtin"),
]


def test_named_tools_without_a_binding_are_told(clinic: Clinic) -> None:
    approve(clinic, plugins.write(clinic.workspace / "marketing", tools=TOOLS))
    step = f"helm plugin bind {plugins.ID} {{}} --service S --method M --path P"
    told = f"{plugins.ID}: {{}} is not bound to a service for what is approved (next: {step})"
    unbound = [told.format(name, name) for name in ("find_posts", "count_posts")]
    assert looked(clinic) == (0, unbound)
    with stores_of(clinic) as stores:
        approval = approvals.find(stores.db, str(clinic.workspace), plugins.ID)
        assert approval is not None
        bindings.bind(stores, approval, Bound("find_posts", "s", "GET", "/posts", None))
        bindings.bind(stores, approval, Bound("count_posts", "nope", "GET", "/posts", None))
    told = (
        f"{plugins.ID}: count_posts is not configured: there is no service profile nope (next: helm service add nope)"
    )
    assert looked(clinic) == (0, [told])


DRAFTS: Final = [{"type": "draft", "kinds": ["blog"]}]


def test_drafts_that_wait_are_told(clinic: Clinic) -> None:
    approve(clinic, plugins.write(clinic.workspace / "marketing", outputs=DRAFTS))
    assert looked(clinic) == (0, [])
    words = ("draft", "add", "--plugin", plugins.ID, "--kind", "blog", "--title", "Version 2")
    assert clinic.helm(*words, stdin="It is out.").status == 0
    assert looked(clinic) == (0, ["drafts: 1 draft waits for approval (next: helm draft list)"])
    (clinic.home / "drafts" / "abcdefgh.draft.json").write_text("{}")
    members = "id, plugin, kind, title, body, run, at, asked_by"
    told = f"drafts: abcdefgh.draft.json does not have the members {members}; it is left out"
    assert looked(clinic)[1][1:] == [f"{told} (next: ls -l HOME/drafts)"]


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder of drafts that every user gets into."""
    folder = Path(tempfile.mkdtemp(prefix="helm-drafts-"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


def test_drafts_of_a_team_are_told(clinic: Clinic, shared: Path) -> None:
    (clinic.home / "config.toml").write_text(f'drafts_dir = "{shared}"\n')
    approve(clinic, plugins.write(clinic.workspace / "marketing", outputs=DRAFTS))
    first, *_ = [said_yes.drafted(plugins.ID, "blog", str(team.DAEMON)) for _ in range(3)]
    assert said_yes.approved(first) == "approved"
    assert looked(clinic) == (
        0,
        [
            "drafts: 2 drafts wait for approval (next: helm draft list)",
            "drafts: 1 draft is approved and not published (next: helm draft list)",
        ],
    )


def test_a_folder_of_drafts_that_is_not_there_is_told(clinic: Clinic) -> None:
    missing = clinic.home.parent / "missing"
    (clinic.home / "config.toml").write_text(f'drafts_dir = "{missing}"\n')
    told = f"broken: workspace: drafts: the folder {missing} is missing"
    status, lines = looked(clinic)
    assert (status, lines) == (1, [f"{told} (next: let root make it, with: mkdir -m 3770 {missing})"])


def test_schedules_that_nobody_asks_for_are_told(clinic: Clinic) -> None:
    triggers: list[dict[str, Any]] = [{"on": "schedule", "cron": "0 * * * *"}, {"on": "manual"}]
    approve(clinic, plugins.write(clinic.workspace / "marketing", triggers=triggers))
    never = f"schedules: {plugins.ID} has a schedule, and nobody asks here what is due (next: helm plugin due)"
    assert looked(clinic) == (0, [never])
    assert clinic.helm("plugin", "due").status == 0
    assert looked(clinic) == (0, [])
    sql(clinic, "UPDATE schedules SET last = ?", time.time() - 5 * HOUR)
    late = "has a schedule that came due over an hour ago, and nobody asked"
    assert looked(clinic) == (0, [f"schedules: {plugins.ID} {late} (next: helm plugin due)"])
