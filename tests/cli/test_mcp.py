"""`helm mcp` as a program: servers added, changed, listed, tried and removed; tokens only in the credential store."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.broker.folders import manifest, write
from tests.program import Finished, Helm
from tests.rig import peers
from tests.rig.kept import holding, kept
from tests.rig.keyring_session import KeyringSession
from tests.rig.terminal import CTRL_C, ENTER, at_terminal
from tests.rig.tool_server import command, tool

SECRET = "canary-3c6a"
FILE = {"HELM_CLI_CREDENTIALS": "file"}
# Of any program that is no server: it ends at once.
PROGRAM = "true"
URL = "https://mcp.test/mcp"


def mcp(helm: Helm, *words: str, stdin: str = "", env: dict[str, str] | None = None) -> Finished:
    return helm("mcp", *words, stdin=stdin, env=env if env is not None else FILE)


def toml(home: Path, name: str) -> str:
    return (home / "profiles" / "mcp" / f"{name}.toml").read_text()


def test_commands_and_urls_are_added_and_listed(helm: Helm, home: Path) -> None:
    assert mcp(helm, "add", "files", "--", PROGRAM, "-m", "files", "--verbose", "/srv/a b").err == (
        "helm: added the MCP server profile files\n"
    )
    told = mcp(
        helm, "add", "github", "--token-env", "GITHUB_TOKEN", "--token-stdin", "--", PROGRAM, stdin=f"{SECRET}\n"
    )
    assert told.err == "helm: added the MCP server profile github, its token in the file\n"
    told = mcp(
        helm, "add", "linear", "--url", URL, "--token-stdin", "--start-seconds", "5", stdin=f"Bearer {SECRET}2\n"
    )
    assert told.err == "helm: added the MCP server profile linear, its token in the file\n"
    assert mcp(helm, "add", "open", "--url", "http://localhost:3000/mcp?a=1").status == 0
    assert mcp(helm, "list").out == (
        f"files\tstdio\t{PROGRAM} -m files --verbose '/srv/a b'\t\t\n"
        f"github\tstdio\t{PROGRAM}\tGITHUB_TOKEN\tfile\n"
        f"linear\thttp\t{URL}\t\tfile\n"
        "open\thttp\thttp://localhost:3000/mcp?a=1\t\t\n"
    )
    assert [row["name"] for row in mcp(helm, "list", "-o", "json").json] == ["files", "github", "linear", "open"]
    assert toml(home, "files") == f'command = ["{PROGRAM}", "-m", "files", "--verbose", "/srv/a b"]\n'
    assert toml(home, "linear") == f'url = "{URL}"\nstart_seconds = 5\ncredential = "file"\n'
    assert kept(home) == {"mcp/github/token": SECRET, "mcp/linear/token": f"{SECRET}2"}
    assert mcp(helm, "show", "github", "-o", "json").json == {
        "name": "github",
        "command": [PROGRAM],
        "token_env": "GITHUB_TOKEN",
        "start_seconds": 30,
        "credential": "file",
    }
    assert mcp(helm, "show", "files").out == (
        f"name           files\ncommand        {PROGRAM} -m files --verbose '/srv/a b'\nstart_seconds  30\n"
    )


@pytest.mark.contract("C11", "C14")
def test_a_token_is_in_one_private_file_and_nowhere_else(helm: Helm, home: Path) -> None:
    given: tuple[tuple[str, ...], ...] = (
        ("add", "github", "--token-env", "GITHUB_TOKEN", "--token-stdin", "--", PROGRAM),
        ("edit", "github", "--token-stdin"),
        ("add", "linear", "--url", URL, "--token-stdin"),
    )
    for words in given:
        told = mcp(helm, *words, stdin=SECRET)
        assert (told.status, SECRET in told.out + told.err) == (0, False)
    assert holding(home, SECRET) == ["credentials.json"]
    shown: tuple[tuple[str, ...], ...] = (("show", "github"), ("show", "linear", "-o", "json"), ("list",))
    for words in (*shown, ("test", "github")):
        told = mcp(helm, *words)
        assert SECRET not in told.out + told.err
    for name in ("github", "linear"):
        assert mcp(helm, "remove", name).err == f"helm: removed the MCP server profile {name}\n"
    assert holding(home, SECRET) == []
    assert mcp(helm, "remove", "github").status == 4


@pytest.mark.contract("C10")
def test_with_a_keychain_the_token_is_there(helm: Helm, home: Path, keyring: KeyringSession) -> None:
    told = mcp(helm, "add", "linear", "--url", URL, "--token-stdin", stdin=SECRET, env=keyring.environment)
    assert (told.status, told.err) == (0, "helm: added the MCP server profile linear, its token in the keychain\n")
    assert [value.endswith(SECRET) for value in keyring.secrets().values()] == [True]
    assert holding(home, SECRET) == []


@pytest.mark.parametrize(
    ("words", "stdin", "told"),
    [
        ((), "", "NAME is missing; give it, or run this in a terminal to be asked"),
        (("x",), "", "-- COMMAND or --url is missing; give it, or run this in a terminal to be asked"),
        (("x", "--url", URL, "--", PROGRAM), "", "a server is a command or a URL, and both were given; leave one out"),
        (("x", "--token-stdin", "--", PROGRAM), SECRET, "--token-stdin goes with --token-env VAR, the variable that"),
        (("x", "--token-env", "T", "--", PROGRAM), "", "--token-stdin is missing; give it, or run this in a terminal"),
        (("x", "--url", URL, "--token-env", "T"), "", "--token-env goes with a command; a URL gets its token as a"),
        (("x", "--token-env", "PATH", "--token-stdin", "--", PROGRAM), SECRET, "must not be one of the variables that"),
        (("x", "--token-env", "A B", "--token-stdin", "--", PROGRAM), SECRET, "must be the name of an environment"),
        (("x", "--url", URL, "--token-stdin"), "", "the token on standard input is empty; leave --token-stdin out"),
        (("x", "--url", URL, "--token-stdin"), f"{SECRET} {SECRET}", "the token of x must not contain a space"),
        (("x", "--url", URL, "--token-stdin"), f"{SECRET}\nx", "the token of x must be one line of printable ASCII"),
        (
            ("x", "--token-env", "T", "--token-stdin", "--", PROGRAM),
            f"{SECRET}\0",
            "holds a NUL, which no variable can",
        ),
        (
            ("x", "--url", "http://mcp.test"),
            "",
            "url must begin with https:// (http:// is permitted only for 127.0.0.1",
        ),
        (("x", "--url", f"https://u:{SECRET}@mcp.test"), "", "url must not contain credentials"),
        (("../x", "--url", URL), "", "cannot be the name of a profile"),
        (("x", "--", f"API_KEY={SECRET}", PROGRAM), "", "API_KEY=… is no program: a server gets one variable, "),
        (("x", "--", ""), "", "command must name a program"),
        (("x", "--start-seconds", "0", "--", PROGRAM), "", "--start-seconds takes a whole number from 1 to 600"),
    ],
)
def test_what_is_missing_or_wrong_is_named(
    helm: Helm, home: Path, words: tuple[str, ...], stdin: str, told: str
) -> None:
    ended = mcp(helm, "add", *words, stdin=stdin)
    assert (ended.status, ended.out) == (2, "")
    assert told in ended.err
    assert SECRET not in ended.err
    assert not (home / "profiles").exists()


def test_a_program_that_is_not_there_is_told_and_added_all_the_same(helm: Helm, home: Path) -> None:
    assert mcp(helm, "add", "x", "--", "no-such-program").err == (
        "helm: added the MCP server profile x\n"
        "helm: there is no program no-such-program here yet, or it may not be run\n"
    )
    assert toml(home, "x") == 'command = ["no-such-program"]\n'


def test_a_relative_program_is_that_of_this_folder(helm: Helm, home: Path) -> None:
    """Its arguments stay as they are, and one that names a file here is pointed out."""
    here = Path.cwd()
    (here / "bin").mkdir()
    (here / "bin" / "srv").write_text("#!/bin/sh\n")
    (here / "bin" / "srv").chmod(0o755)
    told = mcp(helm, "add", "x", "--", "./bin/srv", "bin/srv", "absent/file", ".")
    assert told.err == (
        "helm: added the MCP server profile x\n"
        "helm: bin/srv is sought in the workspace of each call; write it absolute to mean this file\n"
    )
    assert toml(home, "x") == f'command = ["{here}/bin/srv", "bin/srv", "absent/file", "."]\n'


def test_a_secret_in_the_open_is_warned_of_without_repeating_it(helm: Helm) -> None:
    told = mcp(helm, "add", "x", "--", PROGRAM, "--api-key", SECRET, f"DB_PASSWORD={SECRET}")
    assert (told.status, SECRET in told.err) == (0, False)
    advice = (
        "and stands open in the profile's file and where it is used; a command gets a secret by --token-env, a URL by"
        " --token-stdin"
    )
    assert told.err.splitlines()[1:] == [
        f"helm: --api-key in the command looks like a secret, {advice}",
        f"helm: DB_PASSWORD in the command looks like a secret, {advice}",
    ]
    told = mcp(helm, "add", "y", "--url", f"{URL}?api_key={SECRET}")
    assert told.err.splitlines()[1:] == [f"helm: the parameter api_key of the URL looks like a secret, {advice}"]


def test_a_second_add_is_refused_before_a_token_is_read_and_force_replaces(helm: Helm, home: Path) -> None:
    mcp(helm, "add", "x", "--url", URL, "--token-stdin", stdin=SECRET)
    again = mcp(helm, "add", "x", "--", PROGRAM)
    assert (again.status, again.err) == (
        15,
        "helm: the mcp profile x exists; change it with edit or replace it with --force\n",
    )
    for _ in range(2):
        assert mcp(helm, "add", "x", "--force", "--", PROGRAM).status == 0
    assert toml(home, "x") == f'command = ["{PROGRAM}"]\n'
    assert kept(home) == {}


def test_an_edit_keeps_comments_and_what_was_not_given(helm: Helm, home: Path) -> None:
    mcp(helm, "add", "x", "--token-env", "TOKEN", "--token-stdin", "--", PROGRAM, "a", stdin=SECRET)
    file = home / "profiles" / "mcp" / "x.toml"
    file.write_text("# mine\n" + file.read_text())
    assert mcp(helm, "edit", "x", "--start-seconds", "60").err == "helm: changed the MCP server profile x\n"
    assert mcp(helm, "edit", "x", "--token-env", "OTHER").status == 0
    assert toml(home, "x") == (
        f'# mine\ncommand = ["{PROGRAM}", "a"]\ntoken_env = "OTHER"\ncredential = "file"\nstart_seconds = 60\n'
    )
    assert (kept(home), mcp(helm, "edit", "x").status) == ({"mcp/x/token": SECRET}, 2)
    assert mcp(helm, "edit", "nope", "--url", URL).status == 4


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("add", "", "--", PROGRAM), "NAME"),
        (("add", "y", "--url", ""), "--url"),
        (("add", "y", "--token-env", "", "--", PROGRAM), "--token-env"),
        (("edit", "x", "--url", ""), "--url"),
        (("edit", "x", "--token-env", ""), "--token-env"),
    ],
)
def test_an_empty_value_is_none(helm: Helm, home: Path, words: tuple[str, ...], name: str) -> None:
    assert mcp(helm, "add", "x", "--", PROGRAM).status == 0
    told = mcp(helm, *words)
    assert (told.status, told.err) == (2, f"helm: {name} is empty; give it a value, or leave it out\n")
    assert [path.name for path in (home / "profiles" / "mcp").iterdir()] == ["x.toml"]


def test_a_token_is_not_used_for_another_target(helm: Helm, home: Path) -> None:
    mcp(helm, "add", "x", "--token-env", "TOKEN", "--token-stdin", "--", PROGRAM, stdin=SECRET)
    told = mcp(helm, "edit", "x", "--", PROGRAM, "-c", "import os; print(os.environ)")
    again = "enter its secret again with: helm mcp edit x --ask-token (or --token-stdin)"
    assert told.err.splitlines()[0] == f"helm: the target of x changed; before you use it, {again}"
    for words in (("test", "x"), ("tools", "x")):
        told = mcp(helm, *words)
        assert (told.status, told.out, told.err) == (4, "", f"helm: the target of x changed; {again}\n")
    assert mcp(helm, "edit", "x", "--", PROGRAM).status == 0
    assert mcp(helm, "test", "x").status == 10
    # By hand, and to a URL: neither gets what was entered for the command.
    (home / "profiles" / "mcp" / "x.toml").write_text(f'url = "{URL}"\ncredential = "file"\n')
    assert mcp(helm, "test", "x").status == 4


def test_an_edit_between_a_command_and_a_url(helm: Helm, home: Path) -> None:
    mcp(helm, "add", "x", "--token-env", "TOKEN", "--token-stdin", "--", PROGRAM, stdin=SECRET)
    assert mcp(helm, "edit", "x", "--url", URL, "--token-stdin", stdin=f"{SECRET}2").status == 0
    assert toml(home, "x") == f'credential = "file"\nurl = "{URL}"\n'
    assert kept(home) == {"mcp/x/token": f"{SECRET}2"}
    told = mcp(helm, "edit", "x", "--", PROGRAM)
    assert (told.status, "a token for a command needs token_env" in told.err) == (2, True)
    told = mcp(helm, "edit", "x", "--token-env", "TOKEN", "--token-stdin", "--", PROGRAM, stdin=f"{SECRET}3")
    assert told.status == 0
    assert kept(home) == {"mcp/x/token": f"{SECRET}3"}
    assert mcp(helm, "edit", "x", "--ask-token").err == "helm: --ask-token needs a terminal; give --token-stdin\n"


def test_a_broken_file_is_told_hides_nothing_and_can_be_replaced(helm: Helm, home: Path) -> None:
    mcp(helm, "add", "fine", "--url", URL)
    file = home / "profiles" / "mcp" / "bad.toml"
    for text in ('url = "x"\n', "command = []\n", 'commnd = ["a"]\n', 'url = "https://a.test"\ncommand = ["a"]\n'):
        file.write_text(text)
        listed = mcp(helm, "list")
        assert (listed.status, listed.out) == (0, f"bad\tbroken\t\t\t\nfine\thttp\t{URL}\t\t\n")
        assert f"helm: {file} cannot be used: " in listed.err
        told = mcp(helm, "edit", "bad", "--url", URL)
        assert (told.status, told.err.endswith("or replace it whole with: helm mcp add bad --force\n")) == (1, True)
    assert mcp(helm, "add", "bad", "--url", URL, "--force").status == 0


# --- at a terminal


def at_helm(*words: str, env: dict[str, str] | None = None) -> Any:
    return at_terminal(sys.executable, "-m", "helm_cli", "mcp", *words, env=env or FILE, size=(100, 40))


@pytest.mark.parametrize(
    ("words", "profile"),
    [
        (
            ("--token-env", "TOKEN", "--", PROGRAM),
            f'command = ["{PROGRAM}"]\ntoken_env = "TOKEN"\ncredential = "file"\n',
        ),
        (("--url", URL), f'url = "{URL}"\ncredential = "file"\n'),
    ],
)
def test_a_token_is_typed_unseen(home: Path, words: tuple[str, ...], profile: str) -> None:
    with at_helm("add", "x", *words) as screen:
        screen.wait_for("Token of x (empty for none)")
        screen.send(SECRET.encode(), ENTER)
        assert screen.status() == 0
        assert SECRET.encode() not in screen.raw
    assert (toml(home, "x"), kept(home)) == (profile, {"mcp/x/token": SECRET})


def test_an_empty_token_is_none_and_a_command_without_a_variable_is_not_asked(home: Path) -> None:
    with at_helm("add", "x", "--url", URL) as screen:
        screen.wait_for("Token of x (empty for none)")
        screen.send(ENTER)
        assert screen.status() == 0
    assert toml(home, "x") == f'url = "{URL}"\n'
    with at_helm("add", "y", "--", PROGRAM) as screen:
        assert screen.status() == 0
        assert b"Token" not in screen.raw


def test_what_is_missing_is_asked_for(home: Path) -> None:
    with at_helm("add") as screen:
        screen.wait_for("Name of the profile")
        screen.send(b"x", ENTER)
        screen.wait_for("Command or URL of the server")
        screen.send(f"{PROGRAM} -m 'a b'".encode(), ENTER)
        assert screen.status() == 0
    assert toml(home, "x") == f'command = ["{PROGRAM}", "-m", "a b"]\n'
    with at_helm("add", "y") as screen:
        screen.wait_for("Command or URL of the server")
        screen.send(URL.encode(), ENTER)
        screen.wait_for("Token of y")
        screen.send(CTRL_C)
        assert screen.status() == 6
    assert not (home / "profiles" / "mcp" / "y.toml").exists()


def test_an_edit_asks_for_the_token_of_a_new_target(helm: Helm, home: Path) -> None:
    mcp(helm, "add", "x", "--url", URL, "--token-stdin", stdin="old")
    for words, hint, token in (
        (("--url", f"{URL}/2"), "for its new target; empty to enter it later", SECRET),
        (("--ask-token",), "empty takes it away", ""),
        (("--ask-token",), "empty for none", "Bearer new"),
    ):
        with at_helm("edit", "x", *words) as screen:
            screen.wait_for(f"Token of x ({hint})")
            screen.send(token.encode(), ENTER)
            assert screen.status() == 0
            assert (b"it has no token any more" in screen.raw) == (not token)
        assert kept(home) == ({"mcp/x/token": token.removeprefix("Bearer ")} if token else {})


# --- what the servers say


@pytest.fixture
def everything_over_http() -> Iterator[str]:
    """The URL of npm's server-everything over streamable HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [peers.NODE, peers.script(peers.EVERYTHING), "streamableHttp"],
        env={"PORT": str(port), "PATH": os.environ["PATH"]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        ends = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < ends, "server-everything did not start"
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.contract("C19")
def test_a_command_and_a_url_list_their_tools(helm: Helm, everything_over_http: str) -> None:
    mcp(helm, "add", "local", "--", peers.NODE, peers.script(peers.EVERYTHING), "stdio")
    mcp(helm, "add", "remote", "--url", everything_over_http)
    for name in ("local", "remote"):
        told = mcp(helm, "tools", name)
        assert (told.status, told.err) == (0, "")
        rows = [row.split("\t") for row in told.out.splitlines()]
        assert ["echo", "read-only", "Echo Tool: Echoes back the input string"] in rows
        listed = {row["name"]: row for row in mcp(helm, "tools", name, "-o", "json").json}
        assert list(listed) == [row[0] for row in rows]
        assert listed["echo"]["input_schema"]["required"] == ["message"]
        assert listed["echo"]["definition"]["annotations"]["readOnlyHint"] is True
        told = mcp(helm, "test", name)
        assert told.out.startswith(f"{name}: mcp-servers/everything ")
        assert told.out.endswith(f"{len(rows)} tools\n")
        answer = told.out.removeprefix(f"{name}: ").removesuffix("\n")
        told = mcp(helm, "test", name, "-o", "json")
        assert (told.status, told.json) == (0, {"name": name, "ok": True, "answer": answer, "error": None})


def test_what_a_server_says_cannot_act_on_the_terminal(helm: Helm, tmp_path: Path) -> None:
    offer, notes = tmp_path / "offer.json", tmp_path / "notes"
    offer.write_text(json.dumps([tool("li\x1b[2Jst", "\x1b]0;x\x07 " + "word " * 200, destructiveHint=True)]))
    mcp(helm, "add", "x", "--", *command(offer, notes))
    with at_helm("tools", "x") as screen:
        assert screen.status() == 0
        assert b"\x1b[2J" not in screen.raw and b"\x1b]0" not in screen.raw
        assert b"li\\u{1b}[2Jst" in screen.raw and b"destructive" in screen.raw
    assert "(606 more characters)" in mcp(helm, "tools", "x").out


def test_a_server_is_tried_in_the_workspace(helm: Helm, tmp_path: Path) -> None:
    """And where the current folder is none, because it is the home, in that."""
    (tmp_path / "other").mkdir()
    note = tmp_path / "note"
    script = "import os, sys; open(sys.argv[1], 'w').write(os.getcwd())"
    mcp(helm, "add", "x", "--", sys.executable, "-c", script, str(note))
    for words, cwd, folder in (
        ((), tmp_path, tmp_path),
        (("--workspace", "other"), tmp_path, tmp_path / "other"),
        ((), Path(os.environ["HOME"]), Path(os.environ["HOME"])),
    ):
        assert helm("mcp", "test", "x", *words, cwd=cwd, env=FILE).status == 10
        assert note.read_text() == str(folder)
    assert helm("mcp", "test", "x", "--workspace", "absent", cwd=tmp_path).status == 2


# --- calls


def extension(folder: Path, *operations: str) -> str:
    entry = {"id": "gh", "kind": "mcp", "server": "github", "operations": list(operations)}
    return str(write(folder / "tickets", manifest(connections=[entry])))


def approve(helm: Helm, folder: str) -> None:
    digest = helm("plugin", "review", folder, "-o", "json").json["digest"]
    assert helm("plugin", "review", folder, "--approve", digest).status == 0


@pytest.mark.contract("C20")
def test_a_call_without_a_profile_is_not_configured(helm: Helm) -> None:
    approve(helm, extension(Path.cwd(), "list_issues"))
    told = helm("call", "gh", "list_issues")
    assert (told.status, told.json["error"]) == (
        4,
        {
            "code": "not_configured",
            "message": "there is no MCP server profile github; add it with: helm mcp add github",
        },
    )


@pytest.mark.contract("C69")
def test_an_undeclared_tool_is_refused_and_the_server_not_asked(helm: Helm, tmp_path: Path) -> None:
    offer, notes = tmp_path / "offer.json", tmp_path / "notes"
    offer.write_text(json.dumps([tool("list_issues"), tool("delete_repo")]))
    mcp(helm, "add", "github", "--", *command(offer, notes))
    approve(helm, extension(Path.cwd(), "list_issues"))
    told = helm("call", "gh", "delete_repo")
    assert (told.status, told.json["error"]["code"]) == (3, "refused")
    assert not notes.exists()
    told = helm("call", "gh", "list_issues", "--arg", "owner=me")
    assert (told.status, told.json["ok"]) == (0, True)
    assert notes.read_text() == "started\ncalled list_issues\n"
