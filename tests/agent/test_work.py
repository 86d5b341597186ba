"""The agent at work: many callers at once, two workspaces, warm connections, flat memory, and its own end."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from helm_cli.agent import client, control, log, place
from helm_cli.broker.stores import Stores
from helm_cli.drivers import kept
from tests.agent.conftest import approve, request
from tests.program import Finished, Helm, environment, run
from tests.rig import agents
from tests.rig import mariadb as mariadb_rig
from tests.rig import postgres as postgres_rig
from tests.rig.agents import Agent, eventually, processes
from tests.rig.mariadb import MariaDb
from tests.rig.postgres import Postgres

RECENT = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1")
ANSWER = '{"ok":true,"data":{"columns":["id","title","status"],"rows":[[199,"Ticket 199","open"]]},"error":null}\n'
ENVELOPE = json.loads(ANSWER)


def test_start_and_stop_say_what_they_did(helm: Helm, home: Path) -> None:
    assert helm("agent", "stop") == Finished(0, "", "helm: no agent runs\n")
    assert helm("agent", "status", "-o", "json") == Finished(10, '{"running":false}\n', "")
    started = helm("agent", "start")
    (pid,) = processes(home)
    told = f"process {pid}, helm 0.1.0, log {home}/run/agent.log\n"
    assert started == Finished(0, "", f"helm: the agent runs: {told}")
    assert helm("agent", "start") == Finished(0, "", f"helm: the agent runs already: {told}")
    status = helm("agent", "status", "-o", "json").json
    assert {**status, "since": "", "idle_seconds": 0} == {
        "running": True,
        "pid": pid,
        "version": "0.1.0",
        "since": "",
        "idle_seconds": 0,
        "calls": 0,
        "calls_running": 0,
        "kept": [],
        "differing": [],
    }
    assert helm("agent", "status").out.splitlines()[:3] == [
        "running        yes",
        f"pid            {pid}",
        "version        0.1.0",
    ]
    assert helm("agent", "stop") == Finished(0, "", f"helm: the agent ended: process {pid}\n")
    assert processes(home) == []
    lines = [line.split("] ")[1] for line in (home / "run" / "agent.log").read_text().splitlines()]
    assert lines == ["began, helm 0.1.0", "ended: asked to"]


def test_it_belongs_to_no_terminal_and_no_folder(agent: Agent) -> None:
    fields = Path(f"/proc/{agent.pid}/stat").read_text().rpartition(")")[2].split()
    parent, group, session, terminal = map(int, fields[1:5])
    assert (session != agent.pid, terminal) == (False, 0) or (session == group, terminal) == (True, 0)
    assert parent != os.getpid()
    assert os.readlink(f"/proc/{agent.pid}/cwd") == "/"
    for descriptor in range(3):
        assert os.readlink(f"/proc/{agent.pid}/fd/{descriptor}") == "/dev/null"


def test_it_keeps_nothing_open_of_whoever_started_it(helm: Helm, home: Path, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with open(lock, "w") as held:
        os.set_inheritable(held.fileno(), True)
        fcntl.flock(held, fcntl.LOCK_EX)
        command = [sys.executable, "-m", "helm_cli", "agent", "start"]
        done = subprocess.run(command, env=environment({}), capture_output=True, pass_fds=(held.fileno(),), check=False)
        assert done.returncode == 0
    (pid,) = processes(home)
    links = [os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")]
    assert str(lock) not in links
    with open(lock) as again:
        fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_it_finds_no_modules_in_the_folder_that_it_is_started_in(
    helm: Helm, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert helm("agent", "start").status == 0
    (pid,) = processes(home)
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    (path,) = [json.loads(word) for word in words if word.startswith(b"[")]
    assert path
    assert all(os.path.isabs(entry) and os.path.realpath(entry) != os.getcwd() for entry in path)


def test_of_many_starts_at_once_one_starts_it(helm: Helm, home: Path) -> None:
    home.mkdir(mode=0o700)
    told: list[Finished] = []
    starting = [threading.Thread(target=lambda: told.append(helm("agent", "start"))) for _ in range(6)]
    for thread in starting:
        thread.start()
    for thread in starting:
        thread.join(60)
    (pid,) = processes(home)
    assert [(one.status, one.out) for one in told] == [(0, "")] * 6
    assert all(f"process {pid}," in one.err for one in told)
    assert sum(one.err.startswith("helm: the agent runs: ") for one in told) == 1


def at_once(home: Path, count: int) -> list[client.Told | None]:
    """So many reads side by side."""
    answers: list[client.Told | None] = []

    def read() -> None:
        stores = Stores(home)
        answers.append(client.read(stores, request("app", "recent", status="open", limit=1)))
        stores.close()

    threads = [threading.Thread(target=read) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return answers


def test_fifty_callers_at_once(agent: Agent, unlimited: None) -> None:
    assert at_once(agent.home, 50) == [client.Told(ENVELOPE, "rows")] * 50
    assert agent.calls() == 50


def test_a_batch_that_found_no_agent_looks_again_in_a_moment(helm: Helm, home: Path, app: Path) -> None:
    asked = request("app", "recent", status="open", limit=1)
    with closing(Stores(home)) as stores, kept.open_ones():
        assert client.read(stores, asked) is None
        with agents.agent(helm, home) as agent:
            eventually(lambda: client.read(stores, asked) is not None)
            assert client.read(stores, asked) == client.Told(ENVELOPE, "rows")
            assert agent.calls() == 2
        assert client.read(stores, asked) is None


def test_two_workspaces(helm: Helm, agent: Agent, app: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert helm(*RECENT, cwd=other).status == 3
    shutil.copytree("tickets", other / "tickets")
    digest = helm("plugin", "review", "tickets", "-o", "json", cwd=other).json["digest"]
    assert helm("plugin", "review", "tickets", "--approve", digest, cwd=other).status == 0
    assert helm(*RECENT, cwd=other) == Finished(0, ANSWER, "")
    assert helm("plugin", "disable", "tickets", cwd=other).status == 0
    assert helm(*RECENT, cwd=other).status == 3
    assert helm(*RECENT) == Finished(0, ANSWER, "")
    # What was approved is looked at in each call.
    Path("tickets/manifest.json").write_text("{}")
    assert helm(*RECENT).status == 3
    assert agent.calls() == 5


@contextmanager
def on_postgres(helm: Helm, server: Postgres) -> Iterator[None]:
    server.fresh("CREATE TABLE tickets (id integer PRIMARY KEY, title text, status text)")
    where = ["--host", "127.0.0.1", "--port", str(server.port), "--database", "zq_main", "--user", postgres_rig.OWNER]
    add = ["db", "add", "pg", "--engine", "postgres", *where, "--password-stdin"]
    assert helm(*add, stdin=postgres_rig.PASSWORD).status == 0
    yield
    assert server.quiet()


POSTGRES = {
    "seen": "SELECT pg_backend_pid(), current_setting('my.secret', true), current_setting('search_path'),"
    " (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory')",
    "leave": "SELECT set_config('my.secret', 'x', false), set_config('search_path', 'nowhere', false),"
    " pg_advisory_lock(7)::text",
    "sleep": "SELECT pg_sleep(4)::text",
}


def queries(id_: str, connection: str, profile: str, engine: str, statements: dict[str, str]) -> dict[str, Any]:
    declared = {name: {"sql": sql, "params": []} for name, sql in statements.items()}
    entry = {"id": connection, "kind": "db", "service": profile, "engine": engine, "queries": declared}
    return {"id": id_, "name": id_, "version": "1.0.0", "connections": [entry]}


def seen(helm: Helm, connection: str) -> list[Any]:
    row: list[Any] = helm("call", connection, "seen").json["data"]["rows"][0]
    return row


def test_a_postgres_session_serves_one_extension_and_keeps_nothing(
    helm: Helm, home: Path, app: Path, postgres: Postgres, unlimited: None
) -> None:
    with on_postgres(helm, postgres), agents.agent(helm, home) as agent:
        for id_ in ("one", "two"):
            approve(helm, queries(id_, id_, "pg", "postgres", POSTGRES))

        first = seen(helm, "one")
        assert first[1:] == [None, '"$user", public', 0]
        assert seen(helm, "one") == first
        assert seen(helm, "two")[0] != first[0]
        labels = [(one["what"], one["calls"], one["busy"]) for one in agent.status()["kept"]]
        assert labels == [("db/pg for one", 2, False), ("db/pg for two", 1, False)]
        assert helm("call", "one", "leave").status == 0
        for connection in ("one", "two"):
            assert seen(helm, connection)[1:] == [None, '"$user", public', 0]
        # A profile that changed is another target, whose connection is another's.
        again = seen(helm, "one")
        assert helm("db", "edit", "pg", "--tls", "disable").status == 0
        assert helm("db", "edit", "pg", "--password-stdin", stdin=postgres_rig.PASSWORD).status == 0
        assert seen(helm, "one")[0] != again[0]
        ended = agent.pid
        assert helm("agent", "stop").status == 0
        assert agents.state(ended) in ("", "Z")


def test_a_caller_that_ends_ends_its_query_on_the_server(helm: Helm, home: Path, app: Path, postgres: Postgres) -> None:
    with on_postgres(helm, postgres), agents.agent(helm, home):
        approve(helm, queries("one", "one", "pg", "postgres", POSTGRES))
        command = [sys.executable, "-m", "helm_cli", "call", "one", "sleep"]
        with subprocess.Popen(command, env=environment({}), stdout=subprocess.DEVNULL) as process:
            eventually(lambda: any("pg_sleep" in str(query) for _, state, query in postgres.running()))
            process.kill()
        begun = time.monotonic()
        eventually(lambda: not any(state == "active" for _, state, _ in postgres.running()))
        assert time.monotonic() - begun < 2


MYSQL = {
    "seen": "SELECT CONNECTION_ID(), @mine, @@sort_buffer_size, IS_USED_LOCK('held')",
    "leave": "SELECT @mine := 7, GET_LOCK('held', 0)",
}


def test_a_mariadb_session_serves_one_extension_and_keeps_nothing(
    helm: Helm, home: Path, app: Path, mariadb: MariaDb, unlimited: None
) -> None:
    where = ["--host", "127.0.0.1", "--port", str(mariadb.port), "--database", "app", "--user", mariadb_rig.USER]
    add = ["db", "add", "my", "--engine", "mysql", *where, "--password-stdin"]
    assert helm(*add, stdin=mariadb_rig.PASSWORD).status == 0
    with agents.agent(helm, home) as agent:
        for id_ in ("one", "two"):
            approve(helm, queries(id_, id_, "my", "mysql", MYSQL))

        first = seen(helm, "one")
        assert (first[1], first[3]) == (None, None)
        assert seen(helm, "one") == first
        assert seen(helm, "two")[0] != first[0]
        assert helm("call", "one", "leave").status == 0
        assert seen(helm, "one") == first
        assert seen(helm, "two")[1:] == first[1:]
        labels = [(one["what"], one["calls"]) for one in agent.status()["kept"]]
        assert labels == [("db/my for one", 4), ("db/my for two", 2)]


def test_a_call_through_the_agent_loads_no_driver(helm: Helm, home: Path, app: Path, postgres: Postgres) -> None:
    listing = (
        "import json, sys; from helm_cli.__main__ import main; status = main(sys.argv[1:]);"
        " print(json.dumps(sorted(sys.modules)), file=sys.stderr); sys.exit(status)"
    )
    with on_postgres(helm, postgres), agents.agent(helm, home):
        approve(helm, queries("one", "one", "pg", "postgres", POSTGRES))
        told = run([sys.executable, "-c", listing, "call", "one", "seen"])
        assert told.status == 0
        loaded = {name.partition(".")[0] for name in json.loads(told.err)}
        assert not loaded & {"psycopg", "psycopg_binary", "httpx", "mcp", "asyncio", "keyring", "ssl"}
        assert not any(name.startswith("helm_cli.drivers.postgres") for name in json.loads(told.err))
        # Not even what makes calls.
        assert not {"helm_cli.broker.call", "helm_cli.dialects", "helm_cli.kinds"} & set(json.loads(told.err))


def test_memory_is_flat_over_many_calls(agent: Agent, unlimited: None) -> None:
    """300 calls; 1,000 where HELM_TEST_LONG is set."""
    stores = Stores(agent.home)

    def calls(count: int) -> int:
        with kept.open_ones():
            for _ in range(count):
                told = client.read(stores, request("app", "recent", status="open", limit=20))
                assert told is not None and told.envelope["ok"] is True
        return resident(agent.pid)

    # First with all its threads.
    at_once(agent.home, 80)
    before = calls(150)
    after = calls(1000 if os.environ.get("HELM_TEST_LONG") else 300)
    stores.close()
    assert after - before < 2048, f"{before} KiB, then {after} KiB"


def resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def another_version(folder: Path) -> Path:
    """A copy of helm that says that it is of another version; the folder that is in its path."""
    source = Path(place.__file__).parents[1]
    shutil.copytree(source, folder / "helm_cli", ignore=shutil.ignore_patterns("__pycache__"))
    text = (folder / "helm_cli" / "__init__.py").read_text()
    (folder / "helm_cli" / "__init__.py").write_text(text.replace('"0.1.0"', '"0.0.9"'))
    return folder


def test_an_agent_of_another_version_is_replaced(helm: Helm, home: Path, app: Path, tmp_path: Path) -> None:
    older = {"PYTHONPATH": str(another_version(tmp_path / "older"))}
    assert run([sys.executable, "-m", "helm_cli", "agent", "start"], env=older).err.split(",")[1] == " helm 0.0.9"
    (old,) = processes(home)
    assert helm(*RECENT) == Finished(0, ANSWER, "")

    def followed() -> bool:
        return len(processes(home)) == 1 and processes(home) != [old] and control.status(home) is not None

    eventually(followed)
    assert helm(*RECENT) == Finished(0, ANSWER, "")
    status = helm("agent", "status", "-o", "json").json
    assert (status["version"], status["calls"]) == ("0.1.0", 1)
    # A start says so itself, and waits for the new one.
    run([sys.executable, "-m", "helm_cli", "agent", "stop"])
    assert run([sys.executable, "-m", "helm_cli", "agent", "start"], env=older).status == 0
    assert ", helm 0.1.0," in helm("agent", "start").err
    assert len(processes(home)) == 1


def test_it_ends_when_nothing_was_called_for_a_while(home: Path, helm: Helm, app: Path) -> None:
    home.joinpath("config.toml").write_text("[agent]\nidle_minutes = 2\n")
    # A minute of 0.5 seconds.
    start = "import sys; from helm_cli.agent.process import main; main(sys.argv[1], 0.5)"
    with subprocess.Popen([sys.executable, "-c", start, str(home)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"ready"
    begun = time.monotonic()
    (pid,) = [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if is_agent(pid, home)]
    assert helm(*RECENT).status == 0
    Agent(home, pid).gone()
    assert 1 < time.monotonic() - begun < 15
    assert place.of(home).log.read_text().endswith("ended: nothing was called for a while\n")


def is_agent(pid: int, home: Path) -> bool:
    try:
        return os.fsencode(home) in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def test_it_is_started_with_what_it_needs_of_the_environment(helm: Helm, home: Path, app: Path) -> None:
    given = {
        "MY_TOKEN": "zq-secret",
        "PGPASSWORD": "zq-secret",
        "AWS_SECRET_ACCESS_KEY": "zq-secret",
        "HELM_KUBECONTEXT": "x",
        "HELM_CLI_WORKSPACE": str(Path.cwd()),
        "https_proxy": "http://127.0.0.1:9",
        "SSL_CERT_FILE": "/x.pem",
        "SSL_CERT_DIR": "/x",
        "PYTHONWARNINGS": "error",
    }
    with agents.agent(helm, home, dict(given)) as agent:
        words = Path(f"/proc/{agent.pid}/environ").read_bytes()
        names = {word.partition(b"=")[0].decode() for word in words.split(b"\0") if word}
        assert names == {
            "HELM_CLI_HOME",
            "HOME",
            "LC_ALL",
            "MALLOC_ARENA_MAX",
            "PATH",
            "SSL_CERT_DIR",
            "SSL_CERT_FILE",
            "TERM",
            "TZ",
            "https_proxy",
        } | {name for name in ("LOGNAME", "SHELL", "USER", "TMPDIR") if name in os.environ}
        assert b"zq-secret" not in words + Path(f"/proc/{agent.pid}/cmdline").read_bytes()
        assert helm(*RECENT, env=dict(given)).status == 0
        assert agent.calls() == 1


# What a caller may have otherwise than the agent -> whether its calls of a database still go through the agent.
DIFFERENT: dict[str, tuple[dict[str, str | None], bool]] = {
    "the same": ({}, True),
    "a program's path": ({"PATH": "/usr/bin:/bin"}, True),
    "a terminal": ({"TERM": "dumb"}, True),
    "a proxy": ({"HTTPS_PROXY": "http://127.0.0.1:9"}, False),
    "no proxy": ({"no_proxy": "*"}, False),
    "authorities": ({"SSL_CERT_DIR": "/x"}, False),
    "a keychain": ({"DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"}, False),
    "a place for secrets": ({"HELM_CLI_CREDENTIALS": "file"}, False),
    "a time zone": ({"TZ": "Europe/Rome"}, False),
}


def test_a_call_from_other_surroundings_is_made_in_them(helm: Helm, agent: Agent, app: Path) -> None:
    for what, (env, through) in DIFFERENT.items():
        before = agent.calls()
        assert helm(*RECENT, env=env) == Finished(0, ANSWER, ""), what
        assert agent.calls() - before == through, what
    status = helm("agent", "status", env={"TZ": "Europe/Rome", "PATH": os.environ["PATH"] + ":/x"})
    assert "some calls from here are made without the agent" in status.err
    assert "another TZ, PATH;" in status.err


def test_its_log_is_bounded(tmp_path: Path) -> None:
    file = tmp_path / "agent.log"
    for number in range(4000):
        log.say(file, f"line {number} {'x' * 100}")
    assert file.stat().st_size <= log.MOST_BYTES
    lines = file.read_text().splitlines()
    assert lines[-1].split("] ")[1].startswith("line 3999 ")
    assert all(line.startswith("20") for line in lines)
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    log.say(file, "nothing")
    assert not (tmp_path / "elsewhere").exists()


def test_its_log_tells_nothing_of_the_calls(helm: Helm, agent: Agent, app: Path) -> None:
    assert helm("call", "app", "recent", "--arg", "status=zq-secret", "--arg", "limit=1").status == 0
    assert helm("call", "count", "failing").status == 14
    agent_log = place.of(agent.home).log.read_text()
    assert [line.split("] ")[1] for line in agent_log.splitlines()] == ["began, helm 0.1.0"]
