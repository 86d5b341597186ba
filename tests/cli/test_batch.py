"""`helm call --batch` with input that nobody means: each line gets its own answer, and the rest are made."""

import json
import sys
from pathlib import Path

import pytest

from tests.example import ready
from tests.program import Helm
from tests.rig.terminal import at_terminal

READ = b'{"connection":"app","operation":"recent","args":{"status":"open","limit":1}}\n'


@pytest.fixture
def app(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "workspace").mkdir()
    monkeypatch.chdir(tmp_path / "workspace")
    return ready(helm, tmp_path / "workspace")


@pytest.mark.parametrize("jobs", ["1", "4"])
@pytest.mark.parametrize(
    ("hostile", "message"),
    [
        (b"x" * (5 << 20) + b"\n", "line 2 of the batch: it is over 4194304 bytes"),
        (b"[" * 5_000 + b"\n", "line 2 of the batch: the JSON is nested too deeply"),
        (b'{"connection":"app","connection":"x"}\n', 'line 2 of the batch: the key "connection" stands twice'),
        (b"\xff\xfe\n", "line 2 of the batch: the JSON is not UTF-8"),
        (b'{"connection":"app"}\n', 'line 2 of the batch: "connection" and "operation" are both needed'),
        (b'{"connection":"app","operation":"recent","args":[]}\n', 'line 2 of the batch: "args" is a JSON object'),
        (b'{"connection":"app","operation":"recent","plugin":1}\n', 'line 2 of the batch: "plugin" is the id'),
    ],
)
def test_a_hostile_line_costs_only_itself(helm: Helm, app: Path, jobs: str, hostile: bytes, message: str) -> None:
    ended = helm("call", "--batch", "-", "--jobs", jobs, stdin=READ + hostile + READ)
    answers = [json.loads(line) for line in ended.out.splitlines()]
    assert [answer["ok"] for answer in answers] == [True, False, True]
    assert answers[1]["error"]["message"].startswith(message)
    assert (ended.status, ended.err) == (2, "helm: 1 of 3 calls failed\n")


def test_an_answer_comes_before_the_next_line_is_written(app: Path) -> None:
    """So that a program can talk to one batch, question by question."""
    import subprocess

    from tests.program import environment

    command = [sys.executable, "-m", "helm_cli", "call", "--batch", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment({})
    ) as talk:
        assert talk.stdin is not None
        assert talk.stdout is not None
        for _ in range(3):
            talk.stdin.write(READ)
            talk.stdin.flush()
            assert json.loads(talk.stdout.readline())["data"]["rows"] == [[199, "Ticket 199", "open"]]
        talk.stdin.close()
        assert talk.wait(20) == 0


def test_people_see_how_far_it_is(app: Path, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_bytes(READ * 30)
    with at_terminal(sys.executable, "-m", "helm_cli", "call", "--batch", str(batch), stdout="pipe") as screen:
        assert screen.status() == 0
        assert b"/30" in screen.raw
        assert len(screen.out.splitlines()) == 30
