"""Each text that acts on a terminal, at each place where foreign text reaches one: it is seen, and does nothing.

The program runs at a real terminal, and every byte that this was sent is looked at.
"""

import json
import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest

from helm_cli.model.jsontext import repaired
from tests.rig import hostile_mcp, http_server, place, team
from tests.rig.files import sha256
from tests.rig.hostile import LINE, LONG, SURROGATE, TEXTS, acting, missing
from tests.rig.http_server import Peer, Received
from tests.rig.place import Place
from tests.rig.stepped import Stepped

# As a word of a command line, and where a text must not hold a NUL.
WORD: Final = LINE.replace("\0", "")
BARE: Final = re.sub(r"[\s/\"'#\\]", "", WORD)
CONTROL: Final = r"[\x00-\x1f\x7f-\x9f\u2028\u2029]"
LEFT_OUT: Final = rf"{CONTROL}|\\"
TITLE: Final = re.sub(CONTROL, "", WORD)[:200]
LINES: Final = "".join(f"<{name}>{text}\n" for name, text in TEXTS.items())
# A name of a file each.
NAMES: Final = [f"<{name}>{text}".replace("/", ":").replace("\0", "")[:80] for name, text in TEXTS.items()]
# A machine's name that is no plain one is not shown, so that of the file is.
NETRC: Final = f"netrc{BARE[:60]}"
SERVER: Final = (sys.executable, "-I", str(Path(hostile_mcp.__file__)))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""').replace("\0", "") + '"'


VERBS: Final = ["list", "read", "write"]
MANIFEST: Final[dict[str, Any]] = {
    "id": "evil",
    "permissions": {"write": True},
    "connections": [
        {
            "id": "app",
            "kind": "db",
            "service": "app",
            "engine": "sqlite",
            "queries": {
                "rows": {"sql": "SELECT name, text FROM texts ORDER BY rowid", "params": []},
                "columns": {"sql": "SELECT * FROM columns", "params": []},
                "long": {"sql": "SELECT text FROM long", "params": []},
                "broken": {"sql": "SELECT * FROM broken", "params": []},
                "given": {"sql": "SELECT ?", "params": ["text"]},
                "keep": {"sql": "INSERT INTO texts VALUES (?, '')", "params": ["text"], "write": True},
            },
        },
        {
            "id": "api",
            "kind": "http",
            "service": "api",
            "calls": {
                "data": {"method": "GET", "path": "/data"},
                "fail": {"method": "GET", "path": "/fail"},
                "send": {"method": "POST", "path": "/x/{text}", "body": {"text": "{text}"}, "write": True},
            },
        },
        {"id": "tool", "kind": "mcp", "server": "tool", "operations": ["say", "fail"], "writes": ["shout"]},
        {"id": "dead", "kind": "mcp", "server": "dead", "operations": ["say"]},
        {
            "id": "ws",
            "kind": "files",
            "root": "workspace",
            "paths": ["docs/**"],
            "operations": ["list", "read", "write"],
        },
    ],
}


