"""What each command loads, for time at the start is spent on imports: a command pays for what it needs and no more."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from helm_cli.cli import COMMANDS
from tests import example
from tests.program import Finished, Helm, run

# Packages that are loaded only by the command that needs them.
HEAVY: Final = frozenset(
    [
        *("rich", "httpx", "httpx2", "keyring", "secretstorage", "jeepney", "pydantic", "psycopg", "mysql", "mcp"),
        *("questionary", "prompt_toolkit", "jsonschema", "tomlkit", "yaml"),
        *("asyncio", "ssl", "http", "email", "importlib.metadata"),
    ]
)

# Runs helm with the rest of the arguments and then writes the names of all loaded modules to the first one.
LISTING: Final = """
import sys
from helm_cli.__main__ import main
file, *arguments = sys.argv[1:]
status = main(arguments)
loaded = sorted(sys.modules)
import json, os
with open(file, "w") as out:
    json.dump(loaded, out)
sys.stdout.flush()
os._exit(status)
"""

Loaded = Callable[..., set[str]]


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    """Runs helm and gives the modules that were loaded when it was done."""

    def listing(*arguments: str, cwd: Path | None = None, status: int = 0) -> set[str]:
        file = tmp_path / "modules.json"
        finished: Finished = run([sys.executable, "-c", LISTING, str(file), *arguments], cwd=cwd)
        assert finished.status == status, finished
        return set(json.loads(file.read_text()))

    return listing


@pytest.fixture
def workspace(tmp_path: Path, helm: Helm) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    example.ready(helm, folder)
    assert helm("service", "add", "local", "--base-url", "http://localhost:1", "--no-token").status == 0
    return folder


def test_the_version_loads_nothing(loaded: Loaded) -> None:
    ours = {name for name in loaded("--version") if name.partition(".")[0] in ("helm_cli", "typer")}
    assert ours == {"helm_cli", "helm_cli.__main__"}


def test_help_loads_no_command(loaded: Loaded) -> None:
    modules = loaded("--help")
    assert not modules & {f"helm_cli.cli.{name}" for name in COMMANDS}
    assert not modules & HEAVY


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_help_loads_that_command(loaded: Loaded, name: str) -> None:
    modules = loaded(name, "--help")
    assert {f"helm_cli.cli.{other}" for other in COMMANDS} & modules == {f"helm_cli.cli.{name}"}
    assert not modules & HEAVY


RECENT: Final = "call app recent --arg status=open --arg limit=20"

# Command -> its exit status without a person, and which of HEAVY it may load.
NEEDED: Final[dict[str, tuple[int, set[str]]]] = {
    RECENT: (0, set()),
    f"{RECENT} -o csv": (0, set()),
    f"{RECENT} --dry-run": (0, set()),
    "call app close --arg id=1": (7, set()),
    "call app nothing": (3, set()),
    "confirm --list": (0, set()),
    "history": (0, set()),
    # It asks the keychain, if any.
    "doctor --offline": (0, {"secretstorage", "jeepney", "keyring", "importlib.metadata", "email", "http", "ssl"}),
    "agent status": (10, set()),
    "agent stop": (0, set()),
    "db list": (0, set()),
    "db show local-app": (0, set()),
    "db add other --engine sqlite --path other.db": (0, set()),
    "db test local-app": (0, set()),
    "db edit local-app --path other.db": (0, {"tomlkit"}),
    "db remove local-app": (0, set()),
    "db import": (0, set()),
    "service add other --base-url http://localhost:1 --no-token": (0, set()),
    "service add cal --base-url http://localhost:1 --oauth2 --client-id c": (0, set()),
    "service list": (0, set()),
    "service show local": (0, set()),
    "service edit local --base-url http://localhost:2": (0, {"tomlkit"}),
    "service remove local": (0, set()),
    "service import": (0, set()),
    "oauth status": (0, set()),
    "oauth connect local": (3, set()),
    "oauth disconnect local": (3, set()),
    "mcp list": (0, set()),
    "mcp add other -- true": (0, set()),
    "mcp test nope": (4, set()),
    "mcp tools nope": (4, set()),
    "mcp import nope.json": (2, set()),
    "project add .": (0, set()),
    "project list": (0, set()),
    "workspace show": (0, set()),
    "config export": (0, set()),
    "config export helm.toml": (0, set()),
    "config import nope.toml": (2, set()),
    "workspace set --tdt-profile read-only": (2, set()),
    "plugin list": (0, set()),
    "plugin show tickets": (0, set()),
    "plugin validate tickets": (0, {"jsonschema"}),
    "plugin review tickets": (0, {"jsonschema"}),
    "plugin review tickets --check": (0, {"jsonschema"}),
    "plugin disable tickets": (0, set()),
    "plugin forget tickets": (0, set()),
    "plugin settings tickets": (3, set()),
    "plugin bind tickets post --service local --method GET --path /": (3, set()),
    "plugin schema": (0, set()),
    "plugin reference": (0, set()),
    "plugin new mine": (0, set()),
    "plugin due": (0, set()),
    "plugin run tickets": (3, set()),
    "plugin usage tickets": (3, set()),
    "plugin approvers tickets": (3, set()),
    "draft list": (0, set()),
    "draft show abcdefgh": (3, set()),
    "draft add --plugin tickets --kind blog --title T": (3, set()),
}


@pytest.mark.parametrize("line", NEEDED)
def test_a_command_loads_what_it_needs(loaded: Loaded, workspace: Path, line: str) -> None:
    status, needed = NEEDED[line]
    assert loaded(*line.split(), cwd=workspace, status=status) & HEAVY <= needed


def test_a_look_that_asks_no_keychain_loads_nothing_heavy(
    loaded: Loaded, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    assert not loaded("doctor", "--offline", cwd=workspace) & HEAVY


def test_names_are_completed_by_what_reads_them_alone(loaded: Loaded, workspace: Path) -> None:
    """A shell asks at each Tab: no typer, no dialect, no pathlib; and no SQLite for profiles, which are files."""
    modules = loaded("--complete", "operation", "call", "app", cwd=workspace)
    assert not modules & (HEAVY | {"typer", "pathlib", "hashlib", "inspect", "subprocess"})
    assert {name for name in modules if name.startswith("helm_cli.")} == {
        "helm_cli.__main__",
        "helm_cli.complete",
        *(
            "helm_cli.complete.answer",
            "helm_cli.complete.declared",
            "helm_cli.complete.drafts",
            "helm_cli.complete.known",
        ),
        *("helm_cli.complete.line", "helm_cli.complete.place", "helm_cli.complete.profiles", "helm_cli.complete.state"),
        *("helm_cli.model", "helm_cli.model.extension", "helm_cli.model.plugin"),
    }
    assert not loaded("--complete", "db", cwd=workspace) & {"sqlite3", "json", "typer"}


# What httpx cannot do without; not its own command line, and no store of secrets where the profile has none.
FOR_HTTP: Final = {"httpx", "ssl", "http", "email"}


@pytest.mark.parametrize(
    ("words", "status", "needed"),
    [("call web get", 10, FOR_HTTP), ("call web get --dry-run", 0, set()), ("call web put", 7, set())],
)
def test_a_call_of_a_service_loads_httpx_when_it_is_sent(
    loaded: Loaded, helm: Helm, workspace: Path, words: str, status: int, needed: set[str]
) -> None:
    calls = {"get": {"method": "GET", "path": "/"}, "put": {"method": "PUT", "path": "/", "write": True}}
    connection = {"id": "web", "kind": "http", "service": "local", "calls": calls}
    manifest = {"id": "web", "permissions": {"write": True}, "connections": [connection]}
    folder = workspace / "web"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    digest = helm("plugin", "review", "web", "-o", "json", cwd=workspace).json["digest"]
    assert helm("plugin", "review", "web", "--approve", digest, cwd=workspace).status == 0
    modules = loaded(*words.split(), cwd=workspace, status=status)
    assert modules & HEAVY <= needed
    assert not modules & {"click", "pygments", "httpx._main"}
