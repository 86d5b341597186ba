"""Every command there is, with every secret there is, well and badly ended: none of them is anywhere but in the store.

What a service says is passed on as it came, so the services here tell no secret back. A command that has no line in
SWEEP fails the test: whoever adds one says here how it is run.
"""

import base64
import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from helm_cli.cli.tree import whole
from helm_cli.model.command import Command
from tests.program import HELM, Helm
from tests.rig import agents, http_server, mcp_calls, mcp_extension, mcp_http, plugins, token_endpoint
from tests.rig.calendar import oauth2
from tests.rig.canary import Nest, canary, watching
from tests.rig.connecting import browse, connecting
from tests.rig.forks import Forks, Ran, forking
from tests.rig.http_server import Peer, Received, response
from tests.rig.postgres import Postgres, free_port
from tests.rig.terminal import ENTER, at_terminal

# Of what a password may hold, what encodings change most.
HARD: Final = " '\"\\/+%&=;:@#?é<\t$`"
ANSWERS: Final = {
    "/": response(b"{}"),
    "/fine": response(b'{"fine": true}'),
    "/refused": response(b'{"error": "no"}', "401 Unauthorized"),
    "/broken": response(b"{}", "500 Internal Server Error"),
    "/page": response(b"<html>", "200 OK"),
    "/moved": response(b"", "302 Found", {"Location": "http://127.0.0.1:1/"}),
}
SERVER: Final = "--engine postgres --host 127.0.0.1 --database zq_main --user zq_canary"

