"""Work that blocks, fails, cleans up late or never ends, and who learns what of it."""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from helm_cli.drivers import deadline
from helm_cli.drivers.deadline import Abandoned, Deadline


def test_what_the_work_returns_or_raises() -> None:
    assert deadline.run(lambda clock: clock.remaining() > 4, 5) is True
    with pytest.raises(ZeroDivisionError):
        deadline.run(lambda clock: 1 // 0, 5)


def test_work_is_interrupted_at_its_deadline_and_may_clean_up() -> None:
    interrupted = threading.Event()

    def work(clock: Deadline) -> tuple[bool, float]:
        clock.interrupt = interrupted.set
        interrupted.wait()
        return clock.over(), clock.remaining()

    begun = time.monotonic()
    assert deadline.run(work, 0.1, grace=5) == (True, 0.0)
    assert 0.1 <= time.monotonic() - begun < 1


def test_work_that_does_not_end_is_left_behind() -> None:
    release = threading.Event()
    ended = threading.Event()
    seen: list[bool] = []

    def work(clock: Deadline) -> None:
        release.wait()
        seen.append(clock.begin_commit())
        ended.set()

    begun = time.monotonic()
    with pytest.raises(Abandoned) as caught:
        deadline.run(work, 0.05, grace=0.05)
    assert time.monotonic() - begun < 1
    assert caught.value.open_ended is False
    release.set()
    assert ended.wait(5)
    assert seen == [False]  # what was told to have changed nothing can no longer change anything


def test_work_left_behind_in_its_commit_has_an_open_end() -> None:
    release = threading.Event()

    def work(clock: Deadline) -> None:
        assert clock.begin_commit()
        release.wait()

    with pytest.raises(Abandoned) as caught:
        deadline.run(work, 0.1, grace=0.05)
    assert caught.value.open_ended is True
    release.set()


def test_an_interrupt_that_fails_does_no_harm() -> None:
    release = threading.Event()

    def fail() -> None:
        release.set()
        raise OSError("already closed")

    def work(clock: Deadline) -> str:
        clock.interrupt = fail
        release.wait()
        return "done"

    assert deadline.run(work, 0.05, grace=5) == "done"


def test_ctrl_c_stops_the_work() -> None:
    stopped = threading.Event()
    main = threading.main_thread().ident
    assert main is not None

    def work(clock: Deadline) -> None:
        clock.interrupt = stopped.set
        signal.pthread_kill(main, signal.SIGINT)
        stopped.wait()

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        deadline.run(work, 30, grace=5)
    assert stopped.is_set()
    assert time.monotonic() - begun < 5


def test_many_at_once_each_have_their_own() -> None:
    never = threading.Event()

    def work(clock: Deadline) -> float:
        while not clock.over():
            never.wait(0.01)
        return time.monotonic() - clock.ends

    def timed(seconds: float) -> float:
        return deadline.run(work, seconds, grace=5)

    with ThreadPoolExecutor(20) as pool:
        late = list(pool.map(timed, [0.1 + index / 100 for index in range(20)]))
    assert all(0 <= seconds < 1 for seconds in late)
