"""Which servers other clients' files hold, and what helm keeps of each; no token of a file is ever in what is told."""

import json
import string
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.grammar import mcp_servers
from helm_cli.grammar.mcp_servers import Found

SECRET = "canary-4b7c91"


def one(entry: Any, name: str = "s") -> Found:
    (found,) = mcp_servers.read(json.dumps({"mcpServers": {name: entry}}))
    assert SECRET not in repr(found._replace(token=None))
    return found


CLAUDE_DESKTOP = """\
{
  "globalShortcut": "",
  "mcpServers": {
    "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop"]},
    "GitHub": {
      "command": "docker",
      "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
      "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "canary-4b7c91"}
    }
  }
}
"""


def test_claude_desktop() -> None:
    assert mcp_servers.read(CLAUDE_DESKTOP) == [
        Found(
            "filesystem",
            "filesystem",
            ("npx", "-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop"),
        ),
        Found(
            "github",
            "GitHub",
            ("docker", "run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"),
            variable="GITHUB_PERSONAL_ACCESS_TOKEN",
            token=SECRET,
        ),
    ]


@pytest.mark.parametrize("place", ["${T:-canary-4b7c91}", "pre-${T:-canary-4b7c91}"])
def test_what_a_placeholder_is_without_its_variable_is_told_to_nobody(place: str) -> None:
    assert one({"command": "srv", "env": {"T": place}}).asked == "${T:-…}"
    header = {"Authorization": f"Bearer {place}"}
    assert one({"url": "https://mcp.test/mcp", "headers": header}).asked == "${T:-…}"
    told = "has the placeholder ${T:-…}, which helm does not fill in; add it by hand"
    assert one({"command": "srv", "args": [place]}).fault == f"its command {told}"
    assert one({"url": f"https://mcp.test/{place}"}).fault == f"its URL {told}"


def test_many_servers_of_one_name_take_no_longer_each() -> None:
    servers = {f"/{number}": {"mcpServers": {"a": {"command": "srv", "args": [str(number)]}}} for number in range(9000)}
    begun = time.process_time()
    found = mcp_servers.read(json.dumps({"projects": {**servers, "/again": servers["/7"]}}))
    assert time.process_time() - begun < 5
    assert [one.name for one in found] == ["a", *(f"a-{number}" for number in range(2, 9001))]


def test_claude_code_with_its_projects() -> None:
    """The same server in two projects is one; another one of the same name has another name here."""
    shared = {"type": "stdio", "command": "srv", "args": [], "env": {}}
    remote = {"type": "http", "url": "https://mcp.test/mcp", "headers": {"Authorization": f"Bearer {SECRET}"}}
    file = {
        "numStartups": 7,
        "mcpServers": {"db": shared},
        "projects": {
            "/code/a": {"history": ["\ud83d"], "mcpServers": {"db": shared, "api": remote}},
            "/code/b": {"mcpServers": {"db": {**shared, "args": ["other"]}}},
            "/code/c": {"mcpServers": {}},
        },
    }
    assert mcp_servers.read(json.dumps(file)) == [
        Found("db", "db", ("srv",)),
        Found("api", "api of /code/a", url="https://mcp.test/mcp", token=SECRET),
        Found("db-2", "db of /code/b", ("srv", "other")),
    ]


VS_CODE = """\
{
  // What the person is asked for.
  "inputs": [
    {"type": "promptString", "id": "perplexity-key", "description": "Perplexity // key", "password": true,},
  ],
  /* two
     servers */
  "servers": {
    "Perplexity": {
      "type": "stdio", "command": "npx", "args": ["-y", "server-perplexity-ask"],
      "env": {"PERPLEXITY_API_KEY": "${input:perplexity-key}"},
    },
    "fetch": {"type": "http", "url": "https://mcp.test/a//b"},
  },
}
"""


def test_vs_code_with_comments_trailing_commas_and_inputs() -> None:
    told = [
        Found(
            "perplexity",
            "Perplexity",
            ("npx", "-y", "server-perplexity-ask"),
            variable="PERPLEXITY_API_KEY",
            asked="${input:perplexity-key}",
        ),
        Found("fetch", "fetch", url="https://mcp.test/a//b"),
    ]
    assert mcp_servers.read(VS_CODE) == told
    settings = json.dumps({"editor.fontSize": 12, "mcp": {"servers": {"x": {"command": "y"}}}})
    assert mcp_servers.read(settings) == [Found("x", "x", ("y",))]