# Command -> its runs: the words after it, and what each ends with. Where a command has -o, each is run with -o json
# too. {…} are the places of the world; a word before < is what comes on standard input.
SWEEP: Final[dict[str, tuple[tuple[str, int], ...]]] = {
    "call": (
        ("", 2),
        ("app one", 0),
        ("app fails", 14),
        ("app nope", 3),
        ("wrong one", 10),
        ("web fine", 0),
        ("web refused", 12),
        ("web broken", 12),
        ("web page", 11),
        ("web moved", 11),
        ("web send --arg text=x", 7),
        ("web send --arg text=x --dry-run", 0),
        ("gone fine", 10),
        ("cal fine", 0),
        ("cal refused", 12),
        ("tools say --arg message=x", 0),
        ("tools fails", 13),
        ("tools dies", 10),
        ("tools leaks --arg message=", 10),
        ("chatty say --arg message=x", 0),
        ("remote echo --arg message=x", 0),
        ("refused echo", 10),
        ("--batch lines.jsonl", 12),
    ),
    "confirm": (("--list", 0), ("nothere", 7), ("{waiting}", 7), ("{waiting} --decline", 0)),
    "db list": (("", 0),),
    "db show": (("pg", 0), ("nope", 4)),
    "db test": (("pg", 0), ("wrong", 10), ("nope", 4)),
    "db tables": (("pg", 7),),
    "db query": (("pg 'SELECT 1'", 7),),
    "db shell": (("pg", 7),),
    "db add": (
        (f"pg {SERVER} --password-stdin <password", 15),
        (f"pg3 {SERVER} --port 1 --password-stdin <password", 0),
        (f"pg4 {SERVER} --port x --password-stdin <password", 2),
        ("pg5 --from-env CANARY_URL", 0),
        ("pg6 --from-env CANARY_URL --host elsewhere", 2),
    ),
    "db edit": (("pg3 --password-stdin <password", 0), ("pg3 --host 127.0.0.2", 0), ("pg3 --tls maybe", 2)),
    "db import": (("--env-file {given}/urls.env", 7), ("{given}/urls.env", 7)),
    "db remove": (("pg3", 0), ("pg5", 0), ("nope", 4)),
    "service list": (("", 0),),
    "service show": (("web", 0), ("cal", 0), ("nope", 4)),
    "service test": (("web", 0), ("gone", 10), ("cal", 0)),
    "service add": (
        ("web --base-url http://127.0.0.1:1 --token-stdin <token", 15),
        ("web2 --base-url http://127.0.0.1:1 --header X-Key --format raw --token-stdin <token", 0),
        ("web3 --base-url ftp://x --token-stdin <token", 2),
        ("cal2 --base-url http://127.0.0.1:1 --oauth2 --client-id me --client-secret-stdin <client", 0),
    ),
    "service edit": (
        ("web2 --token-stdin <token", 0),
        ("cal2 --client-secret-stdin <client", 0),
        ("web2 --base-url http://127.0.0.1:2", 0),
        ("web2 --header Host", 2),
    ),
    "service import": (("netrc", 7), ("gh", 2)),
    "service remove": (("web2", 0), ("cal2", 0), ("nope", 4)),
    "oauth status": (("", 0), ("cal", 0), ("nope", 4)),
    "oauth connect": (("web", 3), ("cal --no-browser --timeout 1", 9)),
    "mcp list": (("", 0),),
    "mcp show": (("tools", 0), ("remote", 0), ("nope", 4)),
    "mcp test": (("tools", 0), ("remote", 0), ("refused", 10), ("exits", 10)),
    "mcp tools": (("tools", 0), ("chatty", 0), ("remote", 0), ("refused", 10)),
    "mcp serve": (("", 0), ("--run nope", 3)),
    "mcp add": (
        ("m --token-env MCP_TOKEN --token-stdin -- true <mcp", 0),
        ("n --token-env 1X --token-stdin -- true <mcp", 2),
        ("o --url http://127.0.0.1:1 --token-stdin <url", 0),
    ),
    "mcp edit": (("m --token-stdin <mcp", 0), ("o --url http://127.0.0.1:2", 0), ("nope --url http://x", 4)),
    "mcp import": (("{given}/servers.json", 7), ("nope.json", 2)),
    "mcp remove": (("m", 0), ("o", 0), ("nope", 4)),
    "plugin review": (("ext", 0), ("ext --check", 0), ("plugin", 0), ("nope", 2)),
    "plugin list": (("", 0), ("--all", 0)),
    "plugin show": (("ext", 0), ("{plugin}", 0), ("nope", 3)),
    "plugin check": (("ext", 10), ("{plugin}", 0)),
    "plugin validate": (("ext", 0), ("bad", 16)),
    "plugin new": (("fresh", 0), ("ext", 2)),
    "plugin schema": (("", 0),),
    "plugin reference": (("", 0),),
    "plugin settings": (
        ("{plugin}", 0),
        ("{plugin} set api_key --stdin <setting", 0),
        ("{plugin} set nope --stdin <setting", 2),
        ("{plugin} set region --stdin <setting", 0),
    ),
    "plugin bind": (("{plugin} send --service web --method POST --path /fine", 7),),
    "plugin run": (("{plugin} --arg brief=x", 0), ("nope", 3)),
    "plugin due": (("", 0),),
    "plugin usage": (("{plugin}", 0), ("{plugin} --add 1", 0)),
    "plugin approvers": (("{plugin}", 0), ("{plugin} editor root", 2)),
    "draft add": (("@note.md --plugin {plugin} --kind blog --title T", 0), ("@nope --plugin {plugin} --kind blog", 2)),
    "draft list": (("", 0),),
    "draft show": (("{draft}", 0), ("abcdefgh", 3)),
    "draft approve": (("{draft}", 7),),
    "draft reject": (("{draft}", 7),),
    "draft publish": (("{draft}", 7),),
    "history": (("", 0), ("--outcome failed", 0)),
    "project add": (("docs --id docs", 0), ("nope", 2)),
    "project list": (("", 0),),
    "project show": (("docs", 0), ("nope", 3)),
    "project remove": (("docs", 0),),
    "workspace show": (("", 0),),
    "workspace set": (("--tdt-profile everyday", 2),),
    "agent status": (("", 10),),
    "agent start": (("", 0),),
    "config export": (("", 0), ("exported.toml", 0)),
    "config import": (("exported.toml", 0), ("exported.toml --all --force --secrets-stdin <secrets", 0)),
    "doctor": (("", 10), ("--offline", 0)),
    "completion": (("bash", 0), ("tcsh", 2)),
    "demo": (("", 0),),
    "plugin disable": (("ext", 0),),
    "plugin enable": (("ext", 0),),
    "plugin forget": (("ext", 0), ("nope", 3)),
    "oauth disconnect": (("cal", 0), ("nope", 4)),
    "agent stop": (("", 0),),
}
# What is run once, for it does something that cannot be done twice; all else is run as text, and as JSON with -v.
ONCE: Final = (
    *("db add", "db edit", "db remove", "service add", "service edit", "service remove", "mcp add", "mcp edit"),
    *("mcp remove", "oauth connect", "oauth disconnect", "plugin new", "plugin forget", "project add"),
    *("project remove", "draft add", "config export", "config import", "confirm", "agent start", "agent stop"),
    *("demo", "mcp serve"),
)


