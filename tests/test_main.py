"""The process edge: interrupts at every moment, a broken installation, a machine without a known home."""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

import pytest

from tests import example
from tests.program import Helm, environment, run
from tests.rig.terminal import at_terminal

# As a console script does, after it said that Python itself, which answers an interrupt in its own way, is up.
UP: Final = "import sys, helm_cli.__main__ as m; print('up', file=sys.stderr, flush=True); m.entry()"
RECENT: Final = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1")
FAULT: Final = "a fault in helm 0.1.0 itself"
INTERRUPTED: Final = {-signal.SIGINT, 130}


def interrupted(after: float, *arguments: str, cwd: Path) -> tuple[int, bytes]:
    """The status, and what stood on standard error, of a helm that was interrupted so many seconds after its start."""
    process = subprocess.Popen(
        [sys.executable, "-c", UP, *arguments], cwd=cwd, env=environment({}), stdout=-1, stderr=-1, text=False
    )
    assert process.stderr is not None and process.stderr.readline() == b"up\n"
    timer = threading.Timer(after, process.send_signal, [signal.SIGINT])
    timer.start()
    _, told = process.communicate(timeout=30)
    timer.join()
    return process.returncode, told


def test_an_interrupt_at_the_start_is_silent_at_every_moment(helm: Helm, tmp_path: Path) -> None:
    example.ready(helm, tmp_path)
    moments = random.Random(7)
    ended = [interrupted(moments.uniform(0.002, 0.25), *RECENT, cwd=tmp_path) for _ in range(60)]
    assert {told for _, told in ended} == {b""}
    assert {status for status, _ in ended} <= {0, *INTERRUPTED}


def test_an_interrupt_of_a_running_call_is_silent(helm: Helm, tmp_path: Path) -> None:
    example.ready(helm, tmp_path)
    waits = ("call", "app", "close", "--arg", "id=1", "--wait")
    process = subprocess.Popen(
        [sys.executable, "-m", "helm_cli", *waits], cwd=tmp_path, env=environment({}), stdout=-1, stderr=-1
    )
    assert process.stderr is not None and process.stderr.readline().startswith(b"helm: waiting for a person")
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30) == (b"", b"")
    assert process.returncode in INTERRUPTED


def test_an_ignored_interrupt_stays_ignored(helm: Helm, tmp_path: Path) -> None:
    example.ready(helm, tmp_path)
    begin = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import sys, os; "
    hit = "os.kill(os.getpid(), signal.SIGINT)"
    # Once before helm begins, and once when it has loaded its commands.
    script = f"{begin}{hit}; import helm_cli.__main__ as m; import helm_cli.cli as c; f = c.run\n"
    script += f"def run(words):\n    s = f(words); {hit}; return s\nc.run = run\nm.entry()"
    assert run([sys.executable, "-c", script, *RECENT], cwd=tmp_path).status == 0


def test_an_interrupt_that_python_held_back_ends_helm() -> None:
    script = "import os, signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]); "
    script += "os.kill(os.getpid(), signal.SIGINT); import helm_cli.__main__ as m; m.entry()"
    ended = run([sys.executable, "-c", script, "db", "list"])
    assert (ended.status, ended.out, ended.err) == (-signal.SIGINT, "", "")


def test_an_interrupt_in_a_finalizer_ends_helm() -> None:
    script = "import helm_cli.__main__ as m, os, signal\nclass Last:\n    def __del__(self):\n"
    script += "        raise KeyboardInterrupt\ndef main():\n    last = Last(); del last; return 0\n"
    script += "m.main = main; m.entry()"
    ended = run([sys.executable, "-c", script])
    assert (ended.status, ended.out, ended.err) == (130, "", "")


def test_a_library_that_is_missing_is_named() -> None:
    ended = run([sys.executable, "-S", "-c", "import helm_cli.__main__ as m; m.entry()", "db", "list"])
    assert (ended.status, ended.out, ended.err) == (
        1,
        "",
        f"helm: {FAULT}: ModuleNotFoundError (typer); please report it\n",
    )


