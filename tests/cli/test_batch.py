"""`helm call --batch` with input that nobody means: each line gets its own answer, and the rest are made."""

import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from helm_cli.cli.batch_lines import MOST_BYTES, Lines
from tests.example import NUMBERS, ready
from tests.program import Helm, environment
from tests.rig.agents import eventually
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
    ],
)
def test_a_hostile_line_costs_only_itself(helm: Helm, app: Path, jobs: str, hostile: bytes, message: str) -> None:
    ended = helm("call", "--batch", "-", "--jobs", jobs, stdin=READ + hostile + READ)
    answers = [json.loads(line) for line in ended.out.splitlines()]
    assert [answer["ok"] for answer in answers] == [True, False, True]
    assert answers[1]["error"]["message"].startswith(message)
    assert (ended.status, ended.err) == (2, "helm: 1 of 3 calls failed\n")


class Talk:
    """A batch that is asked question by question."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process

    def __call__(self, line: bytes = READ) -> Any:
        self.say(line)
        return self.heard()

    def say(self, lines: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(lines)
        self.process.stdin.flush()

    def heard(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(20)


@contextmanager
def talk(*words: str) -> Iterator[Talk]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "helm_cli", "call", "--batch", "-", *words]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment({})) as process:
        try:
            yield Talk(process)
        finally:
            process.kill()


def outcomes(helm: Helm) -> list[str]:
    return [entry["outcome"] for entry in helm("history", "-o", "json").json]


def told(helm: Helm, number: int) -> bool:
    return outcomes(helm) == ["ok"] * number


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_an_answer_comes_before_the_next_line_is_written(app: Path, jobs: str) -> None:
    """So that a program can talk to one batch, question by question."""
    with talk("--jobs", jobs) as ask:
        for _ in range(3):
            assert ask()["data"]["rows"] == [[199, "Ticket 199", "open"]]
        assert ask.end() == 0


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_the_history_tells_how_a_call_ended_while_the_next_is_waited_for(helm: Helm, app: Path, jobs: str) -> None:
    with talk("--jobs", jobs) as ask:
        for number in range(1, 4):
            assert ask()["ok"]
            eventually(partial(told, helm, number))
        ask.say(READ + READ[:10])
        assert ask.heard()["ok"]
        eventually(partial(told, helm, 4))
        ask.say(READ[10:])
        assert ask.heard()["ok"]
        assert ask.process.poll() is None
        assert ask.end() == 0


@pytest.mark.parametrize(
    ("number", "jobs"), [*((one, 1) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)), (signal.SIGTERM, 4)]
)
def test_an_end_in_the_midst_leaves_the_last_read_running_at_most(
    helm: Helm, home: Path, app: Path, tmp_path: Path, number: signal.Signals, jobs: int
) -> None:
    (home / "config.toml").write_text("[limits]\ncalls_per_minute = 100000\n")
    batch = tmp_path / "batch.jsonl"
    batch.write_bytes(READ * 3_000)
    command = [sys.executable, "-m", "helm_cli", "call", "--batch", str(batch), "--jobs", str(jobs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment({})) as process:
        assert process.stdout is not None
        answers = [process.stdout.readline() for _ in range(20)]
        process.send_signal(number)
        answers += process.stdout.readlines()
    killed = number == signal.SIGKILL
    assert process.returncode == (-number if killed else 128 + number)
    last, others = outcomes(helm)[: jobs * 4], outcomes(helm)[jobs * 4 :]
    assert set(others) == {"ok"}
    assert set(last) <= {"ok", "running" if killed else "interrupted"}
    assert len(last) - last.count("ok") <= jobs
    assert 20 <= len(answers) < 3_000


def as_told(helm: Helm, expected: list[str]) -> bool:
    return sorted(outcomes(helm)) == sorted(expected)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
@pytest.mark.parametrize(("jobs", "others"), [("1", 2), ("4", 5)])
def test_what_was_answered_is_told_while_a_slow_call_runs_and_that_is_interrupted(
    helm: Helm, app: Path, number: signal.Signals, jobs: str, others: int
) -> None:
    manifest = app.parent / "tickets" / "manifest.json"
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    manifest.write_text(manifest.read_text().replace(NUMBERS, endless))
    digest = helm("plugin", "review", "tickets", "-o", "json").json["digest"]
    assert helm("plugin", "review", "tickets", "--approve", digest).status == 0
    with talk("--jobs", jobs) as ask:
        ask.say(READ * 2 + b'{"connection":"app","operation":"endless"}\n' + READ * 3)
        assert ask.process.stdin is not None
        ask.process.stdin.close()
        eventually(partial(as_told, helm, ["ok"] * others + ["running"]))
        ask.process.send_signal(number)
        assert ask.process.wait(20) == 128 + number
    assert as_told(helm, ["ok"] * others + ["interrupted"])


def test_what_is_taken_back_stops_the_next_call_of_a_batch(helm: Helm, app: Path) -> None:
    manifest = app.parent / "tickets" / "manifest.json"
    approved = manifest.read_text()
    with talk() as ask:
        assert ask()["ok"]
        assert helm("plugin", "disable", "tickets").status == 0
        assert "which is disabled" in ask()["error"]["message"]
        assert helm("plugin", "enable", "tickets").status == 0
        assert ask()["ok"]
        manifest.write_text(approved + "\n")
        assert "changed since it was approved" in ask()["error"]["message"]
        manifest.write_text(approved)
        assert ask()["ok"]
        assert helm("plugin", "forget", "tickets").status == 0
        assert ask()["error"]["code"] == "refused"
        assert ask.end() == 3


@pytest.mark.contract("C119")
def test_a_batch_counts_the_calls_of_others_too(helm: Helm, home: Path, app: Path) -> None:
    (home / "config.toml").write_text("[limits]\ncalls_per_minute = 5\n")
    with talk() as one, talk("--jobs", "2") as two:
        assert one()["ok"]
        two.say(READ * 2)
        assert [two.heard()["ok"] for _ in range(2)] == [True, True]
        assert one()["ok"]
        assert helm("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1").status == 0
        assert one()["error"]["code"] == "rate_limited"
        assert two.end() == 0
        assert one.end() == 8
    assert sorted(outcomes(helm)) == ["ok"] * 5 + ["rate_limited"]


def test_the_last_line_needs_no_end_and_empty_ones_are_none(helm: Helm, app: Path, tmp_path: Path) -> None:
    (tmp_path / "batch.jsonl").write_bytes(b"\n  \n" + READ + b"\r\n" + READ.strip())
    for given in (helm("call", "--batch", str(tmp_path / "batch.jsonl")), helm("call", "--batch", str(tmp_path))):
        assert (given.status, given.out.count('"ok":true')) in ((0, 2), (2, 0)), given


def test_lines_are_the_same_in_whatever_parts_they_come(tmp_path: Path) -> None:
    """Also where a part ends within one, and where one is longer than is held."""
    draw = random.Random(1)
    sizes = [draw.choice((0, 1, 80, 65_534, 65_535, 65_536, 200_000)) for _ in range(200)]
    texts = [bytes([97 + number % 26]) * size + b"\n" for number, size in enumerate(sizes)]
    texts[50:50] = [b"x" * MOST_BYTES + b"\n", b"y" * (3 * MOST_BYTES) + b"\n", b"\n", b"z" * (MOST_BYTES - 1) + b"\n"]
    texts.append(b"no end")
    file = tmp_path / "batch.jsonl"
    file.write_bytes(b"".join(texts))
    with open(file, "rb", buffering=0) as opened:
        assert list(taken(Lines(opened))) == [text if len(text) <= MOST_BYTES else None for text in texts]


def taken(lines: Lines) -> Iterator[bytes | None]:
    while True:
        while not lines.whole():
            assert not lines.late()
            lines.more()
        line = lines.take()
        if line == b"":
            return
        yield line


def test_people_see_how_far_it_is(app: Path, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_bytes(READ * 30)
    with at_terminal(sys.executable, "-m", "helm_cli", "call", "--batch", str(batch), stdout="pipe") as screen:
        assert screen.status() == 0
        assert b"/30" in screen.raw
        assert len(screen.out.splitlines()) == 30
