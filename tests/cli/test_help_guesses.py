"""What who knows gh, psql, HTTPie or kubectl types first, and where helm points then: never to nowhere."""

from pathlib import Path
from typing import Final

import pytest

from helm_cli import cli
from helm_cli.cli import COMMANDS
from helm_cli.cli.tree import whole
from helm_cli.cli.wrong import _OPTIONS, _UNDOES, SYNONYMS
from helm_cli.model.command import Command
from tests import example
from tests.program import Helm

# Words -> the command that helm asks whether it was meant.
COMMAND: Final = {
    "add": "db add, service add or mcp add",
    "agent restart": "stop, then start",
    "agent run": "start",
    "api": "call",
    "approve x": "plugin review",
    "auth login": "oauth",
    "autocomplete": "completion",
    "completions": "completion",
    "connect github": "oauth connect",
    "connections": "db, service or mcp",
    "databases": "db",
    "db connect shop": "shell",
    "db create shop": "add",
    "db delete shop": "remove",
    "db exec shop": "query",
    "db get shop": "show",
    "get db": "db list, service list or mcp list",
    "db ls": "list",
    "db ping shop": "test",
    "db rm shop": "remove",
    "db sql shop": "query",
    "db update shop": "edit",
    "draft create": "add",
    "env": "doctor",
    "exec app recent": "call",
    "export": "config export",
    "extensions": "plugin",
    "health": "doctor",
    "import file": "config import, db import, service import or mcp import",
    "init": "plugin new",
    "install tickets": "plugin review",
    "list": "plugin list",
    "login": "oauth connect",
    "logout": "oauth disconnect",
    "logs": "history",
    "ls": "plugin list",
    "mcp run": "serve",
    "mcp start": "serve",
    "new": "plugin new",
    "oauth login x": "connect",
    "oauth logout x": "disconnect",
    "pending": "confirm --list",
    "plugin add x": "review",
    "draft delete x": "reject",
    "draft disapprove x": "reject",
    "draft remove x": "reject",
    "oauth remove x": "disconnect",
    "plugin approve x": "review",
    "plugin disapprove x": "forget",
    "plugin remove x": "forget",
    "plugin remvoe x": "forget",
    "plugin update x": "review",
    "plugin install x": "review",
    "plugin rm x": "forget",
    "plugin status": "list",
    "plugins": "plugin",
    "plugn": "plugin",
    "profiles": "db, service or mcp",
    "project create": "add",
    "query": "db query",
    "run app recent": "call",
    "secret set x": "service edit or db edit",
    "serve": "mcp serve",
    "service login x": "helm oauth connect",
    "service history": "helm history",
    "services": "service",
    "shell": "db shell",
    "sql": "db query",
    "status": "doctor",
    "tools": "mcp tools",
    "whoami": "oauth status",
    "workspace status": "show",
    "workspace use x": "set",
}

# Words -> the options of which helm asks whether they were meant.
OPTION: Final = {
    "call app recent --field status=open": "--arg",
    "call app recent --frobnicate": None,
    "call app recent --format json": "--output",
    "call app recent --json": "--output json",
    "call app recent --pluging tickets": "--plugin",
    "call app recent -d {}": "--args",
    "call app recent -f status=open": "--arg",
    "db add x --dbname d": "--database",
    "db add x --hots h": "--host",
    "db add x --pass p": "--password-stdin",
    "db add x --password p": "--password-stdin",
    "db add x --url u": "--from-env",
    "db add x --username u": "--user",
    "db add x -U me": "--user",
    "db add x -p 1": "--port",
    "service add x --token t": "--token-stdin",
    "service add x --secret t": "--client-secret-stdin",
    "service add x --url u": "--base-url",
}

# Words -> what else helm says to them.
OTHERWISE: Final = {
    "call app recent --yes": "there is no option --yes: a write is confirmed by a person, in a terminal",
    "call app recent -y": "there is no option -y: a write is confirmed by a person, in a terminal",
    "call app recent --status=open": "there is no option --status; an argument of the operation is --arg status=VALUE",
    "call app recent status=open": "a call takes its arguments as options; did you mean --arg NAME=VALUE?",
    "call --list": "there is no option --list: helm call alone names the connections, and helm call CONNECTION its"
    " calls",
    "config reset": "there is no command reset: settings stand in config.toml in helm's home, which is yours to edit",
    "config set x y": "there is no command set: settings stand in config.toml in helm's home, which is yours to edit",
    "confirm ls": "ls is the id of nothing that waits; did you mean helm confirm --list?",
    "db show": "NAME is missing",
    "db query x": "SQL is missing",
    "history clear": "nothing is to follow here; the newest 10,000 calls are kept, and older ones go by themselves",
    "history ls": "nothing is to follow here; helm history alone lists the calls",
    "agent start now": "nothing is to follow here, and there is a word more",
    "call a b -o jsno": "-o takes auto, json, pretty, data, table, csv, tsv, ndjson or text; did you mean json?",
    "call a b --jobs many": "--jobs takes a whole number from 1 to 64",
    "call a b --jobs": "--jobs needs a value",
    "call a b --dry-run=yes": "--dry-run takes no value",
    "history -n 0": "--limit takes a whole number from 1 to 10000",
    "db add x postgres://h/db": "nothing is to follow NAME, and there is a word more; a connection URL is read from a"
    " variable, --from-env VAR",
    "db add x pw": "nothing is to follow NAME, and there is a word more; a secret is piped in, --password-stdin",
    "service add x https://h": "nothing is to follow NAME, and there is a word more; a URL is given with --base-url"
    " URL",
    "service add x pw": "nothing is to follow NAME, and there is a word more; a secret is piped in, --token-stdin",
    "call https://h/x y": "a call names a CONNECTION that an extension declares, not a URL; see helm call",
    "plugin edit x": "there is no command edit: an extension is its folder, which is yours to edit; then helm plugin"
    " review it",
    "repo list": "there is no command repo: this helm makes calls for scripts and agents; the one of Kubernetes is"
    " another program",
    "uninstall": "there is no command uninstall: helm plugin forget takes an extension back, and helm completion SHELL"
    " --uninstall the completion",
    "mcp add x docker run -q image": "-q may be helm's or the server's; write -- before the server's command",
    "mcp add x prog -vqv": "-vqv may be helm's or the server's; write -- before the server's command",
    "mcp add x prog -vvq y": "-vvq may be helm's or the server's; write -- before the server's command",
    "mcp edit x prog -qq": "-qq may be helm's or the server's; write -- before the server's command",
    "mcp edit x -vq prog": "-vq may be helm's or the server's; write -- before the server's command",
    "mcp edit x docker --quiet": "--quiet may be helm's or the server's; write -- before the server's command",
    "frobnicate": "there is no such command",
    "it's": "there is no such command",
}


