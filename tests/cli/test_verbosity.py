"""How much helm says on standard error: with -q only errors and what needs the person, with -v what it does."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from tests import example
from tests.program import Finished, Helm
from tests.rig import agents

CALL: Final = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1")
CLOSE: Final = ("call", "app", "close", "--arg", "id=1")
SECRET: Final = "canary-7d1f"
FILE: Final = {"HELM_CLI_CREDENTIALS": "file"}


@pytest.fixture
def workspace(tmp_path: Path, helm: Helm, monkeypatch: pytest.MonkeyPatch) -> Path:
    example.ready(helm, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(ended: Finished) -> list[str]:
    """The lines of standard error, without what is another each time."""
    text = re.sub(r"sha256:[0-9a-f]{64}", "DIGEST", re.sub(r"it took [0-9]+ ms", "it took N ms", ended.err))
    return [line.removeprefix("helm: ") for line in text.splitlines()]


def test_a_call_says_what_it_rests_on(helm: Helm, workspace: Path, home: Path) -> None:
    plain = helm(*CALL)
    for words in (("-v", *CALL), (*CALL, "--verbose")):
        ended = helm(*words)
        assert (ended.status, ended.out, plain.err) == (0, plain.out, "")
        assert said(ended) == [
            f"the home is {home}",
            f"the workspace is {workspace}, registered by a review",
            "the extension is tickets, approved as DIGEST",
            "the db profile is local-app, without a secret",
            "the call is made by this process, without the background agent",
            "it took N ms",
        ]


def test_it_says_when_the_agent_makes_the_call(helm: Helm, workspace: Path, home: Path) -> None:
    with agents.agent(helm, home):
        assert said(helm(*CALL, "-v"))[-2:] == ["the background agent made the call of app recent", "it took N ms"]


def test_what_goes_wrong_is_said_among_it(helm: Helm, workspace: Path) -> None:
    ended = helm("-v", "call", "app", "recnt")
    assert ended.status == 3
    assert said(ended)[-2:] == ["app declares no operation recnt; did you mean recent?", "it took N ms"]
    assert ended.json["error"]["code"] == "refused"


def test_nothing_of_a_secret_an_argument_or_a_place_is_said(helm: Helm, workspace: Path) -> None:
    """Neither the token nor where the service is, nor what was given to the call, nor its SQL."""
    added = helm(
        *("service", "add", "web", "--base-url", "http://localhost:1/private", "--token-stdin", "-v"),
        stdin=SECRET,
        env=FILE,
    )
    connection = {"id": "web", "kind": "http", "service": "web", "calls": {"get": {"method": "GET", "path": "/{id}"}}}
    folder = workspace / "web"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({"id": "web", "connections": [connection]}))
    digest = helm("plugin", "review", "web", "-o", "json").json["digest"]
    assert helm("plugin", "review", "web", "--approve", digest).status == 0
    called = helm("-v", "call", "web", "get", "--arg", "id=argument-1", env=FILE)
    assert said(called)[3:5] == [
        "the service profile is web, its secret in the file",
        "the call is made by this process, without the background agent",
    ]
    for ended in (added, called, helm("-v", *CALL), helm(*CLOSE, "-v"), helm("service", "test", "web", "-v", env=FILE)):
        assert "it took" in ended.err
        assert not re.search(rf"{SECRET}|private|localhost|argument-1|SELECT|UPDATE|status=|app\.db", ended.err)


# Words -> what is said without --quiet, in an order in which all of them can be done.
QUIET: Final = {
    "db add other --engine sqlite --path other.db": "added the sqlite profile other",
    "db edit local-app --path app.db": "changed the sqlite profile local-app",
    "db remove other": "removed the database profile other",
    "service add web --base-url http://localhost:1 --no-token": "added the service profile web, without a token",
    "mcp add here -- true": "added the MCP server profile here",
    "plugin new other": "next: helm plugin review other",
    "plugin validate tickets": "tickets is valid; its digest is",
    "project add .": "is the project",
    "plugin disable tickets": "tickets is disabled for the workspace",
    "plugin forget tickets": "tickets is no longer approved for the workspace",
}
REPEATABLE: Final = ("db edit local-app --path app.db", "plugin validate tickets", "project add .")


def test_quiet_leaves_notes_out(helm: Helm, workspace: Path) -> None:
    for line, note in QUIET.items():
        # What follows -- is the server's.
        words = ["-q", *line.split()] if " -- " in line else [*line.split(), "--quiet"]
        ended = helm(*words)
        assert (ended.status, ended.err) == (0, ""), line
        if line in REPEATABLE:
            assert note in helm(*line.split()).err


# Words -> the exit status, and how the one line begins.
LOUD: Final = {
    "db show nope": (4, "there is no database profile nope; add it with: helm db add nope"),
    "db nope": (2, "there is no such command (see helm db --help)"),
    "call app close --arg id=1": (7, "app close writes; run helm confirm "),
    "service add cal --base-url http://localhost:1 --oauth2 --client-id c": (0, "register the redirect URI "),
}


def test_quiet_says_errors_and_what_needs_a_person(helm: Helm, workspace: Path) -> None:
    for line, (status, message) in LOUD.items():
        ended = helm("-q", *line.split(), env=FILE)
        assert ended.status == status
        assert ended.err.startswith(f"helm: {message}")
        assert ended.err.count("\n") == 1


def test_the_one_nearest_to_the_end_counts(helm: Helm, workspace: Path) -> None:
    assert helm("-v", "db", "list", "-q").err == ""
    assert helm("db", "-v", "list", "-q").err == ""
    assert helm("-q", "db", "list", "-v").err.startswith("helm: the home is ")
    assert helm("db", "list", "-v", "-q").err == ""


def test_the_words_of_a_server_are_its_own(helm: Helm, home: Path) -> None:
    assert helm("-q", "mcp", "add", "x", "--", "prog", "-vv", "-qv").status == 0
    assert 'command = ["prog", "-vv", "-qv"]' in (home / "profiles" / "mcp" / "x.toml").read_text()
    for words in (("--", "docker", "-q", "run", "-v", "/a:/b"), ("-q", "--", "docker", "-q", "run", "-v", "/a:/b")):
        ended = helm("-q", "mcp", "add", "x", "--force", *words)
        assert (ended.status, ended.err) == (0, "")
        assert 'command = ["docker", "-q", "run", "-v", "/a:/b"]' in (home / "profiles" / "mcp" / "x.toml").read_text()
    refused = helm("mcp", "add", "y", "docker", "run", "--quiet", "image")
    told = "helm: --quiet may be helm's or the server's; write -- before the server's command\n"
    assert (refused.status, refused.err) == (2, told)
    for word in ("-vv", "-qv"):
        refused = helm("mcp", "add", "y", "prog", word, "x")
        told = f"helm: {word} may be helm's or the server's; write -- before the server's command"
        assert (refused.status, refused.err.splitlines()[0]) == (2, told)
    assert not (home / "profiles" / "mcp" / "y.toml").exists()


def test_a_short_option_of_a_commands_own_stays(helm: Helm, workspace: Path) -> None:
    for _ in range(2):
        assert helm(*CALL).status == 0
    assert len(helm("history", "-n", "1", "-o", "json", "-q").json) == 1
