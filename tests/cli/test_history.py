"""`helm history` as people and scripts read it."""

from pathlib import Path

import pytest

from tests.example import ready
from tests.program import Helm


@pytest.fixture
def called(helm: Helm, tmp_path: Path) -> Path:
    """A workspace where one call went well, one was refused and one write waited for nobody."""
    ready(helm, tmp_path)
    assert helm("call", "app", "recent", "--args", '{"status": "open", "limit": 1}', cwd=tmp_path).status == 0
    assert helm("call", "app", "nothing", cwd=tmp_path).status == 3
    assert helm("call", "app", "close", "--arg", "id=1", cwd=tmp_path).status == 7
    return tmp_path


def outcomes(helm: Helm, workspace: Path, *options: str) -> list[tuple[str, str]]:
    told = helm("history", "-o", "json", *options, cwd=workspace).json
    return [(row["operation"], row["outcome"]) for row in told]


def test_refusals_and_unconfirmed_writes_are_told(helm: Helm, called: Path) -> None:
    whole = [("close", "confirmation_required"), ("nothing", "refused"), ("recent", "ok")]
    assert outcomes(helm, called) == whole
    assert outcomes(helm, called, "--outcome", "failed") == whole[:2]
    assert outcomes(helm, called, "--operation", "recent", "--outcome", "ok", "--plugin", "tickets") == whole[2:]
    assert outcomes(helm, called, "--since", "1h") == whole
    assert outcomes(helm, called, "--since", "2999-01-01T00:00") == []
    assert outcomes(helm, called, "--since", "2000-01-01", "-n", "1") == whole[:1]


def test_it_says_who_asked_and_keeps_no_value(helm: Helm, called: Path) -> None:
    first = helm("history", "-o", "json", cwd=called).json[-1]
    assert first["asked_by"].startswith("process ")
    assert first["asked_by"].endswith(f" in {called}")
    assert (len(first["arguments"]), first["values"]) == (64, None)


def test_values_are_kept_where_the_settings_say_so(helm: Helm, called: Path, home: Path) -> None:
    (home / "config.toml").write_text("[history]\nkeep_arguments = true\n")
    assert helm("call", "app", "recent", "--args", '{"status": "shut", "limit": 2}', cwd=called).status == 0
    told = helm("history", "-n", "2", "-o", "json", cwd=called).json
    assert [row["values"] for row in told] == [{"status": "shut", "limit": 2}, None]
    line = helm("history", "-n", "1", cwd=called).out.rstrip("\n").split("\t")
    assert line[-1] == '{"status":"shut","limit":2}'


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--outcome", "declind", "helm: --outcome declind is none; did you mean declined?\n"),
        ("--outcome", "nonsense-entirely", "helm: --outcome nonsense-entirely is none\n"),
        ("--since", "yesterday", "helm: --since yesterday is no time; write 30m, 2h, 7d, or 2026-01-31T08:00\n"),
    ],
)
def test_a_filter_that_is_none_is_a_usage_error(helm: Helm, called: Path, option: str, value: str, told: str) -> None:
    finished = helm("history", option, value, cwd=called)
    assert (finished.status, finished.out, finished.err) == (2, "", told)
