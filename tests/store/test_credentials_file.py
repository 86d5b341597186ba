"""The file of secrets: who may read it, what it must be, and that nothing leaves half of it."""

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from helm_cli.model.errors import HelmError
from helm_cli.store import credentials, credentials_file
from tests.rig.failing import failing

ACCOUNT: Final = "db/local-app/password"
SECRET: Final = "correct-horse-battery"

ACTS: Final[dict[str, Callable[[Path, Callable[[str], None]], object]]] = {
    "get": lambda home, notice: credentials.find(home, ACCOUNT, "file", terminal=False, notice=notice),
    "put": lambda home, notice: credentials.put(home, ACCOUNT, SECRET, "file", notice=notice),
    "delete": lambda home, notice: credentials.delete(home, ACCOUNT, "file", notice=notice),
}

DAMAGED: Final = {
    "nothing": b"",
    "half": b'{\n "db/local-app/password": "correct-hor',
    "a list": b'["correct-horse-battery"]',
    "a secret that is no text": b'{"db/local-app/password": "correct-horse-battery", "db/b/password": 123456789}',
    "an account twice": b'{"db/local-app/password": "correct-horse-battery", "db/local-app/password": "b"}',
    "a number of no size": b'{"db/local-app/password": 123456789e999}',
    "a surrogate": b'{"db/local-app/password": "correct-horse-battery\\ud800"}',
    "latin-1": b'{"db/local-app/password": "correct-horse-battery\xe9"}',
}

PUT_FOR_EVER: Final = """
import sys
from itertools import count
from pathlib import Path
from helm_cli.store import credentials_file
for number in count():
    credentials_file.put(Path(sys.argv[1]), f"db/app-{number % 7}/password", f"secret {number}" * 2000, print)
    print(number, flush=True)
"""


def unexpected(line: str) -> None:
    raise AssertionError(f"an unexpected notice: {line}")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.contract("C11")
@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_the_file_is_private_under_every_umask(home: Path, umask: int) -> None:
    os.umask(umask)
    credentials.put(home, ACCOUNT, SECRET, "file")
    assert {path.name: mode(path) for path in home.iterdir()} == {
        "credentials.json": 0o600,
        "credentials.lock": 0o600,
    }
    assert mode(home) == 0o700
    assert credentials.find(home, ACCOUNT, "file", terminal=False, notice=unexpected) == SECRET


@pytest.mark.contract("C12")
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("loose", [0o644, 0o660, 0o604, 0o777])
def test_a_looser_mode_is_repaired_with_a_word(home: Path, act: str, loose: int) -> None:
    path = home / "credentials.json"
    credentials.put(home, ACCOUNT, SECRET, "file")
    path.chmod(loose)
    told: list[str] = []
    ACTS[act](home, told.append)
    assert mode(path) == 0o600
    assert told == [f"{path} was open to other users (mode {loose:04o}) and is closed to them now (mode 0600)"]


@pytest.mark.parametrize("act", ACTS)
def test_a_mode_that_is_tight_enough_is_left(home: Path, act: str) -> None:
    credentials.put(home, ACCOUNT, SECRET, "file")
    (home / "credentials.json").chmod(0o400)
    ACTS[act](home, unexpected)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("target", ["a file", "nothing"])
def test_a_link_is_refused(home: Path, tmp_path: Path, act: str, target: str) -> None:
    real = tmp_path / "real.json"
    if target == "a file":
        real.write_text(json.dumps({ACCOUNT: SECRET}))
    home.mkdir(mode=0o700)
    (home / "credentials.json").symlink_to(real)
    with failing("state", untrusted(home, "is a symbolic link"), SECRET):
        ACTS[act](home, unexpected)
    assert (home / "credentials.json").is_symlink()
    assert real.exists() is (target == "a file")


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["folder", "fifo"])
def test_what_is_no_file_is_refused(home: Path, act: str, make: Callable[[Path], None]) -> None:
    home.mkdir(mode=0o700)
    make(home / "credentials.json")
    with failing("state", untrusted(home, "is not a regular file"), SECRET):
        ACTS[act](home, unexpected)


@pytest.mark.parametrize("act", ["get", "delete"])
def test_a_home_that_is_a_file_is_refused(home: Path, act: str) -> None:
    home.write_bytes(b"")
    reason = "a file stands where a folder should be; move it away or name another home in HELM_CLI_HOME"
    with failing("state", f"{home}/credentials.json cannot be used: {reason}"):
        ACTS[act](home, unexpected)