@pytest.mark.parametrize("fault", ["RecursionError", "MemoryError", "ZeroDivisionError"])
def test_a_fault_of_helms_own_is_an_envelope_without_its_text(fault: str) -> None:
    script = "import helm_cli.__main__ as m, helm_cli.cli as c\n"
    script += f"def broken(words):\n    raise {fault}('s3cret')\nc._invoke = broken; m.entry()"
    ended = run([sys.executable, "-c", script, "call", "app", "recent"])
    message = f"{FAULT}: {fault} at <string>:3; please report it"
    assert (ended.status, ended.err) == (1, f"helm: {message}\n")
    assert ended.json == {"ok": False, "data": None, "error": {"code": "internal", "message": message}}


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONWARNINGS": "error"},
        {"PYTHONDEVMODE": "1"},
        {"PYTHONOPTIMIZE": "2"},
        {"PYTHONUNBUFFERED": "1"},
        {"PYTHONINSPECT": "1"},
        {"PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0", "LC_ALL": "C"},
    ],
)
def test_pythons_own_variables_change_nothing(helm: Helm, tmp_path: Path, env: dict[str, str]) -> None:
    example.ready(helm, tmp_path)
    ended = helm(*RECENT, cwd=tmp_path, env=env)
    rows = [[199, "Ticket 199", "open"]]
    assert (ended.status, ended.err) == (0, "")
    assert ended.json["data"] == {"columns": ["id", "title", "status"], "rows": rows}


@pytest.mark.parametrize("home", ["", "relative", "~nobody-of-this-name"])
def test_a_home_that_is_no_absolute_path_is_refused(helm: Helm, home: str) -> None:
    ended = helm("db", "add", "app", "--engine", "sqlite", "--path", "app.db", env={"HOME": home})
    message = "your home folder is not known: HOME is no absolute path; name one in HELM_CLI_HOME"
    assert (ended.status, ended.out, ended.err) == (1, "", f"helm: {message}\n")
    assert os.listdir() == []


def test_a_user_without_a_home_is_told() -> None:
    script = "from helm_cli.store import home\nfrom helm_cli.model.errors import HelmError\nimport os, pwd\n"
    script += "known = {entry.pw_uid for entry in pwd.getpwall()}\n"
    script += "os.getuid = lambda: max(known) + 1\ntry:\n    home.locate()\nexcept HelmError as error:\n"
    script += "    print(error.code)"
    assert run([sys.executable, "-c", script], env={"HOME": None}).out == "state\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("group", [False, True])
def test_the_demo_leaves_nothing_behind(tmp_path: Path, number: signal.Signals, group: bool) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "helm_cli", "demo"],
        env=environment({"TMPDIR": str(tmp_path)}),
        stdin=subprocess.DEVNULL,
        stdout=-1,
        stderr=-1,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    while b"An extension declares" not in process.stdout.readline():
        pass
    assert [path.name[:10] for path in tmp_path.iterdir()] == ["helm-demo-"]
    (os.killpg if group else os.kill)(process.pid, number)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert b"Traceback" not in told and b"fault" not in told
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_that_closes_ends_the_demo(tmp_path: Path) -> None:
    with at_terminal(sys.executable, "-m", "helm_cli", "demo", size=(100, 60), env={"TMPDIR": str(tmp_path)}) as screen:
        screen.wait_for("Any other key cancels")
        screen.hang_up()
        assert screen.process.wait(30) == 128 + signal.SIGHUP
    assert list(tmp_path.iterdir()) == []


def test_a_demo_without_a_place_says_so(helm: Helm) -> None:
    script = (
        "import tempfile, errno, helm_cli.__main__ as m\ndef full(**_):\n    raise OSError(errno.ENOSPC, 'No space')\n"
    )
    script += "tempfile.mkdtemp = full; m.entry()"
    ended = run([sys.executable, "-c", script, "demo"])
    assert ended.status == 1
    assert ended.err == "helm: no temporary folder can be made: no space; see TMPDIR\n"
