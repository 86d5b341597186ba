"""A call in a thread ends like one that Ctrl-C ends, whenever the interrupt comes, and the other calls go on."""

import threading
import time

import pytest

from helm_cli.drivers import deadline, interrupts
from helm_cli.drivers.interrupts import Interrupt


def work(clock: deadline.Deadline) -> str:
    while not clock.over():
        time.sleep(0.005)
    return "done"


def ended(interrupt: Interrupt | None, seconds: float) -> str:
    """How a call with this much time ends, in a thread of its own that may obey an interrupt."""
    results: list[str] = []

    def make() -> None:
        try:
            if interrupt is None:
                results.append(deadline.run(work, seconds))
            else:
                with interrupts.obeyed(interrupt):
                    results.append(deadline.run(work, seconds))
        except KeyboardInterrupt:
            results.append("interrupted")

    thread = threading.Thread(target=make)
    thread.start()
    thread.join(20)
    return results[0]


def test_one_that_comes_ends_its_own_call() -> None:
    interrupt = Interrupt()
    others: list[str] = []
    other = threading.Thread(target=lambda: others.append(ended(Interrupt(), 0.5)))
    other.start()
    timer = threading.Timer(0.1, interrupt.set)
    timer.start()
    begun = time.monotonic()
    assert ended(interrupt, 10) == "interrupted"
    assert time.monotonic() - begun < 3
    other.join()
    timer.join()
    assert others == ["done"]


def test_one_that_came_before_ends_it_at_once() -> None:
    interrupt = Interrupt()
    interrupt.set()
    begun = time.monotonic()
    assert ended(interrupt, 10) == "interrupted"
    assert time.monotonic() - begun < 3


def test_one_that_never_comes_changes_nothing() -> None:
    assert ended(Interrupt(), 0.1) == "done"
    assert ended(None, 0.1) == "done"


def test_a_descriptor_can_be_waited_for() -> None:
    with interrupts.descriptor() as none:
        assert none is None
    interrupts.check()
    interrupt = Interrupt()
    with interrupts.obeyed(interrupt):
        with interrupts.descriptor() as heard:
            assert heard is not None
            interrupt.set()
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
    interrupts.check()