class World(NamedTuple):
    """A home with every sort of secret, in `folder`; `given` holds what the user had before, secrets too."""

    forks: Forks
    folder: Path
    given: Path
    nest: Nest
    received: list[Received]
    places: dict[str, str]

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def environment(self) -> dict[str, str | None]:
        return {
            "HOME": str(self.folder / "user"),
            "TMPDIR": str(self.folder / "tmp"),
            "HELM_CLI_CREDENTIALS": "file",
            "NETRC": str(self.given / "netrc"),
            "GH_CONFIG_DIR": str(self.given / "gh"),
        }

    def __call__(self, *words: str, stdin: str = "", **env: str) -> Ran:
        return self.forks(*words, stdin=stdin, cwd=self.workspace, env={**self.environment, **env})

    def helm(self, *words: str, stdin: str = "", cwd: Path | None = None, env: Any = None) -> Any:
        return self(*words, stdin=stdin)

    def filled(self, text: str) -> tuple[list[str], str]:
        """The words of a run, and what comes on its standard input."""
        words = [word.format(**self.places) for word in shlex.split(text)]
        if words and words[-1].startswith("<"):
            name = words.pop()[1:]
            return words, self.places["secrets"] if name == "secrets" else self.nest.value(name)
        return words, ""

    def clean(self, told: str, *texts: str) -> None:
        """That no secret is in what a command said, as `told` of it."""
        for text in texts:
            assert self.nest.sought(text.encode()) == [], f"{told}\n{text}"


@pytest.fixture(scope="module")
def nest() -> Nest:
    names = ("password", "token", "client", "access", "refresh", "mcp", "url", "setting")
    between = {"password": HARD, "setting": HARD, "client": HARD.encode("ascii", "ignore").decode().replace("\t", "")}
    return Nest(tuple(canary(name, between.get(name, "-~+/.")) for name in names))


