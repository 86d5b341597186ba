"""The man pages: as the commands are, sound to both programs that show them, and true about what helm reads."""

import ast
import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from helm_cli import __version__
from helm_cli.cli import db_sources
from helm_cli.cli.tree import whole
from helm_cli.drivers import browser, http_line
from helm_cli.model.command import Command
from helm_cli.model.errors import EXIT, INTERRUPTED
from helm_cli.model.profile import SAFE_VARIABLES
from helm_cli.store import config, credentials, credentials_file, database, drafts, profiles, shell_history
from helm_cli.view import man, manual, mdoc
from tests.program import ROOT, run
from tests.rig import reaching

FOLDER: Final = ROOT / "man"
SECTIONS: Final = (
    "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES", "SEE ALSO"
)  # fmt: skip


@pytest.fixture(scope="module")
def tree() -> Command:
    return whole()


@pytest.fixture(scope="module")
def pages(tree: Command) -> dict[str, str]:
    return man.pages(tree)


def every(command: Command) -> Iterator[Command]:
    yield command
    for below in command.commands:
        yield from every(below)


def test_the_pages_are_those_of_the_commands(pages: dict[str, str], update: bool) -> None:
    if update:
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir()
        for name, text in pages.items():
            (FOLDER / name).write_text(text)
    kept = {path.name: path.read_text() for path in FOLDER.iterdir()}
    assert kept.keys() == pages.keys(), "pytest --update writes man/ anew"
    assert [name for name in pages if kept[name] != pages[name]] == [], "pytest --update writes man/ anew"


def test_every_command_has_a_page_of_every_section(tree: Command, pages: dict[str, str]) -> None:
    commands = [*every(tree)]
    assert pages.keys() == {"-".join(("helm", *command.path)) + ".1" for command in commands}
    for command in commands:
        text = pages["-".join(("helm", *command.path)) + ".1"]
        found = re.findall(r"^\.Sh (.*)$", text, re.MULTILINE)
        assert found == [*SECTIONS[:4], *(["COMMANDS"] if command.commands else []), *SECTIONS[4:]], command.path
        assert f".Os helm {__version__}\n" in text


def test_nothing_is_wrong_with_them_to_mandoc(pages: dict[str, str], tmp_path: Path) -> None:
    """In one call and with their own index, so that a page that another names has to be there."""
    folder = tmp_path / "man" / "man1"
    folder.mkdir(parents=True)
    for name, text in pages.items():
        (folder / name).write_text(text)
    files = sorted(map(str, folder.iterdir()))
    # It stands where no PATH of a user's may lead.
    makewhatis = shutil.which("makewhatis", path=f"{os.environ['PATH']}:/usr/sbin") or ""
    assert run([makewhatis, str(folder.parent)]) == (0, "", "")
    assert run(["mandoc", "-T", "lint", "-W", "style", *files], env={"MANPATH": str(folder.parent)}) == (0, "", "")


def shown(text: str, width: int, tmp_path: Path) -> list[str]:
    """A page as mandoc shows it, without the marks of bold and underlined letters."""
    file = tmp_path / "page.1"
    file.write_text(text)
    ended = run(["mandoc", "-T", "utf8", "-O", f"width={width}", str(file)])
    assert (ended.status, ended.err) == (0, "")
    return re.sub(r".\x08", "", ended.out).splitlines()


@pytest.mark.parametrize("width", [60, 100])
def test_a_page_as_it_is_read(pages: dict[str, str], tmp_path: Path, width: int) -> None:
    """Only what is typed goes on where a screen is narrower than usual: it could not be pasted else."""
    lines = shown(pages["helm-mcp-add.1"], width, tmp_path)
    assert max(map(len, lines[: lines.index("EXAMPLES")])) <= width
    assert max(map(len, lines)) <= max(width, 80)
    text = " ".join(" ".join(lines).split())
    assert "add an MCP server profile; nothing is started, and a token goes to the" in text
    assert "helm mcp add [--url URL] [--token-env VAR] [--token-stdin] [--start-seconds N] [--force] [-q] [-v]" in text
    assert "[NAME] [-- COMMAND ARG ...]" in text


