"""Real processes that do something to one home: many at one moment, without rights, or killed on the way.

`together`, `unprivileged` and `killed` run this module as a program, which forks; so nothing of pytest is in them.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

from helm_cli.model.errors import HelmError
from tests.program import ROOT
from tests.store import acts

NOBODY: Final = 65534
RANDOM_KILLS: Final = 100
Act = Callable[..., Any]


def together(act: Act, processes: int, folder: Path, *more: str) -> list[Any]:
    """What each of so many processes, let go at once, came to: the act's value, or `code: message`."""
    return _program("together", act.__name__, str(processes), str(folder), *more)


def alone(act: Act, folder: Path, *more: str) -> Any:
    """What one other process came to; None where it was killed."""
    return together(act, 1, folder, *more)[0]


def unprivileged(act: Act, folder: Path, *more: str) -> Any:
    """What a process without the rights of root came to."""
    return _program("unprivileged", act.__name__, "1", str(folder), *more)[0]


def killed(act: Act, folder: Path, check: Act, *more: str) -> list[Any]:
    """What `check` said after each of many processes that were killed at the act.

    One process for each call of a function written in C, killed before it; and a hundred at a random moment.
    """
    return _program("killed", act.__name__, check.__name__, str(folder), *more)


def _program(*arguments: str) -> list[Any]:
    command = [sys.executable, "-m", "tests.store.crowd", *arguments]
    # A process that is killed while it is measured leaves a broken measurement.
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    results: list[Any] = json.loads(done.stdout)
    return results


def _came_to(act: Act, *arguments: Any) -> Any:
    try:
        return act(*arguments)
    except HelmError as error:
        return f"{error.code}: {error.message}"


def _forked(body: Callable[[], Any]) -> tuple[int, int]:
    """A child that does this; its number, and where its result can be read as JSON."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    try:
        os.write(writing, json.dumps(body()).encode())
    finally:
        os._exit(0)


def _result(child: int, reading: int) -> Any:
    with open(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return json.loads(data) if data else None


def _all_at_once(act: Act, processes: int, arguments: Sequence[Any], prepare: Callable[[], None]) -> list[Any]:
    waiting, starter = os.pipe()

    def body(number: int) -> Any:
        os.close(starter)
        prepare()
        os.read(waiting, 1)
        return _came_to(act, Path(arguments[0]), number, *arguments[1:])

    children = [_forked(partial(body, number)) for number in range(processes)]
    os.close(starter)
    return [_result(*child) for child in children]


def _killed(act: Act, check: Act, folder: Path, arguments: Sequence[str]) -> list[Any]:
    seen = []
    step = 0
    while True:
        step += 1
        child, reading = _forked(partial(_dying, step, act, folder, step, *arguments))
        finished = _result(child, reading) is not None
        seen.append(check(folder))
        if finished:
            break
    moments = random.Random(1)
    for number in range(step, step + RANDOM_KILLS):
        child, reading = _forked(partial(act, folder, number, *arguments))
        time.sleep(moments.uniform(0, 0.008))
        os.kill(child, signal.SIGKILL)
        _result(child, reading)
        seen.append(check(folder))
    return seen


def _dying(step: int, act: Act, *arguments: Any) -> str:
    left = step

    def count_down(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal left
        if event == "c_call":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count_down)
    act(*arguments)
    sys.setprofile(None)
    return "finished"


def _without_rights() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def main(how: str, act: str, second: str, folder: str, *more: str) -> None:
    if how == "killed":
        results = _killed(getattr(acts, act), getattr(acts, second), Path(folder), more)
    else:
        prepare = _without_rights if how == "unprivileged" else lambda: None
        results = _all_at_once(getattr(acts, act), int(second), (folder, *more), prepare)
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
