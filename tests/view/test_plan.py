"""What a person reads before a call is sent: all of the request, exactly, and nothing else."""

import pytest

from helm_cli.model.envelope import OBJECT
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Plan, Revision
from helm_cli.view.lines import Line
from helm_cli.view.plan import plan_text, revised_text


def plan(request: dict[str, Json], profile: str | None = "local-app") -> Plan:
    return Plan(
        kind="db",
        effect="write",
        extension="tickets",
        connection="app",
        operation="close",
        group="db",
        profile=profile,
        driver="sqlite",
        shape=OBJECT,
        title="Confirm database write",
        verb="Run",
        noun="query",
        request=request,
    )


@pytest.mark.contract("C111")
def test_a_database_write() -> None:
    sql = "UPDATE tickets\n\tSET status = 'closed'\nWHERE id = ?"
    assert plan_text(plan({"engine": "sqlite", "sql": sql, "params": [["id", 1], ["note", "a\n\x1b[2J\u202e"]]})) == [
        "  extension   tickets",
        "  connection  app",
        "  profile     db/local-app",
        "  query       close",
        "  engine      sqlite",
        "  sql",
        "    UPDATE tickets",
        "    \\u{9}SET status = 'closed'",
        "    WHERE id = ?",
        "  params",
        "    id = 1",
        '    note = "a\\n\\u001b[2J\\u202e"',
    ]


def test_other_members() -> None:
    request: dict[str, Json] = {"method": "POST", "body": {"a": [1, None]}, "params": [], "expected_sha256": "ab"}
    assert plan_text(plan(request, profile=None)) == [
        "  extension        tickets",
        "  connection       app",
        "  query            close",
        "  method           POST",
        '  body             {"a":[1,null]}',
        "  params           []",
        "  expected_sha256  ab",
    ]


@pytest.mark.contract("C111")
def test_who_asks_and_where() -> None:
    context = {"asked by": "process 7 in /code\x1b", "workspace": "/code/app"}
    assert plan_text(plan({"engine": "sqlite"}), context) == [
        "  extension   tickets",
        "  asked by    process 7 in /code\\u{1b}",
        "  workspace   /code/app",
        "  connection  app",
        "  profile     db/local-app",
        "  query       close",
        "  engine      sqlite",
    ]


def test_a_text_keeps_its_empty_lines() -> None:
    assert plan_text(plan({"sql": "SELECT 1\n\n"}))[-4:] == ["  sql", "    SELECT 1", "    ", "    "]


def test_nothing_over_a_mebibyte_is_asked_about() -> None:
    plan_text(plan({"sql": "x" * (2**20 - 200)}))
    with pytest.raises(HelmError) as caught:
        plan_text(plan({"sql": "\x1b" * 2**18}))
    assert caught.value.code == "refused"
    assert caught.value.message == "the request is over 1 MiB when shown, too long to be read before it is sent"


@pytest.mark.contract("C91")
def test_a_text_that_is_replaced_is_shown_as_what_changes() -> None:
    request: dict[str, Json] = {"root": "workspace", "path": "a.md", "text": "one\ntwo\n"}
    lines = revised_text(plan(request, None), {"workspace": "/w"}, [Revision("a.md", "one\n", "one\ntwo\n")])
    assert [line.text if isinstance(line, Line) else line for line in lines] == [
        "  extension   tickets",
        "  workspace   /w",
        "  connection  app",
        "  query       close",
        "  root        workspace",
        "  path        a.md",
        "  change of a.md: 1 line in",
        "      one",
        "    + two",
    ]
    same = revised_text(plan({"path": "a.md", "text": "a.md"}, None), {}, [Revision("a.md", "", "a.md")])
    assert "  path        a.md" in same
    assert not any("  text" in str(line) for line in same)
    unrelated = plan({"path": "a.md", "text": "other"}, None)
    assert "  text        other" in revised_text(unrelated, {}, [Revision("b.md", None, "b")])
    assert revised_text(unrelated, {}, ()) == plan_text(unrelated)


def test_a_change_over_1_mib_is_too_long_to_be_read() -> None:
    with pytest.raises(HelmError, match="over 1 MiB"):
        revised_text(plan({"text": "x"}), {}, [Revision("a", "\x1b" * 2**18, "x")])
