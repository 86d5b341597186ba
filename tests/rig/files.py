"""Folders to list, read and write through the driver of files, and a process that swaps what stands in them."""

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.drivers import Limits, files
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.plan import Plan, Revision
from helm_cli.model.profile import Root
from tests.program import environment

# Exchanges two names again and again until its standard input ends; says so once it has begun.
_SWAPPING: Final = """
import os, select, sys
from helm_cli.drivers.files_system import exchange
folder = os.open(sys.argv[1], os.O_RDONLY)
rounds = 0
while rounds % 64 or not select.select([0], [], [], 0)[0]:
    assert exchange(folder, sys.argv[2], sys.argv[3])
    rounds += 1
    if rounds == 2:
        print("begun", flush=True)
print(rounds, flush=True)
"""


class Folder:
    """A root, and calls of the driver on it."""

    def __init__(self, path: Path, private: Path | None = None) -> None:
        self.path = path
        self.home = private or path.parent / f"{path.name}-home"
        self.root = Root("workspace", str(path), private=str(self.home))

    def call(self, verb: str, limits: Limits | None = None, **request: Any) -> Any:
        """The data of a call whose request has these members, and the root."""
        return files.run(_plan(verb, request), self.root, None, limits or files.LIMITS)

    def error(self, verb: str, limits: Limits | None = None, **request: Any) -> HelmError:
        """The error of such a call, which must fail, in one line that does not tell where the root is."""
        with pytest.raises(HelmError) as caught:
            self.call(verb, limits, **request)
        assert "\n" not in caught.value.message
        assert str(self.path) not in caught.value.message
        return caught.value

    def listed(self, *globs: str) -> Any:
        return self.call("list", paths=list(globs))

    def write(self, path: str, text: str, expected: str | None = None) -> Any:
        """A write over what stands there now, or over what has this hash."""
        return self.call("write", path=path, expected_sha256=expected or self.sha(path), text=text)

    def write_error(self, path: str, text: str, expected: str | None = None) -> HelmError:
        return self.error("write", path=path, expected_sha256=expected or self.sha(path), text=text)

    def preview(self, path: str, text: str, expected: str) -> tuple[Revision, ...]:
        plan = _plan("write", {"path": path, "expected_sha256": expected, "text": text})
        return files.preview(plan, self.root, None, files.LIMITS)

    def prepare(self, verb: str, **request: Any) -> None:
        files.prepare(_plan(verb, request), self.root, None, files.LIMITS)

    def sha(self, path: str) -> str:
        return sha256((self.path / path).read_bytes())

    def names(self, folder: str = "") -> list[str]:
        return sorted(one.name for one in (self.path / folder).iterdir())


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def swapping(folder: Path, one: str, other: str) -> Iterator[None]:
    """Two names of a folder change places all the time, thousands of times a second, while the block runs."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SWAPPING, str(folder), one, other],
        env=environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    try:
        assert process.stdout.readline() == "begun\n"
        yield
        process.stdin.close()
        assert int(process.stdout.readline()) > 100
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def _plan(verb: str, request: dict[str, Any]) -> Plan:
    effect: Effect = "write" if verb == "write" else "read"
    return Plan(
        kind="files",
        effect=effect,
        extension="x",
        connection="notes",
        operation=verb,
        group=None,
        profile=None,
        driver="files",
        shape="json",
        title="Confirm file change",
        verb="Write",
        noun="operation",
        request={"root": "workspace", **request},
        previewed=effect == "write",
    )
