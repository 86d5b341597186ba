"""The checks of a workspace: extensions whose calls would be refused, and what waits there for a person."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from helm_cli.broker import approve, bindings, call, drafts, due, plugin, profiles, review, signin, workspace
from helm_cli.broker.drafts import Text
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.drivers.oauth_token import Grant
from helm_cli.model.draft import Draft
from helm_cli.model.errors import HelmError
from helm_cli.model.plugin import Bound
from helm_cli.model.profile import Service
from helm_cli.model.review import Review
from helm_cli.store import approvals, person
from tests.broker.office import being
from tests.rig import doctor, plugins, signing, team
from tests.rig.failing import failing

HOUR: Final = 3600.0
URLS: Final = ("http://127.0.0.1:1/authorize", "http://127.0.0.1:1/token")


class Place(NamedTuple):
    """The stores of a home, beside the workspace of its extension."""

    stores: Stores
    folder: Path

    @property
    def here(self) -> Workspace:
        return Workspace(str(self.folder), "named by --workspace")

    def approve(self, folder: Path) -> None:
        doctor.approve(self.stores, self.folder, folder)

    def sql(self, statement: str, *values: object) -> None:
        self.stores.db.execute(statement, values)

    def ill(self) -> list[str]:
        """What is not well, of the workspace without saying so, with HERE in the place of its path."""
        home = self.stores.home
        lines = doctor.ill(doctor.asked(home, self.folder), home)
        return [line.removeprefix("warning: workspace: ").replace(str(self.folder), "HERE") for line in lines]

    def folder_line(self) -> str:
        """Which folder is looked at, as it is found from here."""
        home = self.stores.home
        (line,) = (line for line in doctor.told(doctor.asked(home, None), home) if ": workspace: folder: " in line)
        return line


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    doctor.well(tmp_path)
    monkeypatch.chdir(tmp_path / "workspace")
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with closing(Stores(tmp_path / "home")) as stores:
        yield Place(stores, tmp_path / "workspace")


def changed(place: Place) -> None:
    (place.folder / "tickets" / "notes.txt").write_text("new")


def gone(place: Place) -> None:
    shutil.rmtree(place.folder / "tickets")


def local_app(text: str | None) -> Callable[[Place], None]:
    """The profile's file has this text, or is gone."""

    def act(place: Place) -> None:
        path = place.stores.home / "profiles/db/local-app.toml"
        path.unlink() if text is None else path.write_text(text)

    return act


def disabled(place: Place) -> None:
    assert approvals.set_enabled(place.stores.db, str(place.folder), "tickets", False)
    changed(place)


def asked(place: Place) -> None:
    call.ask(place.stores, call.Request(place.here, "app", "close", {"id": 1}), listed=True)


def asked_more(place: Place) -> None:
    """Two writes, and an approval in a home where a person was asked before."""
    asked(place)
    asked(place)
    person.mark(place.stores.db)
    shutil.copytree("tickets", "others")
    manifest = json.loads(Path("others/manifest.json").read_text())
    Path("others/manifest.json").write_text(json.dumps({**manifest, "id": "others"}))
    found = review.review(place.stores, place.here, "others")
    assert isinstance(found, Review)
    with pytest.raises(HelmError, match="approving others needs a person in this home"):
        approve.by_pin(place.stores, found, found.digest, "a test")


def extension(place: Place, name: str, connection: dict[str, Any]) -> None:
    """An extension of this one connection, approved."""
    (place.folder / name).mkdir()
    (place.folder / name / "manifest.json").write_text(json.dumps({"id": name, "connections": [connection]}))
    place.approve(place.folder / name)


def not_of_tdt(place: Place) -> None:
    extension(place, "brain", {"id": "tdt", "kind": "tdt-mcp", "operations": ["tdt_workspace_status"]})


def of_files(place: Place) -> None:
    """One that uses no profile at all."""
    files = {"id": "ws", "kind": "files", "root": "workspace", "paths": ["*.md"], "operations": ["read"]}
    extension(place, "notes", files)


def signed_in(place: Place, *scopes: str, client_id: str | None = "id") -> None:
    """The service `cal`, granted these scopes, and an extension that declares the scopes a and b."""
    stores = place.stores
    service = profiles.add(stores, Service("cal", "http://127.0.0.1:1", client_id=client_id), None, force=False)
    if client_id is not None:
        grant = Grant("access", "refresh", scopes, stores.clock() + HOUR, HOUR)
        signin.keep(stores, service, grant, Connected(*URLS, ("a", "b")))
    oauth2 = {"authorizeUrl": URLS[0], "tokenUrl": URLS[1], "scopes": ["a", "b"]}
    place.approve(signing.write(place.folder, oauth2))


