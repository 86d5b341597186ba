"""`helm call` as a program: what it answers, in which form, with which exit status, and what it never does."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.example import MANIFEST, ready
from tests.program import Helm

RECENT = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=2")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def app(helm: Helm, workspace: Path) -> Path:
    return ready(helm, workspace)


def status_of(file: Path, id_: int) -> str:
    with closing(sqlite3.connect(file)) as db:
        return str(db.execute("SELECT status FROM tickets WHERE id = ?", (id_,)).fetchone()[0])


def test_a_pipe_gets_one_line_of_json(helm: Helm, workspace: Path, app: Path) -> None:
    ended = helm(*RECENT, cwd=workspace)
    assert ended.out == (
        '{"ok":true,"data":{"columns":["id","title","status"],'
        '"rows":[[199,"Ticket 199","open"],[197,"Ticket 197","open"]]},"error":null}\n'
    )
    assert (ended.status, ended.err) == (0, "")


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("csv", "id,title,status\r\n199,Ticket 199,open\r\n197,Ticket 197,open\r\n"),
        ("tsv", "id\ttitle\tstatus\n199\tTicket 199\topen\n197\tTicket 197\topen\n"),
        (
            "ndjson",
            '{"id":199,"title":"Ticket 199","status":"open"}\n{"id":197,"title":"Ticket 197","status":"open"}\n',
        ),
        ("data", '{"columns":["id","title","status"],"rows":[[199,"Ticket 199","open"],[197,"Ticket 197","open"]]}\n'),
    ],
)
def test_the_formats_for_programs(helm: Helm, workspace: Path, app: Path, output: str, text: str) -> None:
    assert helm(*RECENT, "-o", output, cwd=workspace).out == text


def test_a_format_that_cannot_carry_the_result_sends_nothing(helm: Helm, workspace: Path, app: Path) -> None:
    ended = helm("call", "app", "close", "--arg", "id=1", "-o", "text", cwd=workspace)
    assert ended.status == 2
    assert status_of(app, 1) == "open"
    assert helm("confirm", "--list", "-o", "json").json == []


@pytest.mark.contract("C3")
@pytest.mark.parametrize(
    ("words", "status", "code", "message"),
    [
        (
            ("call", "app", "drop"),
            3,
            "refused",
            "app declares no operation drop; it has recent, endless, close",
        ),
        (("call", "app", "recent", "--arg", "status=open"), 3, "refused", "needs the argument limit"),
        (
            ("call", "app", "recent", "--args", '{"status": [], "limit": 1}'),
            3,
            "refused",
            "the argument status is a list",
        ),
        ((*RECENT, "--arg", "sql=DROP TABLE tickets"), 3, "refused", "recent has no argument sql"),
        (("call", "nope", "recent"), 3, "refused", "declares a connection nope"),
        (("call", "app", "recent", "--plugin", "other"), 3, "refused", "other is not approved for the workspace"),
        (("call", "app"), 2, "usage", "operations: recent(status, limit), endless(), close(id) (writes)"),
        (
            ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=abc"),
            14,
            "query_failed",
            "take whole numbers only; look at the arguments status and limit",
        ),
        (("call", "app", "recent", "--arg", "status"), 2, "usage", "--arg takes NAME=VALUE"),
        (("call", "app", "endless"), 11, "too_many_rows", "1000"),
    ],
)
def test_what_does_not_go_is_one_envelope_and_one_line(
    helm: Helm, workspace: Path, app: Path, words: tuple[str, ...], status: int, code: str, message: str
) -> None:
    ended = helm(*words, cwd=workspace)
    answer: dict[str, Any] = ended.json
    assert (ended.status, answer["ok"], answer["data"], answer["error"]["code"]) == (status, False, None, code)
    assert message in answer["error"]["message"]
    assert ended.err == f"helm: {answer['error']['message']}\n"


@pytest.mark.contract("C20")
def test_without_its_profile_a_call_is_not_configured(helm: Helm, workspace: Path, app: Path) -> None:
    helm("db", "remove", "local-app")
    ended = helm(*RECENT, cwd=workspace)
    assert (ended.status, ended.json["error"]["code"]) == (4, "not_configured")
    assert "local-app" in ended.err


@pytest.mark.contract("C6")
def test_one_changed_byte_refuses_every_call_until_it_is_reviewed(helm: Helm, workspace: Path, app: Path) -> None:
    manifest = workspace / "tickets" / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace("DESC LIMIT", "ASC LIMIT"))
    ended = helm(*RECENT, cwd=workspace)
    assert (ended.status, ended.json["error"]["code"]) == (3, "refused")
    assert "changed since it was approved" in ended.err
    manifest.write_text(text)
    assert helm(*RECENT, cwd=workspace).status == 0
    manifest.unlink()
    assert helm(*RECENT, cwd=workspace).status == 3


@pytest.mark.contract("C5")
def test_a_write_without_permission_is_refused_even_where_it_was_approved(
    helm: Helm, workspace: Path, app: Path, home: Path
) -> None:
    manifest = workspace / "tickets" / "manifest.json"
    allowed = manifest.read_bytes()
    smuggled = allowed.replace(b'"write": true\n  }', b'"write": false\n  }', 1)
    assert smuggled != allowed
    import hashlib

    old, new = (hashlib.sha256(data).hexdigest() for data in (allowed, smuggled))
    digests = ["sha256:" + hashlib.sha256(f"{sum_}  manifest.json\n".encode()).hexdigest() for sum_ in (old, new)]
    manifest.write_bytes(smuggled)
    with closing(sqlite3.connect(home / "state.db")) as db, db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for _, column, *_rest in db.execute(f"PRAGMA table_info({table})").fetchall():
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (smuggled, allowed))
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, old))
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (digests[1], digests[0]))
    ended = helm("call", "app", "close", "--arg", "id=1", cwd=workspace)
    assert (ended.status, ended.json["error"]["code"]) == (3, "refused")
    assert "lacks permissions.write" in ended.err
    assert helm(*RECENT, cwd=workspace).status == 0


@pytest.mark.contract("C48", "C105", "C112")
def test_a_write_without_a_terminal_waits_for_a_person(helm: Helm, workspace: Path, app: Path) -> None:
    ended = helm("call", "app", "close", "--arg", "id=1", cwd=workspace, stdin="y\nyes\n" * 1000)
    assert (ended.status, ended.json["error"]["code"]) == (7, "confirmation_required")
    pending = ended.json["error"]["confirmation"]
    listed = helm("confirm", "--list", "-o", "json").json
    assert [(entry["id"], entry["what"], entry["operation"]) for entry in listed] == [(pending, "write", "close")]
    decided = helm("confirm", pending, stdin="y\n" * 100)
    assert decided.status == 7
    assert "needs a person at the terminal" in decided.err
    assert status_of(app, 1) == "open"


def test_a_dry_run_shows_the_request_and_sends_nothing(helm: Helm, workspace: Path, app: Path) -> None:
    ended = helm("call", "app", "close", "--arg", "id=1", "--dry-run", cwd=workspace)
    assert ended.status == 0
    assert ended.json["data"]["request"] == {
        "engine": "sqlite",
        "sql": "UPDATE tickets SET status = 'closed' WHERE id = ?",
        "params": [["id", 1]],
    }
    assert str(app) not in ended.out
    assert helm("confirm", "--list", "-o", "json").json == []
    assert status_of(app, 1) == "open"


@pytest.mark.contract("C13")
def test_no_answer_tells_where_the_database_is(helm: Helm, workspace: Path, app: Path) -> None:
    arguments = ("--arg", "status=open", "--arg", "limit=1")
    told = [helm("call", "app", name, *arguments, cwd=workspace) for name in ("recent", "drop", "endless")]
    told.append(helm("call", "app", "close", "--arg", "id=1", cwd=workspace))
    app.rename(app.with_name("elsewhere.db"))
    told.append(helm(*RECENT, cwd=workspace))
    assert told[-1].json["error"]["code"] == "unavailable"
    app.write_bytes(b"junk" * 5000)
    told.append(helm(*RECENT, cwd=workspace))
    assert told[-1].json["error"]["code"] in ("query_failed", "unavailable")
    for ended in told:
        assert "app.db" not in ended.out + ended.err


@pytest.mark.contract("C119")
def test_sixty_calls_a_minute_count_across_processes(helm: Helm, workspace: Path, app: Path, home: Path) -> None:
    lines = "".join(
        json.dumps({"connection": "app", "operation": "recent", "args": {"status": "open", "limit": 1}}) + "\n"
        for _ in range(40)
    )
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda _: helm("call", "--batch", "-", cwd=workspace, stdin=lines), range(2)))
    answers = [json.loads(line) for run in runs for line in run.out.splitlines()]
    limited = [answer["error"] for answer in answers if not answer["ok"]]
    assert len(answers) == 80
    assert [error["code"] for error in limited] == ["rate_limited"] * 20
    assert all(1 <= error["retry_after"] <= 60 for error in limited)
    assert helm(*RECENT, cwd=workspace).status == 8
    (home / "config.toml").write_text("[limits]\ncalls_per_minute = 100\n")
    assert helm(*RECENT, cwd=workspace).status == 0


def test_waiting_for_the_rate_takes_the_place_of_failing(helm: Helm, workspace: Path, app: Path, home: Path) -> None:
    (home / "config.toml").write_text("[limits]\ncalls_per_minute = 1\n")
    assert helm(*RECENT, cwd=workspace).status == 0
    with closing(sqlite3.connect(home / "state.db")) as db, db:
        db.execute("UPDATE calls SET at = at - 58")
    ended = helm(*RECENT, "--wait-rate", cwd=workspace)
    assert ended.status == 0
    assert ended.err.startswith("helm: waiting ")


def test_the_history_tells_how_each_call_ended(helm: Helm, workspace: Path, app: Path) -> None:
    helm(*RECENT, cwd=workspace)
    helm("call", "app", "drop", cwd=workspace)
    helm("call", "app", "close", "--arg", "id=1", cwd=workspace)
    told = helm("history", "-o", "json", cwd=workspace).json
    assert [(entry["operation"], entry["outcome"]) for entry in told] == [
        ("close", "confirmation_required"),
        ("drop", "refused"),
        ("recent", "ok"),
    ]
    assert told[2]["extension"] == "tickets"
    assert '"open"' not in json.dumps(told[2])


def test_two_extensions_with_one_connection_id_are_told_apart(helm: Helm, workspace: Path, app: Path) -> None:
    other = workspace / "other"
    other.mkdir()
    (other / "manifest.json").write_text(json.dumps({**MANIFEST, "id": "other"}))
    digest = helm("plugin", "review", str(other), "-o", "json", cwd=workspace).json["digest"]
    assert helm("plugin", "review", str(other), "--approve", digest, cwd=workspace).status == 0
    ended = helm(*RECENT, cwd=workspace)
    assert ended.json["error"]["code"] == "refused"
    assert "other and tickets" in ended.err
    assert helm(*RECENT, "--plugin", "other", cwd=workspace).status == 0
    assert helm("plugin", "disable", "other", cwd=workspace).status == 0
    assert helm(*RECENT, cwd=workspace).status == 0


def test_a_workspace_is_found_from_below_and_named_in_what_is_refused(
    helm: Helm, workspace: Path, app: Path, tmp_path: Path
) -> None:
    below = workspace / "src" / "deep"
    below.mkdir(parents=True)
    assert helm(*RECENT, cwd=below).status == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ended = helm(*RECENT, cwd=elsewhere)
    assert f"the workspace {elsewhere} (the current folder)" in ended.err
    assert f"only for {workspace}" in ended.err
    assert helm(*RECENT, "--workspace", str(workspace), cwd=elsewhere).status == 0
    assert helm(*RECENT, cwd=elsewhere, env={"HELM_CLI_WORKSPACE": str(workspace)}).status == 0


def test_a_batch_answers_in_its_order_with_the_first_failure_s_status(helm: Helm, workspace: Path, app: Path) -> None:
    rows: list[Any] = [
        {"connection": "app", "operation": "recent", "args": {"status": "open", "limit": 1}, "id": "a"},
        {"connection": "app", "operation": "drop", "id": 7},
        {"connection": "app", "operation": "endless"},
        {"connection": "app", "operation": "close", "args": {"id": 1}, "id": None},
        {"connection": "app", "operation": "recent", "argz": {}},
        [],
    ]
    lines = "\n".join(json.dumps(row) for row in rows) + "\nnot json\n\n"
    for jobs in ("1", "4"):
        ended = helm("call", "--batch", "-", "--jobs", jobs, cwd=workspace, stdin=lines)
        answers = [json.loads(line) for line in ended.out.splitlines()]
        assert [answer["error"] and answer["error"]["code"] for answer in answers] == [
            None,
            "refused",
            "too_many_rows",
            "confirmation_required",
            "usage",
            "usage",
            "usage",
        ]
        assert [answer.get("id", "none") for answer in answers] == ["a", 7, "none", None, "none", "none", "none"]
        assert answers[4]["error"]["message"].startswith("line 5 of the batch: unknown member argz")
        assert ended.status == 3
        assert ended.err == "helm: 6 of 7 calls failed\n"
    assert status_of(app, 1) == "open"
