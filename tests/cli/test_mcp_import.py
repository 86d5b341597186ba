"""`helm mcp import`: shown first, chosen by a person, tokens moved to the store and never seen, the file left alone."""

import json
import os
from pathlib import Path

import pytest

from tests.program import Finished, Helm
from tests.rig.importing import FILE, at, at_own, leaks, profiles, untouched
from tests.rig.kept import kept
from tests.rig.terminal import CTRL_C, DOWN, ENTER, Terminal

FIRST, SECOND, THIRD = "canary-11aa", "canary-22bb", "canary-33cc"
CONFIGURATION = f"""\
{{
  // Everything at once.
  "inputs": [{{"type": "promptString", "id": "key", "password": true}}],
  "servers": {{
    "Git Hub": {{"command": "true", "args": ["-e", "GITHUB_TOKEN"], "env": {{"GITHUB_TOKEN": "{FIRST}"}}}},
    "linear": {{"url": "https://mcp.test/mcp", "headers": {{"Authorization": "Bearer {SECOND}"}}}},
    "asked": {{"command": "true", "env": {{"API_KEY": "${{input:key}}", "LOG": "x"}}}},
    "plain": {{"command": "true", "args": ["a b"]}},
    "old": {{"type": "sse", "url": "https://mcp.test/sse"}},
    "open": {{"command": "true", "args": ["--api-key", "{THIRD}"]}},
    "\\u001b[2Jevil": {{"command": "true", "args": ["\\u001b]0;x\\u0007"], "cwd": "/"}},
  }},
}}
"""
SHOWN = """\
mcp.json holds 7 MCP servers
  git-hub (Git Hub)
      true -e GITHUB_TOKEN
      its token, which it gets in GITHUB_TOKEN, goes to the credential store
  linear
      https://mcp.test/mcp
      its token, which it gets as Authorization: Bearer, goes to the credential store
  asked
      true
      its token, which it gets in API_KEY, is not in the file (${input:key}): you are asked for it
      LOG is not passed, for helm passes one variable; a server that needs more fails
  plain
      true 'a b'
  old
      not taken over: it speaks SSE, the transport before streamable HTTP; helm speaks streamable HTTP
  open
      not taken over: its command holds what looks like a secret (--api-key), which would be no secret there; give it \
to the server in a variable, with --token-env
  2jevil (\\u{1b}[2Jevil)
      true '\\u{1b}]0;x\\u{7}'
      its folder (cwd) is not kept: helm starts it in the workspace of each call
"""


@pytest.fixture
def file() -> Path:
    path = Path("mcp.json")
    path.write_text(CONFIGURATION)
    return path


def names(home: Path) -> list[str]:
    return [*profiles(home, "mcp")]


def test_a_person_is_shown_the_servers_and_takes_them_over(home: Path, file: Path) -> None:
    before = untouched(file)
    with at_own("mcp", "import", "mcp.json") as screen:
        screen.wait_for("Take over")
        screen.send(ENTER)
        screen.wait_for("Token of asked, ${input:key} in the file (empty for none)")
        assert _environment(screen) == []
        screen.send(b"typed-unseen", ENTER)
        assert screen.status() == 0
        assert b"typed-unseen" not in screen.raw
        assert b"\x1b[2Jevil" not in screen.raw and b"\x1b]0;x" not in screen.raw
        raw = screen.raw
    assert names(home) == ["2jevil", "asked", "git-hub", "linear", "plain"]
    assert kept(home) == {
        "mcp/git-hub/token": FIRST,
        "mcp/linear/token": SECOND,
        "mcp/asked/token": "typed-unseen",
    }
    assert leaks(home, "canary", raw) == []
    assert (home / "profiles" / "mcp" / "git-hub.toml").read_text() == (
        'command = ["true", "-e", "GITHUB_TOKEN"]\ntoken_env = "GITHUB_TOKEN"\ncredential = "file"\n'
    )
    assert (home / "profiles" / "mcp" / "linear.toml").read_text() == (
        'url = "https://mcp.test/mcp"\ncredential = "file"\n'
    )
    assert b"added the MCP server profile git-hub, its token in the file" in raw
    assert b"helm: try each with: helm mcp test git-hub" in raw
    assert untouched(file) == before


def _environment(screen: Terminal) -> list[str]:
    """In which of the lists of the running program's words and variables a token stands."""
    places = [f"/proc/{screen.process.pid}/{name}" for name in ("cmdline", "environ")]
    return [place for place in places if b"canary" in Path(place).read_bytes()]


def test_a_person_chooses(home: Path, file: Path) -> None:
    with at("mcp", "import", "mcp.json") as screen:
        screen.wait_for("Take over")
        # Off with the first and the third, which is the one that would be asked about.
        screen.send(b" ", DOWN, DOWN, b" ", ENTER)
        assert screen.status() == 0
    assert names(home) == ["2jevil", "linear", "plain"]
    assert kept(home) == {"mcp/linear/token": SECOND}


def test_a_cancel_at_a_later_question_changes_nothing_either(home: Path, file: Path) -> None:
    with at("mcp", "import", "mcp.json") as screen:
        screen.wait_for("Take over")
        screen.send(ENTER)
        screen.wait_for("Token of asked")
        screen.send(CTRL_C)
        assert screen.status() == 6
        assert b"nothing was changed" in screen.raw
    assert (names(home), kept(home)) == ([], {})


