"""The desktop is told of what waits, by the program that it has, and of nothing else."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from helm_cli.drivers.desktop import notify
from tests.example import ready
from tests.program import Helm, environment

# Writes down its arguments and the names in its environment, as a real one shows them to a person.
PROGRAM = """#!/bin/sh
{ for word in "$@"; do echo "$word"; done; env | sed 's/=.*//' | sort | tr '\\n' ' '; } > "$HOME/told.new"
mv "$HOME/told.new" "$HOME/told"
"""


@pytest.fixture
def desktop(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """The environment of a graphical session whose notify-send writes down what it is told."""
    ready(helm, tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "notify-send"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return {"DISPLAY": ":99", "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "AWS_SECRET_ACCESS_KEY": "hunter2"}


def told(seconds: float = 20.0) -> list[str]:
    file = Path(os.environ["HOME"]) / "told"
    deadline = time.monotonic() + seconds
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return file.read_text().splitlines() if file.exists() else []


def test_a_write_that_waits_is_told_of(helm: Helm, desktop: Mapping[str, str]) -> None:
    id_ = helm("call", "app", "close", "--arg", "id=1", env=desktop).json["error"]["confirmation"]
    *words, names = told()
    assert words == ["--app-name=helm", "--", "helm", f"app close of tickets waits: helm confirm {id_}"]
    assert set(names.split()) - {"PWD", "SHLVL", "_", "OLDPWD"} == {"DISPLAY", "HOME", "PATH"}


def test_a_read_tells_nobody(helm: Helm, desktop: Mapping[str, str]) -> None:
    assert helm("call", "app", "recent", "--args", '{"status": "open", "limit": 1}', env=desktop).status == 0
    assert told(0.3) == []


def test_without_a_program_for_it_a_call_goes_on(helm: Helm, desktop: Mapping[str, str]) -> None:
    (Path(desktop["PATH"].split(":")[0]) / "notify-send").write_text("#!/nothing/there\n")
    finished = helm("call", "app", "close", "--arg", "id=1", env=desktop)
    assert (finished.status, finished.err.count("\n")) == (7, 1)


def test_the_text_is_no_markup(helm: Helm, desktop: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in desktop.items():
        monkeypatch.setenv(name, value)
    notify("helm", "<b>a</b> & c")
    assert told()[2:4] == ["helm", "&lt;b&gt;a&lt;/b&gt; &amp; c"]


def test_without_a_thread_to_be_had_it_does_not_fail(desktop: Mapping[str, str]) -> None:
    program = (
        "import resource\n"
        "from helm_cli.drivers import desktop\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 33, 1 << 33))\n"
        "import threading\n"
        "threading.stack_size(1 << 34)\n"
        "desktop.notify('helm', 'a')\n"
        "print('went on')\n"
    )
    env = environment(dict(desktop))
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "went on\n"), done.stderr
