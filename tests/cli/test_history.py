"""`helm history` as people and scripts read it."""

import sys
from pathlib import Path

import pytest

from tests.example import ready
from tests.program import Helm
from tests.rig.terminal import at_terminal

HELM = (sys.executable, "-m", "helm_cli")


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
        (
            "--outcome",
            "two words",
            "helm: --outcome takes one word of at most 64 characters, as helm history shows it\n",
        ),
        ("--since", "yesterday", "helm: --since takes a time: 30m, 2h, 7d, or 2026-01-31T08:00\n"),
    ],
)
def test_a_filter_that_is_none_is_a_usage_error(helm: Helm, called: Path, option: str, value: str, told: str) -> None:
    finished = helm("history", option, value, cwd=called)
    assert (finished.status, finished.out, finished.err) == (2, "", told)


def test_any_word_is_an_outcome(helm: Helm, called: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(called)
    assert outcomes(helm, called, "--outcome", "TASK_NOT_FOUND") == []
    with at_terminal(*HELM, "history", "--outcome", "declind", size=(200, 30)) as screen:
        assert screen.status() == 0
        screen.wait_for("no such calls; did you mean --outcome declined?")


def test_a_wide_terminal_shows_who_asked(helm: Helm, called: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(called)
    for width, told in ((160, True), (100, False)):
        with at_terminal(*HELM, "history", size=(width, 30)) as screen:
            assert screen.status() == 0
            assert ("asked by" in "\n".join(screen.screen())) is told
            assert (f" in {called}" in "\n".join(screen.screen())) is False