def test_a_variable_that_something_else_acts_on_gets_no_token() -> None:
    env = {"NODE_OPTIONS": "--max-old-space-size=512", "LC_ALL": "C", "API_KEY": SECRET}
    told = "LC_ALL and NODE_OPTIONS of its env are not kept: the program that runs the server acts on them, so that no"
    found = one({"command": "srv", "env": env})
    assert (found.variable, found.token, found.notes) == ("API_KEY", SECRET, (f"{told} token may be in it",))
    alone = one({"command": "srv", "env": {"LD_PRELOAD": SECRET}})
    assert (alone.variable, alone.token, alone.fault) == (None, None, "") and SECRET not in repr(alone)


def test_cursor_and_others_with_a_url() -> None:
    assert one({"url": "https://mcp.test/mcp"}).url == "https://mcp.test/mcp"
    assert one({"serverUrl": "https://mcp.test/mcp"}).url == "https://mcp.test/mcp"
    assert one({"httpUrl": "http://localhost:3000/mcp"}).url == "http://localhost:3000/mcp"
    assert one({"url": "https://mcp.test", "headers": {"authorization": "bearer ${env:TOKEN}"}}).asked == "${env:TOKEN}"


@pytest.mark.parametrize(
    ("env", "variable", "notes"),
    [
        ({}, None, ()),
        ({"LOG": SECRET}, "LOG", ()),
        ({"API_KEY": SECRET, "N": None}, "API_KEY", ()),
        (
            {"API_KEY": SECRET, "LOG": "x"},
            "API_KEY",
            ("LOG is not passed, for helm passes one variable; a server that needs more fails",),
        ),
        (
            {"API_KEY": SECRET, "PORT": 80, "DEBUG": True},
            "API_KEY",
            ("DEBUG and PORT are not passed, for helm passes one variable; a server that needs more fails",),
        ),
        (
            {"API_KEY": SECRET, "PATH": "/bin"},
            "API_KEY",
            ("PATH of its env is not kept: the server gets those of helm itself",),
        ),
    ],
)
def test_of_several_variables_the_secret_is_kept(env: Any, variable: str | None, notes: tuple[str, ...]) -> None:
    found = one({"command": "srv", "env": env})
    assert (found.variable, found.token, found.notes, found.fault) == (
        variable,
        SECRET if variable else None,
        notes,
        "",
    )


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ([], "it is no JSON object"),
        ({}, "it has neither a command nor a URL"),
        ({"command": "a", "url": "https://b.test"}, "it has both a command and a URL"),
        ({"command": ["a"]}, "its command is not made of texts"),
        ({"command": "a", "args": [1]}, "its command is not made of texts"),
        ({"command": "a", "args": "b"}, "its command is not made of texts"),
        ({"command": "a", "args": 7}, "its command is not made of texts"),
        (
            {"command": "a", "args": ["${workspaceFolder}/x"]},
            "its command has the placeholder ${workspaceFolder}, which helm does not fill in; add it by hand",
        ),
        (
            {"command": "a", "args": ["--api-key", SECRET]},
            "its command holds what looks like a secret (--api-key), which would be no secret there; give it to the"
            " server in a variable, with --token-env",
        ),
        (
            {"command": "a", "args": [f"postgres://me:{SECRET}@h/d"]},
            "its command holds what looks like a secret (a URL with a password), which would be no secret there; give"
            " it to the server in a variable, with --token-env",
        ),
        ({"command": "a", "env": []}, ""),
        ({"command": "a", "env": ["X"]}, "its env is no JSON object"),
        ({"command": "a", "env": {"A B": SECRET}}, "the name of its variable is none"),
        ({"command": "a", "env": {"A": "1", "B": SECRET}}, "it has 2 variables (A, B), and helm passes only one"),
        (
            {"command": "a", "env": {"A_TOKEN": SECRET, "B_KEY": SECRET, "C": "x"}},
            "it has 3 variables (A_TOKEN, B_KEY, C), and helm passes only one",
        ),
        (
            {"type": "sse", "url": "https://b.test/sse"},
            "it speaks SSE, the transport before streamable HTTP; helm speaks streamable HTTP",
        ),
        ({"type": "ws", "url": "https://b.test"}, "its type is unknown; helm speaks streamable HTTP"),
        ({"url": 7}, "its URL is no text"),
        (
            {"url": "http://b.test"},
            "its URL must begin with https:// (http:// is permitted only for 127.0.0.1 and localhost)",
        ),
        ({"url": f"https://u:{SECRET}@b.test"}, "its URL must not contain credentials"),
        (
            {"url": f"https://b.test?apiKey={SECRET}"},
            "its URL holds what looks like a secret (apiKey), which would be no secret there",
        ),
        (
            {"url": "https://${env:HOST}/mcp"},
            "its URL has the placeholder ${env:HOST}, which helm does not fill in; add it by hand",
        ),
        ({"url": "https://b.test", "headers": [1]}, "its headers are no JSON object"),
        (
            {"url": "https://b.test", "headers": {"X-Api-Key": SECRET}},
            "it has the header X-Api-Key, and helm sends a token as Authorization: Bearer",
        ),
        (
            {"url": "https://b.test", "headers": {"Authorization": f"Basic {SECRET}"}},
            "its Authorization header is no bearer token, and helm sends no other",
        ),
        (
            {"url": "https://b.test", "headers": {"Authorization": f"Bearer {SECRET} x"}},
            "its token must not contain a space; give the token alone",
        ),
    ],
)
def test_what_cannot_be_kept_says_why(entry: Any, fault: str) -> None:
    assert one(entry).fault == fault


