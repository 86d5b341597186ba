"""A process is told to have ended only when it surely has."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helm_cli.store import running


def mark_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().strip()


@pytest.fixture
def other(tmp_path: Path) -> "subprocess.Popen[str]":
    program = "from helm_cli.store import running; print(running.mark(), flush=True); input()"
    return subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_process_that_runs_a_zombie_and_one_that_is_gone(other: "subprocess.Popen[str]") -> None:
    with other:
        mark = mark_of(other)
        assert not running.ended(mark)
        other.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        assert running.ended(mark)
    assert running.ended(mark)


def test_a_number_that_was_given_to_another_process_is_not_it() -> None:
    pid, started, machine = running.mark().split(" ", 2)
    assert not running.ended(f"{pid} {started} {machine}")
    assert running.ended(f"{pid} {int(started) + 1} {machine}")


def test_a_process_of_another_machine_is_never_told_to_have_ended(other: "subprocess.Popen[str]") -> None:
    with other:
        mark = mark_of(other)
        other.kill()
    assert not running.ended(mark + "x")


def test_a_process_of_another_user_runs() -> None:
    _, _, machine = running.mark().split(" ", 2)
    with open("/proc/1/stat") as file:
        started = file.read().rpartition(")")[2].split()[19]
    assert not running.ended(f"1 {started} {machine}")


def test_without_the_kernels_word_a_number_is_all_there_is(other: "subprocess.Popen[str]", tmp_path: Path) -> None:
    proc = str(tmp_path)
    own = running.mark(proc)
    assert own == f"{os.getpid()} - {os.uname().nodename}"
    assert not running.ended(own, proc)
    with other:
        other.kill()
    assert running.ended(f"{other.pid} - {os.uname().nodename}", proc)


def test_a_process_is_reached_by_its_number_from_its_own_machine_while_it_lasts(
    other: "subprocess.Popen[str]",
) -> None:
    with other:
        mark = mark_of(other)
        assert running.here(mark) == other.pid
        assert running.here(mark + "x") is None
        other.kill()
    assert running.here(mark) is None


@pytest.mark.parametrize("mark", ["", "x", "-1 1 here", "1", "1 1"])
def test_what_is_no_mark_reaches_nobody(mark: str) -> None:
    assert running.here(mark) is None