def test_another_users_file_is_refused(home: Path) -> None:
    path = Path("/etc/passwd")
    if os.geteuid() == 0:
        # Only root can give a file away, and to root every system file is its own.
        credentials.put(home, ACCOUNT, SECRET, "file")
        path = home / "credentials.json"
        os.chown(path, 12345, -1)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        told = f"{path} belongs to another user, so no secret is read from it or written to it; {STEP}"
        with failing("state", told, SECRET):
            credentials_file.inspect(path, descriptor, unexpected)
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_told_and_left_as_it_is(home: Path, act: str, damage: bytes) -> None:
    home.mkdir(mode=0o700)
    path = home / "credentials.json"
    path.write_bytes(damage)
    path.chmod(0o600)
    before = path.stat()
    told = untrusted(home, "is damaged (it is not the JSON object that helm writes)")
    with failing("state", told, "correct-hor", "123456789"):
        ACTS[act](home, unexpected)
    after = path.stat()
    assert path.read_bytes() == damage
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_other_accounts_and_a_persons_own_layout_are_read(home: Path) -> None:
    home.mkdir(mode=0o700)
    path = home / "credentials.json"
    path.write_text(json.dumps({"service/x/token": "é", ACCOUNT: SECRET}))
    path.chmod(0o600)
    assert credentials.delete(home, ACCOUNT, "file", notice=unexpected) is True
    assert path.read_bytes() == b'{\n "service/x/token": "\\u00e9"\n}\n'


@pytest.mark.contract("C11")
def test_a_file_that_was_read_before_is_read_again_once_it_changed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of it is used only while nothing about it is another, and nobody has to be told of it."""
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + 10**10)  # as if it had stood there for some time
    path = home / "credentials.json"

    def found(told: Callable[[str], None] = unexpected) -> str | None:
        return credentials.find(home, ACCOUNT, "file", terminal=False, notice=told)

    assert found() is None
    credentials.put(home, ACCOUNT, SECRET, "file")
    assert [found(), found()] == [SECRET, SECRET]
    path.write_text(json.dumps({ACCOUNT: "another"}))
    assert [found(), found()] == ["another", "another"]
    path.chmod(0o644)
    told: list[str] = []
    assert found(told.append) == "another"
    assert len(told) == 1
    assert mode(path) == 0o600
    assert found() == "another"
    path.rename(home / "kept")
    assert found() is None
    path.symlink_to(home / "kept")
    with failing("state", f"{path} is a symbolic link, so no secret is read from it or written to it; {STEP}", SECRET):
        found()
    path.unlink()
    (home / "kept").rename(path)
    assert found() == "another"
    path.write_text("{")
    with pytest.raises(HelmError):
        found()
    path.unlink()
    assert found() is None


def test_what_cannot_be_written_is_told_and_leaves_the_former_file(home: Path) -> None:
    credentials.put(home, ACCOUNT, SECRET, "file")
    path = home / "credentials.json"
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        reason = "the file would be larger than this process may write; raise its limit (ulimit -f)"
        with failing("state", f"{path} cannot be used: {reason}", "x" * 50):
            credentials.put(home, ACCOUNT, "x" * 10_000, "file")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert sorted(path.name for path in home.iterdir()) == ["credentials.json", "credentials.lock"]


def test_kill_9_at_any_moment_leaves_whole_json(home: Path) -> None:
    path = home / "credentials.json"
    for round_ in range(8):
        command = [sys.executable, "-c", PUT_FOR_EVER, str(home)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            # The moments differ; what is proved holds at each of them.
            time.sleep(round_ * 0.003)
            writer.send_signal(signal.SIGKILL)
        held = json.loads(path.read_bytes())
        assert held["db/app-0/password"].startswith("secret ")
        assert mode(path) == 0o600
    credentials.put(home, ACCOUNT, SECRET, "file")
    assert sorted(path.name for path in home.iterdir()) == ["credentials.json", "credentials.lock"]


STEP: Final = "move it away and enter the secrets again"


def untrusted(home: Path, why: str) -> str:
    return f"{home}/credentials.json {why}, so no secret is read from it or written to it; {STEP}"


def test_a_look_tells_the_accounts_and_the_mode_and_changes_nothing(home: Path) -> None:
    assert credentials_file.looked(home) is None
    credentials.put(home, ACCOUNT, SECRET, "file")
    credentials.put(home, "db/a/password", SECRET, "file")
    path = home / "credentials.json"
    path.chmod(0o640)
    assert credentials_file.looked(home) == credentials_file.Looked(("db/a/password", ACCOUNT), 0o640)
    assert mode(path) == 0o640
    path.write_bytes(DAMAGED["half"])
    told = untrusted(home, "is damaged (it is not the JSON object that helm writes)")
    with failing("state", told, SECRET):
        credentials_file.looked(home)