def test_what_is_not_kept_is_noted() -> None:
    found = one({"command": "a", "cwd": "/x", "envFile": ".env", "disabled": True})
    assert found.notes == (
        "it is disabled there",
        "its folder (cwd) is not kept: helm starts it in the workspace of each call",
        "the variables of its envFile are not passed",
    )
    found = one({"url": "https://b.test", "headers": {"X-Version": "1", "Authorization": f"Bearer {SECRET}"}})
    assert (found.token, found.notes) == (
        SECRET,
        ("X-Version is not sent, for helm sends no header but the token's; a server that needs more fails",),
    )


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("Git Hub", "git-hub"),
        ("a/b:c", "a-b-c"),
        (".hidden", "hidden"),
        ("É", ""),
        ("x" * 70, "x" * 64),
        ("v1.2_b", "v1.2_b"),
    ],
)
def test_names_become_names_of_profiles(called: str, name: str) -> None:
    found = one({"command": "a"}, called)
    assert (found.name, found.origin) == (name, called)
    assert bool(found.fault) == (not name)


def test_two_names_that_become_one_stay_two() -> None:
    found = mcp_servers.read(
        '{"mcpServers": {"A b": {"command": "1"}, "a-b": {"command": "2"}, "A-B": {"command": "3"}}}'
    )
    assert [(server.name, server.command) for server in found] == [
        ("a-b", ("1",)),
        ("a-b-2", ("2",)),
        ("a-b-3", ("3",)),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it is not JSON: see line 1"),
        ('{\n/* a\nb */\n"x": canary-4b7c91}', "it is not JSON: see line 4"),
        ("[]", "it has no list of MCP servers: neither mcpServers nor servers"),
        ('{"mcpServers": []}', "it has no list of MCP servers: neither mcpServers nor servers"),
        ("[" * 100_000, "it is not JSON that can be read"),
    ],
)
def test_what_is_no_such_file(text: str, told: str) -> None:
    with pytest.raises(ValueError) as raised:
        mcp_servers.read(text)
    assert str(raised.value) == told


def test_an_empty_list_holds_nothing() -> None:
    assert mcp_servers.read('{"mcpServers": {}}') == []


@given(
    st.text(alphabet=string.printable), st.lists(st.sampled_from(['"', "\\", "//", "/*", "*/", ",", "}", "]", "\n"]))
)
def test_texts_with_marks_of_comments_stay_as_they_are(text: str, marks: list[str]) -> None:
    word = text + "".join(marks)
    (found,) = mcp_servers.read(json.dumps({"mcpServers": {"s": {"command": "a", "args": ["b", word]}}}, indent=1))
    assert found.command in (None, ("a", "b", word))
    assert found.fault or found.command


def test_long_input_is_read_in_a_blink() -> None:
    text = '{"mcpServers": {"s": {"command": "' + '\\"//' * 500_000 + '"}}}'
    assert mcp_servers.read(text)[0].command == ('"//' * 500_000,)
    with pytest.raises(ValueError):
        mcp_servers.read('"' * 1_000_000)