MYSQL: Final = 'engine = "mysql"\nhost = "127.0.0.1"\nport = 1\ndatabase = "d"\nuser = "u"\n'
CHANGED: Final = "tickets: it changed since it was approved, so its calls are refused (next: helm plugin review {})"
UNCONFIGURED: Final = "tickets: app is not configured: there is no db profile local-app (next: helm db add local-app)"

# What happened in the workspace -> the lines that are not well.
HAPPENED: Final[dict[str, tuple[Callable[[Place], None], list[str]]]] = {
    "nothing": (lambda place: None, []),
    "an extension changed": (changed, [CHANGED.format("HERE/tickets")]),
    "its folder is gone": (
        gone,
        ["tickets: its folder is gone, so its calls are refused (next: helm plugin forget tickets)"],
    ),
    "it is disabled": (disabled, []),
    "its profile is missing": (local_app(None), [UNCONFIGURED]),
    "its profile is of another engine": (
        local_app(MYSQL),
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
            "brain: the workspace HERE (named by --workspace) is not one of TDT's"
            " (next: run tdt init in it, or name another with --workspace)"
        ],
    ),
    "it needs no profile": (of_files, []),
    "all scopes were granted": (lambda place: signed_in(place, "a", "b"), []),
    "fewer scopes were granted": (
        lambda place: signed_in(place, "a"),
        ["calendar: the sign-in to cal was not granted what cal declares (b) (next: helm oauth connect cal)"],
    ),
    "the profile does not sign in": (
        lambda place: signed_in(place, client_id=None),
        ["calendar: cal cannot use the service profile cal: the profile sends no token (next: helm service show cal)"],
    ),
}


@pytest.mark.parametrize("name", HAPPENED)
def test_what_happened_in_a_workspace_is_told(place: Place, name: str) -> None:
    act, lines = HAPPENED[name]
    act(place)
    assert place.ill() == lines


def test_what_is_broken_of_an_extension_is_told_once(place: Place) -> None:
    local_app("=")(place)
    (line,) = place.ill()
    assert line.startswith(
        "broken: profiles: db/local-app: HOME/profiles/db/local-app.toml cannot be used: it is no valid TOML: invalid"
    )


def test_a_sign_in_that_is_missing_stands_in_the_line_of_its_profile_alone(place: Place) -> None:
    doctor.add(place.stores, Service("cal", "http://127.0.0.1:1", client_id="id"), None)
    place.approve(signing.write(place.folder, {"authorizeUrl": URLS[0], "tokenUrl": URLS[1], "scopes": ["a"]}))
    told = "warning: profiles: service/cal: cal is not connected (next: helm oauth connect cal)"
    assert place.ill() == [told]


def test_an_approved_copy_that_is_lost_is_broken(place: Place) -> None:
    place.sql("DELETE FROM contents")
    told = "broken: workspace: tickets: the approved copy of the extension is missing"
    assert place.ill() == [f"{told} (next: helm plugin review HERE/tickets)"]