@pytest.mark.parametrize("name", ["helm", "helm-db-query", "helm-call", "helm-plugin-settings"])
def test_an_example_can_be_pasted_from_the_page(
    tree: Command, pages: dict[str, str], tmp_path: Path, name: str
) -> None:
    """What is shown is what is typed: no curly quotes, no other hyphens, and a line that goes on says so."""
    command = next(one for one in every(tree) if "-".join(("helm", *one.path)) == name)
    lines = shown(pages[f"{name}.1"], 100, tmp_path)
    typed = "\n".join(line.strip() for line in lines[lines.index("EXAMPLES") + 1 : lines.index("SEE ALSO")]).strip()
    assert typed.replace(" \\\n", " ").splitlines() == [*command.examples]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (".profile is read", r"\&.profile is read"),
        ("'tis so", r"\&'tis so"),
        (r"a \ stands", r"a \e stands"),
        ("a well-known --flag and -o", r"a well-known \-\-flag and \-o"),
        ("write `it's -a` now", r"write it\(aqs \-a now"),
        ("in ~/.helm/state.db", r"in \(ti/.helm/state.db"),
        ("an … and é", r"an \[u2026] and \[u00E9]"),
    ],
)
def test_text_is_shown_as_it_is(text: str, source: str) -> None:
    assert [*mdoc.paragraph(text)] == [source]


def test_sentences_begin_on_lines_of_their_own() -> None:
    assert [*mdoc.paragraph("One. Two! Three? Four")] == ["One.", "Two!", "Three?", "Four"]


def test_a_word_that_is_a_macros_name_is_none() -> None:
    assert [mdoc.argument(word) for word in ("Op", "Brq", "NAME", "-")] == [r"\&Op", r"\&Brq", "NAME", r"\-"]


# Where the names of variables stand in a table or a constant, which the test asks.
NAMED_ELSEWHERE: Final = frozenset(
    [
        *("agent/place.py", "broker/health_secrets.py", "cli/completion_place.py", "cli/db_sources.py"),
        *("drivers/browser.py", "drivers/http_line.py", "drivers/mcp_child.py", "store/credentials.py"),
    ]
)
# Where names of variables come from elsewhere than the line that reads them, with why none of them is told of.
READS_BY_OTHER_NAMES: Final = {
    "agent/surroundings.py": "hands the agent the caller's, all of which are told of or are the system's own",
    "cli/demo.py": "hands them on",
    "cli/given.py": "the one that --from-env names",
    "drivers/__init__.py": "takes SSLKEYLOGFILE away",
    "drivers/desktop.py": "hands what a notification needs to the desktop's own program",
    "drivers/postgres_connect.py": "takes PG* away",
    "drivers/sqlite_worker.py": "hands them on",
    "store/keychain.py": "undoes KEYRING_PROPERTY_*",
}


def test_every_variable_that_helm_reads_is_told_of() -> None:
    """And none that it does not."""
    reads, others = set[str](), set[str]()
    for path in sorted((ROOT / "helm_cli").rglob("*.py")):
        nodes = [*ast.walk(ast.parse(path.read_text()))]
        names = [name for node in nodes if (name := read(node)) is not None]
        reads.update(names)
        if sum(isinstance(node, ast.Attribute) and ast.unparse(node) == "os.environ" for node in nodes) > len(names):
            others.add(str(path.relative_to(ROOT / "helm_cli")))
    reads |= {credentials.VARIABLE, *browser._DISPLAYS, *http_line._AUTHORITIES, *SAFE_VARIABLES, db_sources.VARIABLE}
    reads |= {name.upper() for name in http_line._PROXIES} | {
        "NO_PROXY",
        "XDG_RUNTIME_DIR",
        "TMPDIR",
        "XDG_DATA_HOME",
        "ZDOTDIR",
    }
    told = [name for one in manual.VARIABLES for name in one.names]
    assert len(told) == len(set(told))
    assert reads == set(told)
    assert others == NAMED_ELSEWHERE | READS_BY_OTHER_NAMES.keys()


