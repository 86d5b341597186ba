"""A running `helm oauth connect` with whom a test talks: the address it printed, its callback, what it ended with."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import httpx

from tests.program import Finished, environment

SECONDS: Final = 30.0


class Connecting:
    """The program, started and not yet ended. Its standard input is a pipe that the test writes to, or closes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._err = b""
        self._changed = threading.Condition()
        self._over = False
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def wait_for(self, text: str) -> str:
        """What standard error says by the time that this text stands in it."""
        with self._changed:
            self._changed.wait_for(lambda: text.encode() in self._err or self._over, SECONDS)
            assert text.encode() in self._err, f"no {text!r} in {self._err.decode()}"
            return self._err.decode()

    def address(self) -> str:
        """The address that it tells a person to go to, once it listens for what comes back."""
        told = self.wait_for("helm: waiting ")
        return next(line for line in told.splitlines() if line.startswith("http"))

    def paste(self, *lines: str, end: bool = False) -> None:
        """Write lines to its standard input, and close that where it is the `end`."""
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        self.process.stdin.flush()
        if end:
            self.process.stdin.close()

    def ended(self) -> Finished:
        """What came of it."""
        status = self.process.wait(SECONDS)
        assert self.process.stdout is not None
        out = self.process.stdout.read().decode()
        self._reader.join()
        return Finished(status, out, self._err.decode())

    def stop(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def _read(self) -> None:
        assert self.process.stderr is not None
        while data := os.read(self.process.stderr.fileno(), 65536):
            with self._changed:
                self._err += data
                self._changed.notify_all()
        with self._changed:
            self._over = True
            self._changed.notify_all()


@contextmanager
def connecting(*words: str, env: Mapping[str, str | None] | None = None) -> Iterator[Connecting]:
    """`helm oauth connect WORDS`, killed after the block where it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "helm_cli", "oauth", "connect", *words],
        env=environment(env or {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    running = Connecting(process)
    try:
        yield running
    finally:
        running.stop()


def browse(url: str, *, method: str = "GET", host: str | None = None) -> httpx.Response:
    """One request of a browser, whose redirects are not followed."""
    with httpx.Client(trust_env=False, timeout=SECONDS) as browser:
        return browser.request(method, url, headers={"Host": host} if host else {})


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
