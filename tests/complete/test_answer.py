"""What `helm --complete` answers: the names of this machine, each once, and nothing at all where anything is wrong."""

import os
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from helm_cli import kinds
from helm_cli.broker import declared as broker
from helm_cli.broker import workspace as broker_workspace
from helm_cli.broker.stores import Stores
from helm_cli.cli.tree import whole
from helm_cli.complete import answer, declared, line, place, profiles, state
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.shells import words
from helm_cli.store import home as homes
from helm_cli.store import profiles as stored
from tests.program import Helm
from tests.rig.completing import UNFIT, World, world


@pytest.fixture(scope="module")
def whole_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return world(tmp_path_factory.mktemp("completing").resolve())


@pytest.fixture
def here(whole_world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("HELM_CLI_HOME", str(whole_world.home))
    monkeypatch.chdir(whole_world.workspace)
    return whole_world


def told(capfd: pytest.CaptureFixture[str], *typed: str) -> list[str]:
    """The lines of one answer."""
    assert answer.tell(list(typed)) == 0
    out, err = capfd.readouterr()
    assert err == ""
    return out.splitlines()


# What is asked and typed -> every line of the answer.
ANSWERS: Final = [
    ("db", ["local-app\tsqlite", "shop\tpostgres"]),
    ("service", ["cal\tOAuth2", "github\ttoken", "open"]),
    ("mcp", ["files\ta command", "linear\tover HTTP"]),
    (
        "profile config export --without",
        [
            *("db/local-app\tsqlite", "db/shop\tpostgres", "service/cal\tOAuth2", "service/github\ttoken"),
            *("service/open", "mcp/files\ta command", "mcp/linear\tover HTTP"),
        ],
    ),
    ("plugin plugin show", ["acme/marketing", "hostile", "off\tdisabled", "tickets"]),
    ("plugin plugin show --workspace ../else\\ where", ["other"]),
    ("plugin plugin show --workspace=../else\\ where", ["other"]),
    ("plugin plugin show --workspace nowhere", []),
    ("team plugin run", ["acme/marketing"]),
    ("connection call --plugin acme/marketing", ["cms\tmcp of acme/marketing", "_tools\ttools of acme/marketing"]),
    ("connection call --plugin=off", []),
    ("operation call app", ["recent\tread", "every\tread", "close\twrite"]),
    ("operation call --wait app", ["recent\tread", "every\tread", "close\twrite"]),
    ("operation call -o json --plugin tickets app", ["recent\tread", "every\tread", "close\twrite"]),
    ("operation call --plugin off app", []),
    ("operation call gone", []),
    ("operation call there", []),
    ("operation call web", ["issues\tread", "open\twrite"]),
    ("operation call docs", ["list\tread", "read\tread", "write\twrite"]),
    ("operation call tdt", ["tdt_status\tread", "tdt_apply\twrite"]),
    ("operation call files", ["get\tread", "put\twrite"]),
    ("operation call cms", ["list_posts\tread", "save_post\twrite", "find_and_fix\twrite", "find_old\tread"]),
    ("operation call _tools", ["send_post\twrite", "count_posts\tread", "read_notes\tread"]),
    ("operation history --connection app", ["recent\tread", "every\tread", "close\twrite"]),
    ("argument call app recent", ["status=", "limit="]),
    ("argument call app recent --arg status=open", ["limit="]),
    ("argument call app recent --arg-str=limit=1 --arg status=", []),
    ("argument call app every", []),
    ("argument call app nothing", []),
    ("argument call", []),
    ("argument call web issues", ["owner=", "repo=", "limit="]),
    ("argument call web open --arg owner=me", ["title=", "labels="]),
    ("argument call docs list", ["project="]),
    ("argument call docs read", ["project=", "path=", "paths="]),
    ("argument call docs write", ["project=", "path=", "text=", "expected_sha256="]),
    ("argument call notes read", ["path=", "paths="]),
    ("argument call tdt tdt_apply", []),
    ("argument call files get", ["path=", "head="]),
    ("argument call files put", []),
    ("argument call cms find_old", ["q="]),
    ("argument call cms save_post", []),
    ("argument call _tools send_post", ["list=", "title="]),
    ("argument call _tools read_notes", []),
    ("project project show", ["website\tFOLDER/website"]),
    ("run mcp serve --run", ["k3v7q2ab\tacme/marketing, manual"]),
    ("confirmation confirm", ["PENDING\twrite tickets app close"]),
    ("confirmation confirm --workspace .", ["PENDING\twrite tickets app close"]),
    ("confirmation confirm --workspace ../else\\ where", []),
    ("draft draft show", ["DRAFT\tacme/marketing: Version 2"]),
    ("via draft publish DRAFT --via", ["send_post\t2 different people of the role editor, never the one who as…"]),
    ("via draft publish aaaaaaaa --via", []),
    ("publish draft publish DRAFT --arg", ["list="]),
    ("publish draft publish DRAFT --via send_post --arg list=all --arg", []),
    ("publish draft publish DRAFT --via other --arg", []),
    ("tool plugin bind acme/marketing", ["send_post\tconsequential", "count_posts\tread"]),
    ("tool plugin bind tickets", []),
    ("setting plugin settings acme/marketing set", ["tone\tstring", "api_key\tsecret"]),
    ("setting plugin settings tickets set", []),
    ("role plugin approvers acme/marketing", ["editor\tapproves send_post"]),
    ("field plugin run acme/marketing --arg channel=blog", ["brief="]),
    ("schedule plugin run acme/marketing", ["0 14 * * MON"]),
    ("nonsense", []),
    ("", []),
]


@pytest.mark.parametrize(("asked", "answered"), ANSWERS)
def test_the_names_of_this_machine(
    here: World, capfd: pytest.CaptureFixture[str], asked: str, answered: list[str]
) -> None:
    for name, value in (("DRAFT", here.draft), ("PENDING", here.pending), ("FOLDER", str(here.workspace.parent))):
        asked = asked.replace(name, value)
        answered = [one.replace(name, value) for one in answered]
    # A description is cut where it is long, and how long a folder's name is depends on where the tests run.
    assert told(capfd, *shlex.split(asked)) == [cut(one) for one in answered]


def cut(line: str) -> str:
    name, tab, about = line.partition("\t")
    return name + tab + (about if len(about) <= 60 else f"{about[:59]}…")


def test_what_no_line_can_hold_is_left_out(here: World, capfd: pytest.CaptureFixture[str]) -> None:
    assert UNFIT
    assert told(capfd, "operation", "call", "unfit") == ["fit\tread"]


def test_descriptions_fit_a_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELM_CLI_HOME", str(tmp_path))
    folder = tmp_path / "drafts"
    folder.mkdir()
    title = "A\x1b[31m title\\n\u202e" + "of many words " * 20
    text = f'{{"plugin": "p", "title": "{title}"}}'.replace("\x1b", "\\u001b")
    (folder / "aaaaaaaa.draft.json").write_text(text)
    (folder / "bbbbbbbb.draft.json").write_text("no JSON")
    (folder / "cccccccc.draft.json").symlink_to(folder / "aaaaaaaa.draft.json")
    os.mkfifo(folder / "dddddddd.draft.json")
    (folder / "zu-short.draft.json").touch()
    with closing(Stores(tmp_path)) as stores:
        assert stores.db
    assert told(capfd, "draft") == [
        "aaaaaaaa\tp: A [31m title of many words of many words of many words o…",
        "bbbbbbbb\t:",
        "cccccccc\t:",
        "dddddddd\t:",
    ]


def test_the_folder_of_a_team_is_found(tmp_path: Path, here: World, capfd: pytest.CaptureFixture[str]) -> None:
    config = here.home / "config.toml"
    config.write_text(f'drafts_dir = "{tmp_path}"\n')
    (tmp_path / "abcdefgh.draft.json").write_text('{"plugin": "p", "title": "t"}')
    try:
        assert told(capfd, "draft") == ["abcdefgh\tp: t"]
    finally:
        config.unlink()


def snapshot(folder: Path) -> dict[str, tuple[int, int, int]]:
    return {
        str(path): (found.st_mtime_ns, found.st_size, found.st_mode)
        for path in [folder, *folder.rglob("*")]
        if (found := path.lstat())
    }


def test_nothing_is_changed(here: World, capfd: pytest.CaptureFixture[str]) -> None:
    before = snapshot(here.home)
    for kind in answer.KINDS:
        told(capfd, kind, "call", "app", "recent")
    assert snapshot(here.home) == before


def _garbage(home: Path) -> None:
    home.mkdir()
    (home / "state.db").write_bytes(b"no database" * 1000)


def _fifo(home: Path) -> None:
    home.mkdir()
    os.mkfifo(home / "state.db")


def _folders(home: Path) -> None:
    (home / "state.db").mkdir(parents=True)


def _empty(home: Path) -> None:
    home.mkdir()
    (home / "state.db").touch()


def _file(home: Path) -> None:
    home.touch()


def _torn(home: Path) -> None:
    """A manifest that is no JSON any more, as only somebody who edits state.db makes it."""
    with closing(Stores(home)) as stores:
        from tests.rig.completing import approve, manifest

        approve(stores, Path.cwd(), "x", manifest("x", "app", "recent"))
        stores.db.execute("UPDATE copies SET data = x'7b'")


WRONG = [lambda home: None, _garbage, _fifo, _folders, _empty, _file, _torn]


@pytest.mark.parametrize("wrong", WRONG)
def test_whatever_is_wrong_is_no_answer(tmp_path: Path, helm: Helm, wrong: object) -> None:
    home = tmp_path / "home"
    assert callable(wrong)
    wrong(home)
    before = snapshot(tmp_path)
    for words_ in ("connection call", "operation call app", "db"):
        ended = helm("--complete", *words_.split(), env={"HELM_CLI_HOME": str(home)})
        assert (ended.status, ended.out, ended.err) == (0, "", "")
    assert snapshot(tmp_path) == before


def test_a_state_that_is_being_written_is_not_waited_for(here: World, capfd: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(here.home / "state.db", isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert told(capfd, "connection", "call") == []
        assert told(capfd, "db") == ["local-app\tsqlite", "shop\tpostgres"]
        writer.execute("ROLLBACK")
    assert told(capfd, "operation", "call", "files")


@pytest.mark.parametrize("home", ["/x/y", "relative", None])
@pytest.mark.parametrize("own", ["/somebody", "relative", "", None])
def test_the_home_is_that_of_every_command(home: str | None, own: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("HELM_CLI_HOME", home), ("HOME", own)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    try:
        wanted = str(homes.locate())
    except HelmError:
        with pytest.raises(LookupError):
            place.home()
        return
    assert place.home() == wanted


PLACES = [
    (".", None, None),
    ("space", None, None),
    ("space/deep/er", None, None),
    ("tdt/in", None, None),
    ("link", None, None),
    ("own", None, None),
    ("own/below", None, None),
    ("/", None, None),
    (".", "space", None),
    (".", "link/deep", None),
    (".", "~", None),
    (".", "nowhere", None),
    (".", None, "tdt"),
    (".", "space", "tdt"),
]


@pytest.mark.parametrize(("folder", "named", "variable"), PLACES)
def test_the_workspace_is_that_of_every_command(
    folder: str, named: str | None, variable: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("space/deep/er", "tdt/in/.tdt", "tdt/.tdt", "own/below"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "tdt" / ".tdt" / "config.json").touch()
    (tmp_path / "link").symlink_to(tmp_path / "space")
    monkeypatch.setenv("HOME", str(tmp_path / "own"))
    if variable:
        monkeypatch.setenv("HELM_CLI_WORKSPACE", str(tmp_path / variable))
    monkeypatch.chdir(tmp_path / folder)
    at = None if named is None else named if named.startswith("~") else str(tmp_path / named)
    with closing(Stores(tmp_path / "home")) as stores:
        stores.db.execute("INSERT INTO workspaces (path, registered_at) VALUES (?, 1)", (str(tmp_path / "space"),))
        registered = {str(tmp_path / "space")}
        try:
            wanted = broker_workspace.find(stores, at).path
        except HelmError:
            with pytest.raises(LookupError):
                place.workspace(at, registered.__contains__)
            return
        assert place.workspace(at, registered.__contains__) == wanted


def _arguments(schema: dict[str, Json]) -> set[str]:
    properties = schema.get("properties", {})
    assert isinstance(properties, dict)
    return set(properties)


def _ours(here: World) -> Iterator[tuple[str, str, str, set[str]]]:
    with state.opened(str(here.home)) as db:
        for extension, connection in declared.connections(db, str(here.workspace)):
            one = declared.Declared(extension, connection)
            for operation in connection.operations:
                names = declared.arguments(db, str(here.workspace), one, operation)
                yield connection.id, operation.name, operation.effect, set(names)


def test_names_are_those_that_a_call_finds(here: World) -> None:
    """What is read in a hurry is what the dialects, the kinds and the approval say."""
    found = list(_ours(here))
    workspace = broker_workspace.Workspace(str(here.workspace), "")
    with closing(Stores(here.home)) as stores:
        known = broker.connections(stores, workspace)
        wanted = [
            (connection.id, operation.name, operation.effect)
            for connection in known.values()
            for operation in connection.operations
        ]
        assert sorted(one[:3] for one in found) == sorted(wanted)
        for id_, name, _, names in found:
            connection = known[id_]
            operation = connection.operation(name)
            assert operation is not None
            if connection.kind in ("db", "http", "files", "tools"):
                assert names == _arguments(kinds.kind(connection.kind).schema(connection, operation)), (id_, name)


def test_profiles_are_those_that_the_store_has(here: World) -> None:
    for group in profiles.GROUPS:
        folder = here.home / "profiles" / group
        for stray in (".hidden.toml", "UPPER.toml", "no-suffix", "-x.toml", f"{'a' * 65}.toml"):
            (folder / stray).touch()
        assert [name for name, _ in profiles.named(str(here.home), group)] == stored.names(here.home, group)


def test_options_that_take_no_value_are_known() -> None:
    """A word after one of these is an argument."""
    asking = {
        place_.command.path: place_.command
        for command in words.every(whole())
        for place_ in words.places(command)
        if place_.kind.way == "ask"
    }
    flags = {
        name
        for path, command in asking.items()
        if path[0] in ("call", "confirm", "history", "draft", "plugin")
        for option in words.options(command)
        if option.value is None
        for name in option.names
    }
    assert flags - line.FLAGS == set()
    alone = {path[0] for path in asking if len(path) == 1}
    assert alone == {"call", "confirm", "history"}


def test_every_question_of_the_scripts_has_an_answer() -> None:
    asked = {kind.words[0] for kind in words.by_kind(whole()) if kind.way == "ask"}
    assert asked == set(answer.KINDS)