def database(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE texts (name TEXT, text TEXT)")
        db.executemany("INSERT INTO texts VALUES (?, ?)", [(f"<{name}>", text) for name, text in TEXTS.items()])
        db.execute("INSERT INTO texts VALUES ('<bytes>', CAST(x'61eda080ff9b6d' AS TEXT))")
        db.execute(f"CREATE TABLE columns ({', '.join(quoted(name + text) for name, text in TEXTS.items())})")
        db.execute(f"INSERT INTO columns VALUES ({', '.join('1' for _ in TEXTS)})")
        db.execute("CREATE TABLE long (text)")
        db.execute("INSERT INTO long VALUES (?)", (LONG,))
        db.execute(f"CREATE VIEW broken AS SELECT 1 FROM {quoted(LINE)}")
        db.commit()


def serve(peer: Peer, request: Received) -> None:
    if request.target == "/data":
        peer.send(http_server.response(json.dumps({**TEXTS, LINE: [SURROGATE]}).encode()))
    else:
        peer.send(http_server.response(json.dumps({"message": LINE}).encode(), "500 \u00a0\u00ad"))


@pytest.fixture(scope="module")
def evil(stepping: Stepped) -> Iterator[Place]:
    """A home and a workspace in which everything that somebody else may write is hostile."""
    with tempfile.TemporaryDirectory(prefix="helm-evil-") as folder, http_server.serving(serve) as server:
        here = place.new_place(stepping, Path(folder), server)
        database(here.workspace / "app.db")
        (here.home / "config.toml").write_text("[history]\nkeep_arguments = true\n")
        (here.home / "config.toml").chmod(0o600)
        here.well("db", "add", "app", "--engine", "sqlite", "--path", str(here.workspace / "app.db"))
        where = ("--host", "127.0.0.1", "--port", "1", "--database", WORD, "--user", WORD)
        here.well("db", "add", "words", "--engine", "postgres", *where)
        here.well("service", "add", "api", "--base-url", server.url, "--no-token")
        here.well("mcp", "add", "tool", "--", *SERVER, WORD)
        here.well("mcp", "add", "dead", "--", *SERVER, WORD, "dies")
        write_files(here.workspace)
        for job in (
            here.approve("evil", MANIFEST),
            here.approve("shown", hostile_manifest("shown")),
            here.approve("changed", {**MANIFEST, "id": "changed"}),
        ):
            assert here.run(job).status == 0
        (here.workspace / "changed" / "manifest.json").write_text(json.dumps(hostile_manifest("changed")))
        team.write(here.workspace / "marketing", team.PLUGIN)
        assert here.run(here.pinned("marketing")).status == 0
        words = ("draft", "add", "--plugin", team.ID, "--kind", "blog", "--title")
        here.well(*words, TITLE, stdin=LINES)
        here.helm(*call("app", "given", *GIVEN))
        yield here


def hostile_manifest(id_: str) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(json.dumps({**MANIFEST, "id": id_, "name": LINE, "description": LINE}))
    manifest["version"] = LINE
    manifest["connections"][0]["queries"]["rows"]["sql"] = f"SELECT 1 -- {WORD}"
    manifest["connections"][1]["calls"]["data"]["query"] = {LINE: LINE}
    manifest["connections"][1]["calls"]["send"]["body"] = {LINE: [LINE]}
    return manifest


def write_files(workspace: Path) -> None:
    (workspace / "docs").mkdir()
    for name in NAMES:
        (workspace / "docs" / name).write_text("x")
    (workspace / "docs" / "text.md").write_text(LINES)
    (workspace / "review").mkdir()
    (workspace / "review" / "manifest.json").write_text(json.dumps(hostile_manifest("reviewed")))
    (workspace / "invalid").mkdir()
    (workspace / "invalid" / "manifest.json").write_text(
        json.dumps({"id": LINE, LINE: 1, "connections": [{LINE: LINE}]})
    )
    fields = f'engine = "postgres"\nhost = "h"\nport = 1\ndatabase = {toml(WORD)}\nuser = {toml(WORD)}\n'
    (workspace / "helm.toml").write_text(f"version = 1\n[db.w]\n{fields}")
    word = quote(re.sub("[:@]", "", BARE), safe="")
    url = f"postgres://{word}:p@h/{word}"
    (workspace / "env").write_text(f"DATABASE_URL={url}\nB_URL=mysql://{WORD}\n".replace("\0", ""))
    machines = f"machine {BARE} login {BARE} password x\nmachine a.example.com password {BARE}\n"
    (workspace / NETRC).write_text(machines)
    (workspace / NETRC).chmod(0o600)
    asked = {"connection": "app", "operation": WORD, "plugin": "evil"}
    (workspace / "batch.jsonl").write_text(f"{json.dumps(asked)}\n{LINE}")


def toml(text: str) -> str:
    return '"' + "".join(char if char.isalnum() else f"\\U{ord(char):08x}" for char in text) + '"'


def call(connection: str, operation: str, *more: str) -> tuple[str, ...]:
    return ("call", connection, operation, "--plugin", "evil", *more)


GIVEN: Final = ("--arg", f"text={WORD}")
WRITING: Final = {"path": "docs/text.md", "expected_sha256": sha256(LINES.encode()), "text": LINES[::-1]}
# Where the text stands -> the words of the run, and whether every one of the texts is to be seen in it.
PLACES: Final[dict[str, tuple[tuple[str, ...], bool]]] = {
    **{
        f"rows as {format_}": (call("app", "rows", "-o", format_), True)
        for format_ in ("auto", "json", "pretty", "data", "table", "csv", "tsv", "ndjson")
    },
    "names of columns": (call("app", "columns"), False),
    "names of columns as csv": (call("app", "columns", "-o", "csv"), False),
    "a long line": (call("app", "long"), False),
    "an error of SQLite": (call("app", "broken"), True),
    "an argument": (call("app", "given", *GIVEN), True),
    "a write to confirm": (call("app", "keep", *GIVEN), True),
    "an answer of a service": (call("api", "data"), False),
    "an error of a service": (call("api", "fail"), True),
    "a request to confirm": (call("api", "send", *GIVEN), False),
    "a tool's text": (call("tool", "say"), True),
    "a tool's error": (call("tool", "fail"), True),
    "a tool's call to confirm": (call("tool", "shout", *GIVEN), True),
    "a server's last words": (call("dead", "say"), False),
    "the tools of a server": (("mcp", "tools", "tool"), False),
    "a server that dies": (("mcp", "test", "dead"), False),
    "names of files": (call("ws", "list"), False),
    "a text": (call("ws", "read", "--arg", "path=docs/text.md"), True),
    "a file's change": (call("ws", "write", "--args", json.dumps(WRITING)), False),
    "a review": (("plugin", "review", "review"), True),
    "a review as json": (("plugin", "review", "review", "-o", "json"), True),
    "faults": (("plugin", "validate", "invalid"), False),
    "faults of a review": (("plugin", "review", "invalid"), False),
    "a review of a change": (("plugin", "review", "changed"), True),
    "an extension": (("plugin", "show", "shown"), True),
    "drafts": (("draft", "list"), False),
    "profiles": (("db", "list"), False),
    "a profile": (("db", "show", "words"), True),
    "a command": (("mcp", "show", "tool"), True),
    "profiles of another machine": (("config", "import", "helm.toml"), False),
    "connection URLs": (("db", "import", "--env-file", "env"), False),
    "tokens of another program": (("service", "import", f"./{NETRC}"), False),
    "health": (("doctor",), False),
    "the history": (("history",), False),
    "the history as json": (("history", "-o", "json"), False),
    "a batch": (("call", "--batch", "batch.jsonl"), False),
    "no such command": ((WORD,), False),
    "no such operation": (call("app", WORD), False),
    "no such connection": (call(WORD, "x"), False),
    "no such argument": (call("app", "given", "--arg", WORD), False),
    "no such format": (call("app", "rows", "-o", WORD), False),
    "no such option": (("db", "list", f"--{WORD}"), False),
    "no such profile": (("db", "show", WORD), False),
    "no such extension": (("plugin", "show", WORD), False),
    "no such folder": (("plugin", "review", WORD), False),
    "no such workspace": (("history", "--workspace", WORD), False),
    "no such time": (("history", "--since", WORD), False),
    "no such confirmation": (("confirm", WORD), False),
    "no such draft": (("draft", "show", WORD), False),
}
ASKED: Final = ("Any other key cancels", "Enter: answer", "space marks")
WITH_A_BAR: Final = ("a batch", "health")
# What a shell asks for at a Tab.
TABS: Final = ("draft", "plugin", "connection", "operation", "argument", "tool", "project", "db", "mcp", "profile")


# Words of the command line that may be a secret are not told again: nothing of them is seen.
UNSAID: Final = frozenset(
    f"no such {what}" for what in ("command", "operation", "connection", "format", "option", "time")
)


@pytest.mark.contract("C120")
@pytest.mark.parametrize("name", PLACES)
def test_at_a_terminal_it_is_seen_and_does_nothing(evil: Place, name: str) -> None:
    words, whole = PLACES[name]
    ran = evil.at_terminal(*words, size=(200, 3_000))
    framed = any(mark in ran.out for mark in ASKED) or name in WITH_A_BAR
    assert acting(ran.out, dialog=framed) == "", ran.out
    assert ran.status < 20
    if name in UNSAID:
        assert missing(ran.out) == list(TEXTS)
    elif whole:
        assert missing(ran.out) == []
    else:
        assert len(missing(ran.out)) < len(TEXTS) or "\\u{1b}" in ran.out or "\\x1b" in ran.out, ran.out


@pytest.mark.contract("C120")
@pytest.mark.parametrize("kind", TABS)
def test_nothing_acts_that_a_shell_is_told_to_complete(evil: Place, kind: str) -> None:
    told = evil.helm("--complete", kind, "helm", "call", "app", "")
    assert (told.status, told.err, acting(told.out, dialog=False)) == (0, "", "")


@pytest.mark.contract("C120")
def test_a_draft_is_seen_whole(evil: Place) -> None:
    (draft,) = evil.well("draft", "list", "-o", "json").json
    shown = evil.at_terminal("draft", "show", draft["id"], size=(200, 200))
    assert acting(shown.out, dialog=False) == ""
    assert missing(shown.out) == []


def test_in_a_pipe_everything_is_as_it_was(evil: Place) -> None:
    rows = evil.well(*call("app", "rows")).json["data"]["rows"]
    assert rows[: len(TEXTS)] == [[f"<{name}>", text] for name, text in TEXTS.items()]
    assert evil.well(*call("app", "long")).json["data"]["rows"] == [[LONG]]
    assert evil.well(*call("api", "data")).json["data"] == repaired({**TEXTS, LINE: [SURROGATE]})
    assert evil.well(*call("tool", "say")).json["data"] == [{"type": "text", "text": WORD}]
    assert evil.well(*call("ws", "read", "--arg", "path=docs/text.md", "-o", "text")).out == LINES
    listed = [entry["path"] for entry in evil.well(*call("ws", "list")).json["data"]["files"]]
    # Names with a control character or a backslash are left out, and counted.
    assert {f"docs/{name}" for name in NAMES if not re.search(LEFT_OUT, name)} <= {*listed}
    for format_ in ("csv", "tsv", "ndjson", "table", "data", "pretty"):
        assert evil.helm(*call("app", "rows", "-o", format_)).status == 0