@pytest.fixture(scope="module")
def world(nest: Nest, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with (
        forking() as forks,
        http_server.serving(_answer) as api,
        token_endpoint.endpoint() as tokens,
        mcp_http.http_server() as remote,
    ):
        places = {"plugin": plugins.ID, "port": str(postgres.port)}
        folders = (tmp_path_factory.mktemp("canary"), tmp_path_factory.mktemp("given"))
        made = World(forks, *folders, nest, api.received, places)
        for folder in ("user", "tmp", "workspace", "workspace/docs", "workspace/bad"):
            (made.folder / folder).mkdir()
        granted = {**token_endpoint.GOOD, "access_token": nest.value("access"), "refresh_token": nest.value("refresh")}
        url = tokens.answer("canary", lambda: token_endpoint.Answer(200, json.dumps(granted).encode()))
        _own_files(made)
        _profiles(made, postgres, api.url, remote)
        connections = (*CONNECTIONS, {**_http("cal", "fine", "refused"), "oauth2": oauth2("a", "b", token=url)})
        mcp_extension.approve(made.helm, made.workspace, *connections, id="ext")  # type: ignore[arg-type]  # like Helm
        _plugin(made)
        _signed_in(made)
        yield made
        agents.end(made.folder / "user" / ".helm")


def _answer(peer: Peer, request: Received) -> None:
    peer.send(ANSWERS[request.target])


def _http(name: str, *paths: str) -> dict[str, Any]:
    calls: dict[str, Any] = {path: {"method": "GET", "path": f"/{path}"} for path in paths}
    if name == "web":
        calls["send"] = {"method": "POST", "path": "/fine", "body": {"text": "{text}"}, "write": True}
    return {"id": name, "kind": "http", "service": name, "calls": calls}


def _database(name: str, service: str, **queries: str) -> dict[str, Any]:
    declared = {query: {"sql": sql, "params": []} for query, sql in queries.items()}
    return {"id": name, "kind": "db", "service": service, "engine": "postgres", "queries": declared}


CONNECTIONS: Final = (
    _database("app", "pg", one="SELECT 1 AS one", fails="SELECT 1 / 0"),
    _database("wrong", "wrong", one="SELECT 1 AS one"),
    _http("web", "fine", "refused", "broken", "page", "moved"),
    _http("gone", "fine"),
    mcp_extension.connection("tools", ["say", "fails", "dies", "leaks"]),
    mcp_extension.connection("chatty", ["say"]),
    mcp_extension.connection("remote", ["echo"]),
    mcp_extension.connection("refused", ["echo"]),
)


def _own_files(made: World) -> None:
    (made.workspace / "note.md").write_text("It is out.\n")
    (made.workspace / "bad" / "manifest.json").write_text('{"id": 7}')
    lines = [{"connection": "web", "operation": name} for name in ("fine", "broken")]
    (made.workspace / "lines.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    password = made.nest.value("password")
    url = f"postgres://zq_canary:{quote(password, safe='')}@127.0.0.1:{made.places['port']}/zq_main"
    made.places["url"] = url
    made.places["given"] = str(made.given)
    made.places["secrets"] = json.dumps({"db/pg": password, "service/web": made.nest.value("token")})
    (made.given / "urls.env").write_text(f"DATABASE_URL='{url}_other'\n")
    (made.given / "netrc").write_text(f"machine api.example login me password {made.nest.value('token')}\n")
    server = {"command": "true", "env": {"API_TOKEN": made.nest.value("mcp")}}
    (made.given / "servers.json").write_text(json.dumps({"mcpServers": {"taken": server}}))
    for file in made.given.iterdir():
        file.chmod(0o600)


def _profiles(made: World, postgres: Postgres, api: str, remote: mcp_http.HttpServer) -> None:
    quoted = made.nest.value("password").replace("'", "''")
    postgres.outside(f"CREATE ROLE zq_canary LOGIN PASSWORD '{quoted}'")
    for name, user in (("pg", "zq_canary"), ("wrong", "zq_tls")):
        at = f"--engine postgres --host 127.0.0.1 --port {postgres.port} --database zq_main --user {user}"
        well(made("db", "add", name, *at.split(), "--password-stdin", stdin=made.nest.value("password")))
    for name, url in (("web", api), ("gone", f"http://127.0.0.1:{free_port()}")):
        well(made("service", "add", name, "--base-url", url, "--token-stdin", stdin=made.nest.value("token")))
    client = ("--oauth2", "--client-id", "me", "--client-secret-stdin", "--redirect-port", str(free_port()))
    well(made("service", "add", "cal", "--base-url", api, *client, stdin=made.nest.value("client")))
    for name, mode in (("tools", "plain"), ("chatty", "chatty"), ("exits", "exits")):
        token = ("--token-env", "SERVER_TOKEN", "--token-stdin")
        well(made("mcp", "add", name, *token, "--", *mcp_calls.command(mode), stdin=made.nest.value("mcp")))
    for name, path in (("remote", "json"), ("refused", "refuses-all")):
        well(made("mcp", "add", name, "--url", remote.url(path), "--token-stdin", stdin=made.nest.value("url")))


def _plugin(made: World) -> None:
    settings = [{"key": "api_key", "type": "secret"}, {"key": "region", "type": "string", "sensitive": True}]
    outputs = [{"type": "draft", "kinds": ["blog"]}, {"type": "publish", "via": "send"}]
    tools = [plugins.allow("exits", "say"), plugins.named("send", "consequential")]
    plugins.write(made.workspace / "plugin", settings=settings, outputs=outputs, tools=tools)
    digest = made("plugin", "review", "plugin", "-o", "json").json["digest"]
    well(made("plugin", "review", "plugin", "--approve", digest))
    well(made("plugin", "settings", plugins.ID, "set", "api_key", "--stdin", stdin=made.nest.value("setting")))
    added = made("draft", "add", "@note.md", "--plugin", plugins.ID, "--kind", "blog", "--title", "T", "-o", "json")
    made.places["draft"] = added.json["id"]
    made.places["waiting"] = made("call", "web", "send", "--arg", "text=x").json["error"]["confirmation"]


def _signed_in(made: World) -> None:
    with connecting("cal", "--no-browser", "--workspace", str(made.workspace), env=made.environment) as running:
        asked = dict(parse_qsl(urlsplit(running.address()).query))
        browse(f"{asked['redirect_uri']}?code=a-code&state={asked['state']}")
        ended = running.ended()
        assert ended.status == 0, ended
        made.clean("oauth connect", ended.out, ended.err)


def well(ran: Ran) -> None:
    assert ran.status == 0, ran


def leaves(command: Command) -> Iterator[Command]:
    if not command.commands:
        yield command
    for one in command.commands:
        yield from leaves(one)


LEAVES: Final = {" ".join(leaf.path): leaf for leaf in leaves(whole())}


def test_a_secret_is_found_whatever_became_of_it(tmp_path: Path) -> None:
    one = canary("one", HARD)
    nest = Nest((one,))
    became = [
        *(one.value, quote(one.value), json.dumps({"a": one.value}), json.dumps(one.value, ensure_ascii=False)),
        *(base64.b64encode(f"{'x' * before}{one.value}yz".encode()).decode() for before in range(6)),
        *(one.value.encode().hex(), one.value[: len(one.value) // 2 - 4], f"Basic {one.value[-15:]}", repr(one.value)),
    ]
    for number, text in enumerate(became):
        assert nest.sought(text.encode()), text
        (tmp_path / str(number)).write_text(text)
    assert len({told.partition(" in ")[2] for told in nest.in_files(tmp_path, but="")}) == len(became)
    assert nest.sought(canary("one", HARD).value.encode()) == []
    with watching(nest, {"GIVEN": "one"}) as watch:
        for word, name in ((one.value, "NONE"), ("60", "OTHER"), ("60", "GIVEN")):
            env = {**os.environ, name: "" if name == "NONE" else one.value}
            with subprocess.Popen(["sh", "-c", "echo; read x", word], env=env, stdin=-1, stdout=-1) as process:
                assert process.stdout is not None and process.stdout.readline() == b"\n"
                watch.look()
    assert len({told.partition(" in ")[2] for told in watch.leaks}) == 2
    assert watch.named == {"one"}


def test_every_command_has_a_line() -> None:
    assert SWEEP.keys() == LEAVES.keys()
    assert set(ONCE) <= SWEEP.keys()


def ways(name: str, number: int) -> list[list[str]]:
    """The options of a command's Nth run: the first is run in both ways, the others in turn in the one or the other."""
    has_output = any("--output" in option.names for option in LEAVES[name].options)
    told = ["-v", *(["-o", "json"] if has_output else [])]
    if name in ONCE or number % 2:
        return [told if number % 2 else ["-v"]]
    return [[], told] if number == 0 else [[]]


def sweep(world: World, name: str, wrong: list[str]) -> None:
    for number, (text, status) in enumerate(SWEEP[name]):
        words, stdin = world.filled(text)
        for options in ways(name, number):
            # Whoever sets a variable gives it to all that is started; this one is for one command.
            env = {"CANARY_URL": world.places["url"]} if "CANARY_URL" in words else {}
            ran = world(*name.split(), *options, *words, stdin=stdin, **env)
            told = f"helm {name} {' '.join([*options, *words])}"
            world.clean(told, ran.out, ran.err)
            if ran.status != status:
                wrong.append(f"{told}: {ran.status} {ran.out} {ran.err}")


@pytest.mark.contract("C60", "C72")
def test_no_secret_is_anywhere_but_in_the_store(world: World) -> None:
    home, wrong = world.folder / "user" / ".helm", list[str]()
    with watching(world.nest, {"SERVER_TOKEN": "mcp"}) as watch:
        for name in SWEEP:
            sweep(world, name, wrong)
            if name == "agent start":
                # Once more, through the agent, which keeps the servers that it started.
                sweep(world, "call", wrong)
                watch.look()
    assert not wrong, "\n".join(wrong)
    assert (watch.leaks, watch.named) == (set(), {"mcp"})
    assert world.nest.in_files(world.folder, but="credentials.json") == []
    # They were there, and were used.
    sent = {value for request in world.received for value in request.header("Authorization")}
    assert sent == {f"Bearer {world.nest.value(name)}" for name in ("token", "access")}
    kept = (home / "credentials.json").read_text()
    assert all(
        json.dumps(world.nest.value(name))[1:-1] in kept for name in ("password", "token", "client", "mcp", "setting")
    )
    assert (home / "credentials.json").stat().st_mode & 0o777 == 0o600


def test_help_and_what_is_not_understood_hold_none(world: World) -> None:
    for name in LEAVES:
        for words, status in (("--help",), 0), ((f"--nope={world.nest.value('token')}",), 2):
            ran = world(*name.split(), *words)
            assert ran.status == status, (name, ran)
            if status == 0:
                world.clean(name, ran.out, ran.err)


def test_nor_does_a_process_or_a_terminal_show_one(world: World, helm: Helm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.workspace)
    adding = f"db add typed {SERVER}".split()
    with watching(world.nest, {"SERVER_TOKEN": "mcp"}) as watch:
        for words, name in ((("db", "test", "pg"), None), (("service", "edit", "gone", "--token-stdin"), "token")):
            ran = helm(*words, env=world.environment, stdin=world.nest.value(name) if name else "")
            assert ran.status == 0, ran
            world.clean(" ".join(words), ran.out, ran.err)
        with at_terminal(*HELM, *adding, env=world.environment, size=(120, 30)) as screen:
            screen.wait_for("Password")
            screen.send(world.nest.value("password").replace("\t", "").encode(), ENTER)
            assert screen.status() == 0
            world.clean("db add", screen.raw.decode())
        with at_terminal(*HELM, "db", "query", "pg", "SELECT 1 AS one", env=world.environment) as screen:
            assert screen.status() == 0
            world.clean("db query", screen.raw.decode())
    assert watch.leaks == set()
    assert world.nest.in_files(world.folder, but="credentials.json") == []
