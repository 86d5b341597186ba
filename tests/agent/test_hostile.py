"""What others put at or through the agent's socket harms neither the agent nor a call."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from helm_cli.agent import line, place, wire
from helm_cli.agent.server import MOST_PEERS, QUIET_SECONDS
from tests.program import Finished, Helm, environment
from tests.rig import agents
from tests.rig.agents import Agent, eventually

RECENT = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1")
ANSWER = '{"ok":true,"data":{"columns":["id","title","status"],"rows":[[199,"Ticket 199","open"]]},"error":null}\n'
NOBODY = 65534


def connected(path: Path) -> socket.socket:
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    peer.settimeout(20)

    def taken() -> bool:
        with suppress(BlockingIOError):  # the queue is full
            peer.connect(str(path))
            return True
        return False

    eventually(taken)
    return peer


def ends(peer: socket.socket) -> bool:
    """Whether the agent closed it, after whatever it says."""
    with suppress(OSError):
        while peer.recv(65536):
            pass
    return True


FRAMES: dict[str, bytes] = {
    "no JSON": (5).to_bytes(4, "big") + b"hello",
    "no object": (2).to_bytes(4, "big") + b"[]",
    "not UTF-8": (2).to_bytes(4, "big") + b"\xff\xff",
    "deep": (200_000).to_bytes(4, "big") + b"[" * 200_000,
    "huge": b"\xff\xff\xff\xff" + b"x" * 1000,
    "a little too long": (wire.MOST_ASKED + 1).to_bytes(4, "big"),
    "text": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "nothing asked": wire.packed({}),
    "unknown": wire.packed({"what": "everything"}),
    "no call": wire.packed({"what": "call"}),
    "wrong types": wire.packed({"what": "call", "workspace": 1, "connection": [], "operation": None, "arguments": 7}),
    "two at once": wire.packed({"what": "status"}) * 2,
}


def test_what_is_no_message_ends_its_own_connection_only(helm: Helm, agent: Agent, app: Path) -> None:
    for name, frame in FRAMES.items():
        with closing(connected(agent.socket())) as peer:
            peer.sendall(frame)
            assert ends(peer), name
    assert helm(*RECENT) == Finished(0, ANSWER, "")
    assert (agent.calls(), agent.status()["running"]) == (1, 0)
    assert "fault" not in place.of(agent.home).log.read_text()


def test_many_and_slow_connections_keep_nobody_out(helm: Helm, agent: Agent, app: Path) -> None:
    message = wire.packed({"what": "status"})
    with ExitStack() as stack:
        slow = [stack.enter_context(closing(connected(agent.socket()))) for _ in range(200)]
        for peer in slow:
            with suppress(OSError):
                peer.sendall(message[:7])
        assert helm(*RECENT) == Finished(0, ANSWER, "")
        assert agent.calls() == 1
        descriptors = len(os.listdir(f"/proc/{agent.pid}/fd"))
        assert descriptors < MOST_PEERS + 40
        begun = time.monotonic()
        # One byte now and then does not lengthen its time.
        last = slow[-1]
        with suppress(OSError):
            while time.monotonic() - begun < QUIET_SECONDS * 2:
                last.sendall(b"\0")
                time.sleep(0.2)
        assert time.monotonic() - begun < QUIET_SECONDS + 5
    eventually(lambda: len(os.listdir(f"/proc/{agent.pid}/fd")) < 40)


def test_an_end_that_does_not_read_is_left(helm: Helm, agent: Agent, app: Path) -> None:
    peer = connected(agent.socket())
    with closing(peer), suppress(OSError):
        for _ in range(20_000):
            peer.sendall(wire.packed({"what": "status"}))
    assert helm(*RECENT) == Finished(0, ANSWER, "")


@contextmanager
def impostor(path: Path, says: bytes) -> Iterator[None]:
    """Somebody else's program at the socket's place, which says this to each and then nothing more."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(str(path))
        listening.listen()
        taken: list[socket.socket] = []

        def serve() -> None:
            with suppress(OSError):
                while True:
                    taken.append(listening.accept()[0])
                    taken[-1].sendall(says)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)
        for peer in taken:
            peer.close()
    path.unlink()


@pytest.mark.parametrize("says", [b"", b"SSH-2.0-x\r\n", b"\xff" * 100, wire.packed({"helm": "0.0.1"})])
def test_a_stranger_at_the_socket_gets_no_call(helm: Helm, home: Path, app: Path, says: bytes) -> None:
    with impostor(place.of(home).socket, says):
        finished = helm(*RECENT)
    assert (finished.status, finished.out) == (0, ANSWER)
    assert agents.processes(home) == []


def test_a_socket_of_another_user_gets_no_call(helm: Helm, home: Path, app: Path) -> None:
    there = place.of(home)
    with impostor(there.socket, wire.packed({"helm": line.VERSION})):
        os.chown(there.socket, NOBODY, NOBODY)
        assert helm(*RECENT) == Finished(0, ANSWER, "")