def read(node: ast.AST) -> str | None:
    """The variable that a piece of the code reads, if it is named there."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "os.environ.get":
        return named(node.args[0])
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
        return named(node.slice)
    if isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) == "os.environ":
        return named(node.left)
    return None


def named(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def test_every_file_that_helm_keeps_is_told_of() -> None:
    kept = [config.NAME, credentials_file.NAME, database.NAME, drafts.NAME, shell_history.NAME, "run"]
    told = {path.removeprefix("~/.helm").strip("/") for path, _ in manual.FILES}
    assert told == {"", *kept, f"{profiles.FOLDER}/GROUP/NAME.toml"}


def test_every_exit_status_is_told_of(tree: Command) -> None:
    assert set(manual.STATUSES) == {0, *EXIT.values(), INTERRUPTED}
    assert all({0, 1, 2, INTERRUPTED} <= {*manual.statuses(one)} for one in every(tree))
    paths = {" ".join(command.path) for command in every(tree)}
    assert not [words for words in manual._MATTER if words not in paths]
    assert not [words for one in manual.VARIABLES for words in one.commands if words not in paths]


# What a variable is read for -> the functions that come to that.
READ_FOR: Final = {
    "HTTPS_PROXY": ("helm_cli.drivers.driver", "helm_cli.drivers.exchange.exchange"),
    "SSL_CERT_FILE": ("helm_cli.drivers.driver", "helm_cli.drivers.exchange.exchange"),
    "PATH": ("helm_cli.drivers.driver", "helm_cli.drivers.mcp_child.environment"),
    "HELM_CLI_CREDENTIALS": ("helm_cli.store.credentials.VARIABLE",),
    "XDG_RUNTIME_DIR": ("helm_cli.agent.client.perform", "helm_cli.agent.client.read", "helm_cli.agent.control.status"),
}
# What a command comes to in another process, or by a name that is looked up, which the code does not tell.
BESIDES: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    ("agent", "start"): ("HTTPS_PROXY", "SSL_CERT_FILE", "PATH"),
    ("doctor",): ("HELM_CLI_WORKSPACE",),
    ("mcp", "serve"): ("HTTPS_PROXY", "SSL_CERT_FILE", "PATH", "XDG_RUNTIME_DIR"),
}


def wanted(command: Command) -> set[str]:
    """The variables that a command goes by, of those whose reading the code tells."""
    reached = reaching.command(command.path)
    found = {name for name, functions in READ_FOR.items() if reached.intersection(functions)}
    definitions = reaching.code().definitions
    if any("place.workspace(" in ast.unparse(definitions[one][1]) for one in reached):
        found.add("HELM_CLI_WORKSPACE")
    # Databases are reached directly, and service test starts no command.
    if command.path[0] == "db":
        found -= {"HTTPS_PROXY", "SSL_CERT_FILE", "PATH"}
    if command.path == ("service", "test"):
        found -= {"PATH"}
    return found | {*BESIDES.get(command.path, ())}


def test_every_command_tells_of_the_variables_that_it_goes_by(tree: Command) -> None:
    leaves = [one for one in every(tree) if not one.commands]
    missing = {}
    for one in leaves:
        told = {name for row in manual.variables(one) for name in row.names}
        missing[" ".join(one.path)] = wanted(one) - told
    assert {path: names for path, names in missing.items() if names} == {}
    sending = {" ".join(one.path) for one in leaves if "HTTPS_PROXY" in wanted(one)}
    assert {"call", "confirm", "doctor", "draft publish", "mcp test", "oauth connect", "service test"} <= sending


def test_a_command_that_sends_calls_tells_of_all_that_may_come_of_one(tree: Command) -> None:
    raised = set[str]()
    for path in (ROOT / "helm_cli" / "drivers").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("HelmError") and node.args:
                raised.add(named(node.args[0]) or "")
    come = {EXIT[code] for code in raised if code in EXIT} | {
        EXIT[code] for code in ("declined", "state", "http_error")
    }
    assert come >= {1, 4, 5, 9, 10, 11, 12, 13, 14, 15}
    for command in every(tree):
        if command.path in (("call",), ("confirm",), ("draft", "publish")):
            assert come <= {*manual.statuses(command)}, command.path


def test_the_wheel_has_them_where_man_looks() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert build["shared-data"]["man"] == "share/man/man1"
    assert os.listdir(FOLDER)