@pytest.mark.parametrize("keys", [(CTRL_C,), (b"a", ENTER)])
def test_no_choice_changes_nothing(home: Path, file: Path, keys: tuple[bytes, ...]) -> None:
    """Ctrl-C, and Enter once `a` took all the marks away."""
    with at("mcp", "import", "mcp.json") as screen:
        screen.wait_for("Take over")
        screen.send(*keys)
        assert screen.status() == 6
        assert b"nothing was changed" in screen.raw
    assert (names(home), kept(home)) == ([], {})


def test_what_is_there_is_skipped_unless_forced(helm: Helm, home: Path, file: Path) -> None:
    helm("mcp", "add", "plain", "--url", "https://mine.test")
    told = without_person(helm, "mcp.json")
    assert "  plain\n      not taken over: there is a profile plain already; --force replaces it\n" in told.out
    with at("mcp", "import", "mcp.json", "--force") as screen:
        screen.wait_for("Take over")
        # What another one would give way to is not marked from the beginning.
        screen.send(b"i", ENTER)
        assert screen.status() == 0
        assert b"replaces another: command, url" in screen.raw
        assert b"helm: replaced the MCP server profile plain\r\n" in screen.raw
    assert names(home) == ["plain"]
    assert (home / "profiles" / "mcp" / "plain.toml").read_text() == 'command = ["true", "a b"]\n'


def test_what_is_there_already_is_said(helm: Helm, file: Path) -> None:
    """A server with a token is not there while its profile has none."""
    helm("mcp", "add", "plain", "--", "true", "a b")
    helm("mcp", "add", "linear", "--url", "https://mcp.test/mcp")
    told = without_person(helm, "mcp.json").out
    assert "  plain\n      not taken over: it is already there; --force takes it over anew\n" in told
    assert "  linear\n      not taken over: there is a profile linear already; --force replaces it\n" in told


def without_person(helm: Helm, *words: str) -> Finished:
    return helm("mcp", "import", *words, env=FILE, stdin="y\n")


def test_without_a_person_it_is_shown_and_nothing_taken(helm: Helm, home: Path, file: Path) -> None:
    told = without_person(helm, "mcp.json")
    assert (told.status, told.out, told.err) == (
        7,
        SHOWN,
        "helm: taking servers over needs a person at the terminal, who chooses; run it in one, or use helm mcp add\n",
    )
    assert (names(home), leaks(home, "canary", told.out, told.err)) == ([], [])


def test_a_pipe_cannot_choose(home: Path, file: Path) -> None:
    with at("mcp", "import", "mcp.json", stdin=b"\r\r") as screen:
        assert screen.status() == 7
    assert names(home) == []


def test_where_nothing_can_be_taken_nobody_is_asked(helm: Helm, home: Path) -> None:
    Path("a.json").write_text('{"mcpServers": {"x": {"type": "sse", "url": "https://a.test"}}}')
    told = without_person(helm, "a.json")
    assert (told.status, told.err) == (0, "helm: nothing of a.json is to be taken over\n")
    assert told.out.startswith("a.json holds 1 MCP server\n  x\n      not taken over: it speaks SSE")
    Path("b.json").write_text('{"mcpServers": {}}')
    told = without_person(helm, "b.json")
    assert (told.status, told.out) == (0, "b.json holds 0 MCP servers\n")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "mcp.json cannot be used: it is not JSON: see line 1"),
        (b'{"servers":\n{"x": canary}}', "mcp.json cannot be used: it is not JSON: see line 2"),
        (b"{}", "mcp.json cannot be used: it has no list of MCP servers: neither mcpServers nor servers"),
        (b"\xff\xfe{}", "mcp.json is not UTF-8; name a configuration file"),
    ],
)
def test_another_file_is_told(helm: Helm, data: bytes, told: str) -> None:
    Path("mcp.json").write_bytes(data)
    ended = without_person(helm, "mcp.json")
    assert (ended.status, ended.out, ended.err) == (2, "", f"helm: {told}\n")


def test_what_is_no_file_is_told(helm: Helm) -> None:
    assert without_person(helm, "absent.json").err == (
        "helm: absent.json cannot be read (no such file or directory); name a configuration file\n"
    )
    os.mkfifo("fifo")
    Path("folder").mkdir()
    for name in ("fifo", "folder"):
        ended = without_person(helm, name)
        assert (ended.status, ended.err) == (
            2,
            f"helm: {name} is not a regular file; name the configuration file itself\n",
        )


def test_a_byte_order_mark_and_a_home_are_understood(helm: Helm) -> None:
    (Path(os.environ["HOME"]) / ".claude.json").write_bytes(b'\xef\xbb\xbf{"mcpServers": {"x": {"command": "true"}}}')
    told = without_person(helm, "~/.claude.json")
    assert (told.status, told.out) == (7, "~/.claude.json holds 1 MCP server\n  x\n      true\n")


def test_a_variable_that_every_server_gets_is_no_token(helm: Helm) -> None:
    """And what no profile can be is not offered."""
    Path("a.json").write_text(
        json.dumps({"mcpServers": {"x": {"command": "true", "env": {"PATH": "/bin"}}, "y": {"command": "a\ud800"}}})
    )
    assert without_person(helm, "a.json").out == (
        "a.json holds 2 MCP servers\n"
        "  x\n"
        "      true\n"
        "      PATH of its env is not kept: the server gets those of helm itself\n"
        "  y\n"
        "      not taken over: command must be texts in UTF-8 that hold no NUL\n"
    )