def test_another_user_gets_nothing_of_the_agent(agent: Agent, app: Path) -> None:
    """Not even with the folders opened to everybody: the kernel says who is there."""
    for folder in (agent.home, agent.home.parent, agent.socket().parent, *agent.home.parents):
        with suppress(PermissionError):
            folder.chmod(folder.stat().st_mode | 0o755)
    agent.socket().chmod(0o777)
    script = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(len(s.recv(9)))"
    command = ["setpriv", f"--reuid={NOBODY}", "--clear-groups", "/usr/bin/python3", "-c", script, str(agent.socket())]
    told = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert (told.returncode, told.stdout) == (0, "0\n"), told.stderr


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_everything_of_the_agent_is_private(helm: Helm, home: Path, app: Path) -> None:
    os.umask(0)
    with agents.agent(helm, home) as agent:
        found = {path.name: mode(path) for path in (home / "run").iterdir()}
        assert (mode(home / "run"), agent.socket().parent) == (0o700, home / "run")
        assert found == {"agent.sock": 0o600, "agent.lock": 0o600, "agent.next": 0o600, "agent.log": 0o600}


def test_a_folder_that_is_open_to_others_is_closed_and_not_used_before(helm: Helm, home: Path, app: Path) -> None:
    with agents.agent(helm, home) as agent:
        (home / "run").chmod(0o777)
        assert helm(*RECENT) == Finished(0, ANSWER, "")
        (home / "run").chmod(0o700)
        assert agent.calls() == 0
    (home / "run").chmod(0o777)
    with agents.agent(helm, home):
        assert mode(home / "run") == 0o700


@pytest.mark.parametrize("what", ["link", "file", "foreign"])
def test_a_place_that_is_not_helms_own_is_refused(helm: Helm, home: Path, app: Path, tmp_path: Path, what: str) -> None:
    run = home / "run"
    with suppress(FileNotFoundError):
        shutil.rmtree(run)
    if what == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        run.symlink_to(tmp_path / "elsewhere")
        reason = f"{run} is not a folder, or a link to one; move it away"
    elif what == "file":
        run.write_text("mine")
        reason = f"{run} is not a folder, or a link to one; move it away"
    else:
        run.mkdir(mode=0o700)
        os.chown(run, NOBODY, NOBODY)
        reason = f"{run} belongs to another user; move it away"
    assert helm("agent", "start") == Finished(1, "", f"helm: {reason}\n")
    assert helm(*RECENT) == Finished(0, ANSWER, "")
    assert helm("agent", "status").status == 10
    assert agents.processes(home) == []
    if what == "link":
        assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_in_the_sockets_place_is_not_taken_away(helm: Helm, home: Path, app: Path) -> None:
    there = place.of(home)
    there.folder.mkdir(mode=0o700, exist_ok=True)
    there.socket.write_text("mine")
    told = f"helm: {there.socket} is not a socket of helm's; move it away\n"
    assert helm("agent", "start") == Finished(1, "", told)
    assert helm(*RECENT) == Finished(0, ANSWER, "")
    assert there.socket.read_text() == "mine"
    assert agents.processes(home) == []


def test_a_home_too_deep_for_a_socket(helm: Helm, app: Path, tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100) / "home"
    shutil.copytree(Path(os.environ["HOME"]) / ".helm", deep)
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        for variable in ("XDG_RUNTIME_DIR", "TMPDIR"):
            env = {variable: short, "HELM_CLI_HOME": str(deep)}
            try:
                assert helm("agent", "start", env=env).status == 0
                (own,) = Path(short).iterdir()
                assert (mode(own), mode(own / "agent.sock")) == (0o700, 0o600)
                assert own.name.startswith(f"helm-{os.geteuid()}-")
                assert helm(*RECENT, env=env) == Finished(0, ANSWER, "")
                assert helm("agent", "status", "-o", "json", env=env).json["calls"] == 1
                assert helm("agent", "start", env=env).err.startswith("helm: the agent runs already: ")
                # From other surroundings it can be seen that it runs, and be ended.
                assert helm("agent", "status", env={"HELM_CLI_HOME": str(deep)}).status == 10
            finally:
                assert helm("agent", "stop", env={"HELM_CLI_HOME": str(deep)}).status == 0
            assert agents.processes(deep) == []
            # Squatted, it is not used.
            shutil.rmtree(own)
            own.symlink_to(tmp_path)
            told = f"helm: {own} is not a folder, or a link to one; move it away\n"
            assert helm("agent", "start", env=env) == Finished(1, "", told)
            own.unlink()


def test_an_agent_whose_home_vanished_ends(helm: Helm, home: Path, app: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(home, other)
    with agents.agent(helm, other, {"HELM_CLI_HOME": str(other)}) as agent:
        shutil.rmtree(other)
        agent.gone()


def test_a_signal_ends_it_as_a_stop_does(agent: Agent) -> None:
    os.kill(agent.pid, signal.SIGHUP)
    assert agent.calls() == 0
    os.kill(agent.pid, signal.SIGTERM)
    agent.gone()
    assert not agent.socket().exists()
    assert place.of(agent.home).log.read_text().endswith("ended: signal 15\n")


def test_what_a_broken_installation_says(home: Path, helm: Helm, tmp_path: Path, app: Path) -> None:
    """An agent that cannot even begin is told of, with the place where the reason stands."""
    package = tmp_path / "broken" / "helm_cli"
    shutil.copytree(Path(place.__file__).parents[1], package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "agent" / "process.py").write_text("raise ImportError('no luck')\n")
    told = subprocess.run(
        [sys.executable, "-m", "helm_cli", "agent", "start"],
        env=environment({"PYTHONPATH": str(package.parent)}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    log = place.of(home).log
    assert (told.returncode, told.stderr) == (10, f"helm: the background agent did not begin; see {log}\n")
    assert "no luck" in log.read_text()