def test_the_folder_that_is_looked_at_is_told(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert place.folder_line() == f"ok: workspace: folder: {place.folder} (registered by a review)"
    monkeypatch.setenv("HELM_CLI_WORKSPACE", "nowhere")
    told = "the workspace nowhere is not a folder (next: unset HELM_CLI_WORKSPACE)"
    assert place.folder_line() == f"warning: workspace: folder: {told}"
    monkeypatch.delenv("HELM_CLI_WORKSPACE")
    user = Path(os.environ["HOME"])
    monkeypatch.chdir(user)
    assert place.folder_line() == f"ok: workspace: folder: {user} is never a workspace by itself"
    (user / "elsewhere").mkdir()
    monkeypatch.chdir(user / "elsewhere")
    assert place.folder_line() == f"ok: workspace: folder: {user}/elsewhere (the current folder)"
    (user / "elsewhere").rmdir()
    assert place.folder_line() == "ok: workspace: folder: the current folder is gone"


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that every user gets into; one of pytest's own would let nobody else in."""
    folder = Path(tempfile.mkdtemp(prefix="helm-health-")).resolve()
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


def test_a_folder_that_this_user_cannot_look_into_is_one_like_any_other(
    place: Place, open_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the current folder of root, after `sudo -u`: whether it is TDT's, or Git's, nobody can see."""
    (open_place / "closed").mkdir(mode=0o700)
    monkeypatch.chdir(open_place / "closed")
    assert place.stores.db
    with being(team.NOBODY):
        assert not os.access("x", os.F_OK, effective_ids=True)
        for for_review in (False, True):
            assert workspace.find(place.stores, None, review=for_review) == Workspace(
                str(open_place / "closed"), "the current folder"
            )
        with failing("usage", "the workspace closed/x is not a folder; name one that exists"):
            workspace.find(place.stores, "closed/x")


TOOLS: Final = [
    plugins.named("find_posts"),
    plugins.named("count_posts"),
    plugins.named("release_notes", kind="builtin"),
]


def test_named_tools_without_a_binding_are_told(place: Place) -> None:
    place.approve(plugins.write(place.folder / "marketing", tools=TOOLS))
    step = f"helm plugin bind {plugins.ID} {{}} --service S --method M --path P"
    told = f"{plugins.ID}: {{}} is not bound to a service for what is approved (next: {step})"
    assert place.ill() == [told.format(name, name) for name in ("find_posts", "count_posts")]
    approval = approvals.find(place.stores.db, str(place.folder), plugins.ID)
    assert approval is not None
    bindings.bind(place.stores, approval, Bound("find_posts", "s", "GET", "/posts", None))
    bindings.bind(place.stores, approval, Bound("count_posts", "nope", "GET", "/posts", None))
    told = "count_posts is not configured: there is no service profile nope (next: helm service add nope)"
    assert place.ill() == [f"{plugins.ID}: {told}"]


DRAFTS: Final = [{"type": "draft", "kinds": ["blog"]}]


def drafted(place: Place, uid: int) -> Draft:
    found = plugin.find(place.stores, place.here, plugins.ID)
    # Another user would not get at it.
    assert place.stores.config
    with being(uid):
        return drafts.add(place.stores, found, Text("blog", "Version 2", "It is out.\n"))


def test_drafts_that_wait_are_told(place: Place) -> None:
    place.approve(plugins.write(place.folder / "marketing", outputs=DRAFTS))
    assert place.ill() == []
    drafted(place, team.ROOT)
    waits = "drafts: 1 draft waits for approval (next: helm draft list)"
    assert place.ill() == [waits]
    (place.stores.home / "drafts" / "abcdefgh.draft.json").write_text("{}")
    members = "id, plugin, kind, title, body, run, at, asked_by"
    told = f"drafts: abcdefgh.draft.json does not have the members {members}; it is left out"
    assert place.ill() == [waits, f"{told} (next: ls -l HOME/drafts)"]


def test_drafts_of_a_team_are_told(place: Place, open_place: Path) -> None:
    (place.stores.home / "config.toml").write_text(f'drafts_dir = "{open_place}"\n')
    place.approve(plugins.write(place.folder / "marketing", outputs=DRAFTS))
    first, *_ = [drafted(place, team.DAEMON) for _ in range(3)]
    drafts.decide(place.stores, first, "approve")
    assert place.ill() == [
        "drafts: 2 drafts wait for approval (next: helm draft list)",
        "drafts: 1 draft is approved and not published (next: helm draft list)",
    ]


def test_a_folder_of_drafts_that_is_not_there_is_told(place: Place, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    (place.stores.home / "config.toml").write_text(f'drafts_dir = "{missing}"\n')
    told = f"broken: workspace: drafts: the folder {missing} is missing"
    assert place.ill() == [f"{told} (next: let root make it, with: mkdir -m 3770 {missing})"]


def test_schedules_that_nobody_asks_for_are_told(place: Place) -> None:
    triggers: list[dict[str, Any]] = [{"on": "schedule", "cron": "0 * * * *"}, {"on": "manual"}]
    place.approve(plugins.write(place.folder / "marketing", triggers=triggers))
    assert place.ill() == [
        f"schedules: {plugins.ID} has a schedule, and nobody asks here what is due (next: helm plugin due)"
    ]
    due.take(place.stores, place.here)
    assert place.ill() == []
    place.sql("UPDATE schedules SET last = ?", place.stores.clock() - 5 * HOUR)
    late = "has a schedule that came due over an hour ago, and nobody asked"
    assert place.ill() == [f"schedules: {plugins.ID} {late} (next: helm plugin due)"]
