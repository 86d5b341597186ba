"""One write again and again, each time with something done to it one step later: run as a program of its own.

A step is a line of the parts of the driver that write. What is done is an action of ACTIONS, by another process where
it is not done to the write itself; after it the write goes on, unless it was killed. Those IN_PARTS do something
at one step, and more at a later one. The arguments are a folder, an action, the text to write, and how many steps
later each run is than the one before; it prints what came of each run as JSON. With `without-exchange` behind them the
kernel knows no exchange of two names.
"""

import ctypes
import errno
import fcntl
import json
import os
import select
import shutil
import signal
import struct
import sys
from contextlib import suppress
from types import FrameType
from typing import Any, Final

from helm_cli.drivers import files_walk, files_write
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Root
from tests.rig.files import sha256

OLD: Final = "the old text\n" * 40
EDITED: Final = "what somebody else wrote\n"
AGAIN: Final = "and this\n"
NAME: Final = "a.md"
# What another process does at two steps: it opens the file and writes later, or saves it and writes to it later.
HOLD, TWICE = "hold", "twice"
IN_PARTS: Final = (HOLD, TWICE)
_WRITING: Final = ("files_write", "files_system", "files_leftover", "files_guard", "files_record")
# An editor that has not answered by then waits for helm, and is not waited for.
_ANSWER_SECONDS: Final = 0.05


def edit(path: str) -> None:
    with open(path, "w") as file:
        file.write(EDITED)


def append(path: str) -> None:
    with open(path, "a") as file:
        file.write(EDITED)


def save(path: str) -> None:
    """As most editors do it."""
    with open(path + "~", "w") as file:
        file.write(EDITED)
    os.rename(path + "~", path)


def delete(path: str) -> None:
    os.unlink(path)


def link(path: str) -> None:
    os.symlink("../outside", path + "~")
    os.rename(path + "~", path)


def fifo(path: str) -> None:
    os.mkfifo(path + "~")
    os.rename(path + "~", path)


def folder(path: str) -> None:
    os.unlink(path)
    os.mkdir(path)


def chmod(path: str) -> None:
    os.chmod(path, 0o604)