def answer(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that is said to words that are not understood."""
    assert cli.run(words.split()) == 2
    err = capsys.readouterr().err
    assert err.startswith("helm: ") and err.count("\n") == 1
    return err.removeprefix("helm: ").rstrip("\n").partition(" (see ")[0]


@pytest.mark.parametrize("words", COMMAND)
def test_a_command_of_another_name(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = answer(words, capsys)
    assert said.startswith("there is no command ")
    assert said.endswith(f"; did you mean {COMMAND[words]}?")


@pytest.mark.parametrize("words", OPTION)
def test_an_option_of_another_name(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = answer(words, capsys)
    assert said.startswith("there is no option -")
    hint = OPTION[words]
    assert said.endswith(f"; did you mean {hint}?") if hint else "did you mean" not in said


@pytest.mark.parametrize("words", OTHERWISE)
def test_another_mistake(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(words, capsys) == OTHERWISE[words]


@pytest.mark.parametrize("words", ["version", "-V", "--version"])
def test_the_version_is_had_in_every_way(words: str, helm: Helm) -> None:
    assert helm(words) == helm("--version")


def test_help_is_had_in_every_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["db", "add", "--help"]) == 0
    page = capsys.readouterr()
    for words in ("help db add", "db add -h", "-v db add -q -h", "-q help db add", "db help add", "db help -q add"):
        assert cli.run(words.split()) == 0
        assert capsys.readouterr() == page


@pytest.fixture
def ready(tmp_path: Path, helm: Helm, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workspace in which the extension tickets is approved, and the profile local-app there."""
    example.ready(helm, tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "status", "hint"),
    [
        ("call app.recent", 2, "did you mean helm call app recent?"),
        ("call app/recent", 2, "did you mean helm call app recent?"),
        ("call ap recent", 3, "did you mean app?"),
        ("call recent", 2, "recent is one of app: did you mean helm call app recent?"),
        ("plugin check ./tickets", 3, "a folder is looked at with: helm plugin review ./tickets"),
        ("call ap", 2, "did you mean helm call app?"),
        ("call app recnt", 3, "did you mean recent?"),
        ("call app recent --plugin ticket", 3, "did you mean tickets?"),
        ("plugin show ticktes", 3, "did you mean tickets?"),
        ("db show local-ap", 4, "(did you mean local-app?); add it with: helm db add local-ap"),
    ],
)
def test_a_name_that_is_nearly_right(helm: Helm, ready: None, words: str, status: int, hint: str) -> None:
    ended = helm(*words.split())
    assert ended.status == status
    assert ended.err.endswith(f"{hint}\n")


def test_what_is_suggested_is_there() -> None:
    """Every row of the two tables leads to something, in some group; none is for a word that is a command."""
    commands, options = set[str](), set[str]()

    def walk(command: Command) -> None:
        commands.add(" ".join(command.path))
        options.update(name for option in command.options for name in option.names)
        for below in command.commands:
            walk(below)

    walk(whole())
    last = {path.split()[-1] for path in commands if path} | commands
    for word, meant in SYNONYMS.items():
        assert word not in COMMANDS
        for named in (part for one in meant for part in one.replace(" or ", ", ").split(", ")):
            assert named.removeprefix("then ").removeprefix("helm ").partition(" --")[0] in last, (word, named)
    assert not [name for meant in _OPTIONS.values() for name in meant if name.split()[0] not in options]


# The commands after which more may be done or is kept than before, and one that only some take for taking back.
GIVES_MORE: Final = frozenset(
    [
        *("add", "approve", "approvers", "bind", "confirm", "connect", "edit", "enable", "import", "new", "publish"),
        *("query", "review", "run", "serve", "set", "settings", "shell", "start"),
    ]
)


def test_for_a_verb_that_takes_back_nothing_is_suggested_that_gives(capsys: pytest.CaptureFixture[str]) -> None:
    """In any group, also for a slip of the fingers, and for a command of the group with un- or dis- before it."""
    tree = whole()
    slips = [verb[:2] + verb[3] + verb[2] + verb[4:] for verb in _UNDOES if len(verb) > 5]
    suggested = dict[str, str]()
    for group in (one for one in tree.commands if one.commands):
        there = {one.name for one in group.commands}
        undone = [f"{before}{name}" for name in there for before in ("un", "dis")]
        for word in {*_UNDOES, *slips, *undone} - there:
            said = answer(f"{group.name} {word} x", capsys)
            if "did you mean" in said:
                suggested[f"{group.name} {word}"] = said.rpartition(" ")[2].rstrip("?")
    assert len(suggested) > 50
    assert not {words: name for words, name in suggested.items() if name in GIVES_MORE}
