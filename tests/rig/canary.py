"""Secrets that are sought afterwards: each in every form that it may have slipped out in, in every place there is."""

import base64
import html
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote, quote_plus

# How often the processes of this machine are looked at, in seconds.
_EVERY: Final = 0.004


class Canary(NamedTuple):
    """One secret, and the forms by which it would be known: their names and bytes."""

    name: str
    value: str
    forms: tuple[tuple[str, bytes], ...]


def canary(name: str, between: str = "-") -> Canary:
    """A secret that nothing else holds; `between` stands in its middle, for what encodings change."""
    halves = [f"{name}{os.urandom(6).hex()}" for _ in range(2)]
    return Canary(name, between.join(halves), tuple(_forms(halves, between.join(halves)).items()))


def _forms(halves: list[str], value: str) -> dict[str, bytes]:
    data = value.encode()
    found = {
        "as it is": data,
        "its first half": halves[0].encode(),
        "its second half": halves[1].encode(),
        "as hex": data.hex().encode(),
        "as HEX": data.hex().upper().encode(),
        "in a URL": quote(value, safe="").encode(),
        "in a form": quote_plus(value, safe="").encode(),
        "as JSON": json.dumps(value)[1:-1].encode(),
        "in HTML": html.escape(value).encode(),
        "in UTF-16": value.encode("utf-16-le"),
        "backwards": data[::-1],
    }
    for before in range(3):
        # What stands before it shifts it; what depends on its neighbours is left out.
        whole = base64.b64encode(b"\0" * before + data).rstrip(b"=")
        found[f"as base64 after {before}"] = whole[4 if before else 0 : -4]
        found[f"as base64url after {before}"] = found[f"as base64 after {before}"].translate(
            bytes.maketrans(b"+/", b"-_")
        )
    return found


class Nest(NamedTuple):
    """All secrets of a test."""

    canaries: tuple[Canary, ...]

    def value(self, name: str) -> str:
        return next(canary.value for canary in self.canaries if canary.name == name)

    def sought(self, data: bytes) -> list[str]:
        """Which are in these bytes, and how."""
        return [f"{one.name} {form}" for one in self.canaries for form, sign in one.forms if sign in data]

    def in_files(self, *folders: Path, but: str) -> list[str]:
        """Which are in a file below, or in a file's name; every file of the name `but` is left out."""
        found = []
        for folder in folders:
            for path in folder.rglob("*"):
                name = str(path.relative_to(folder))
                found += [f"{told} in the name {name}" for told in self.sought(os.fsencode(name))]
                if path.is_file() and path.name != but:
                    found += [f"{told} in {name}" for told in self.sought(path.read_bytes())]
        return found


class Watch:
    """What was seen of the processes that began meanwhile.

    `leaks` are the secrets in their command lines and environments, `named` those that stood as the whole value of the
    variable that they were named for.
    """

    def __init__(self, nest: Nest, variables: dict[str, str]) -> None:
        self.leaks: set[str] = set()
        self.named: set[str] = set()
        self._nest = nest
        self._given = {f"{name}={nest.value(secret)}".encode(): secret for name, secret in variables.items()}
        self._before = set(_processes())
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def look(self) -> None:
        """Looks at each process once."""
        for pid in _processes():
            if pid not in self._before:
                with suppress(OSError):
                    self._one(pid)

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_EVERY):
            self.look()

    def _one(self, pid: str) -> None:
        words = Path("/proc", pid, "cmdline").read_bytes()
        self.leaks |= {f"{told} in the command line {words!r}" for told in self._nest.sought(words)}
        for entry in Path("/proc", pid, "environ").read_bytes().split(b"\0"):
            if entry in self._given:
                self.named.add(self._given[entry])
            else:
                name = entry.partition(b"=")[0]
                self.leaks |= {f"{told} in {name!r} of {words!r}" for told in self._nest.sought(entry)}


@contextmanager
def watching(nest: Nest, variables: dict[str, str]) -> Iterator[Watch]:
    """Looks at every process that begins during the block; `variables` are those that may hold the secret named."""
    watch = Watch(nest, variables)
    try:
        yield watch
    finally:
        watch.stop()


def _processes() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdecimal()]