def kill(path: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_all(path: str) -> None:
    """The guard too."""
    with open(f"/proc/self/task/{os.getpid()}/children") as children:
        for child in children.read().split():
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
    kill(path)


def save_and_kill(path: str) -> None:
    save(path)
    kill(path)


def link_and_kill_all(path: str) -> None:
    link(path)
    kill_all(path)


def interrupt(path: str) -> None:
    raise KeyboardInterrupt


OWN: Final = (kill, kill_all, save_and_kill, link_and_kill_all, interrupt)
ACTIONS: Final = {
    action.__name__: action
    for action in (
        edit, append, save, delete, link, fifo, folder, chmod, interrupt,
        kill, kill_all, save_and_kill, link_and_kill_all,
    )
}  # fmt: skip


def home(where: str) -> str:
    return f"{where}-home"


class Editor:
    """Another process that does its action when it is told to: all at once, or in two parts."""

    def __init__(self, path: str, action: str) -> None:
        told, self._tell = os.pipe()
        self._answer, answers = os.pipe()
        self._process = os.fork()
        if not self._process:
            os.close(self._tell)
            _edit(path, action, told, answers)
        os.close(told)
        os.close(answers)

    def go(self) -> None:
        os.write(self._tell, b"g")
        if select.select([self._answer], [], [], _ANSWER_SECONDS)[0]:
            os.read(self._answer, 1)

    def end(self) -> None:
        os.close(self._tell)
        os.waitpid(self._process, 0)


def _edit(path: str, action: str, told: int, answers: int) -> None:
    if os.read(told, 1):
        if action in IN_PARTS:
            opened = os.open(path, os.O_WRONLY | os.O_APPEND) if action == HOLD else None
            if opened is None:
                save(path)
            os.write(answers, b"o")
            os.read(told, 1)
            opened = os.open(path, os.O_WRONLY | os.O_APPEND) if opened is None else opened
            os.write(opened, AGAIN.encode() if action == TWICE else EDITED.encode())
            os.close(opened)
        else:
            ACTIONS[action](path)
        os.write(answers, b"d")
    os._exit(0)


def main(where: str, action: str, text: str, stride: int) -> None:
    path = os.path.join(where, NAME)
    outcomes: list[dict[str, Any]] = []
    step = 0
    while not outcomes or outcomes[-1]["reached"]:
        step += stride
        for name in os.listdir(where):
            (os.rmdir if os.path.isdir(os.path.join(where, name)) else os.unlink)(os.path.join(where, name))
        with open(path, "w") as file:
            file.write(OLD)
        os.chmod(path, 0o640)
        shutil.rmtree(home(where), ignore_errors=True)
        outcomes.append(_run(where, action, step, text))
    json.dump(outcomes, sys.stdout)


def _run(where: str, action: str, step: int, text: str) -> dict[str, Any]:
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(told)
        _write(where, action, step, text, tell)
    os.close(tell)
    _, status = os.waitpid(child, 0)
    with open(told) as pipe:
        lines = pipe.read().split("\n")
    folder = os.open(where, os.O_RDONLY)
    # The guard holds it for as long as it has something to do.
    fcntl.flock(folder, fcntl.LOCK_EX)
    os.close(folder)
    return {
        "step": step,
        "reached": lines[0] != "never",
        "at": lines[0],
        "result": lines[1] if len(lines) > 1 else f"killed by {os.WTERMSIG(status)}",
        "names": sorted(os.listdir(where)),
        "found": _found(os.path.join(where, NAME)),
        "kept": [_found(os.path.join(where, name)) for name in sorted(os.listdir(where)) if name != NAME],
    }


def _found(path: str) -> str:
    if os.path.islink(path):
        return f"a link to {os.readlink(path)}"
    if not os.path.isfile(path):
        return "a folder" if os.path.isdir(path) else "a fifo" if os.path.exists(path) else "nothing"
    with open(path) as file:
        return f"{os.stat(path).st_mode & 0o7777:o} {file.read()}"


class Steps:
    """Counts the lines of a write, and begins the action at one of them; and what is left of it at another."""

    def __init__(self, where: str, action: str, step: int, tell: int) -> None:
        self.left, self._later = step, step + 1 + step * 7 % 60
        self._path, self._action, self._tell = os.path.join(where, NAME), action, tell
        self._own = ACTIONS[action] if action not in IN_PARTS and ACTIONS[action] in OWN else None
        self.editor = None if self._own else Editor(self._path, action)

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if not os.path.basename(frame.f_code.co_filename).startswith(_WRITING):
            return None
        if event == "line":
            self.left, self._later = self.left - 1, self._later - 1
            if self.left == 0:
                os.write(self._tell, f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}\n".encode())
                self._begin()
            elif self._later == 0 and self._action in IN_PARTS and self.editor:
                self.editor.go()
        return self.trace

    def _begin(self) -> None:
        if self.editor:
            self.editor.go()
        elif self._own:
            sys.settrace(None)
            self._own(self._path)


def _write(where: str, action: str, step: int, text: str, tell: int) -> None:
    steps = Steps(where, action, step, tell)
    result = "written"
    sys.settrace(steps.trace)
    try:
        with files_walk.root(Root("workspace", where, private=home(where))) as tree:
            files_write.replace(tree, NAME, sha256(OLD.encode()), text)
    except HelmError as error:
        result = f"{error.code}: {error.message} {error.members}"
    except BaseException as error:
        result = type(error).__name__
    sys.settrace(None)
    if steps.editor:
        steps.editor.end()
    os.write(tell, (f"never\n{result}" if steps.left > 0 else result).encode())
    os._exit(0)


def deny_exchange() -> None:
    """Have the kernel answer renameat2(2) with ENOSYS from now on, in this process and its children (seccomp(2))."""
    call = {"x86_64": 316, "aarch64": 276}[os.uname().machine]
    load, if_equal, give = 0x20, 0x15, 0x06
    program = [(load, 0, 0, 0), (if_equal, 0, 1, call), (give, 0, 0, 0x50000 | errno.ENOSYS), (give, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    filter_ = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    library = ctypes.CDLL(None)
    assert library.prctl(38, 1, 0, 0, 0) == 0
    assert library.prctl(22, 2, filter_) == 0


if __name__ == "__main__":
    if "without-exchange" in sys.argv:
        deny_exchange()
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
