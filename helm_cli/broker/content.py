"""How an extension's folder is read: by descriptors, never through a link, never without bound."""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from helm_cli.broker.stores import Stores
from helm_cli.model.content import MOST_BYTES, MOST_BYTES_A_FILE, MOST_FILES, Content, covered
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Fault
from helm_cli.store import approvals
from helm_cli.store.approvals import Approval, Stamp, Stamps

MOST_ENTRIES: Final = 10_000
MOST_DEPTH: Final = 64  # a descriptor is held for each level

# A file touched this shortly before it was read can change again within one tick of the file system's clock.
_SETTLED_NS: Final = 2_000_000_000
_NEVER_EQUAL: Final = -1

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_SPECIAL: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
)


class Found(NamedTuple):
    """What a folder holds. With faults, `content` and `stamps` are those of the files that could be read."""

    content: Content
    stamps: Stamps
    faults: tuple[Fault, ...]


class _Entry(NamedTuple):
    """A covered regular file: `folder` is the open descriptor that `name` is relative to."""

    path: str
    folder: int
    name: str
    status: os.stat_result


class _Invalid(Exception):
    """What makes this one path no part of an extension, as a clause."""


class _Enough(Exception):
    """The folder holds more than helm looks at."""


def read(folder: str) -> Found:
    """Every covered file of `folder`, an absolute path without links (design, section 6).

    At most 1,000 files, 4 MiB a file and 16 MiB together are held in memory. A link, a special file, a path that
    helm does not take, a file that cannot be read and a limit passed are each a fault that names it.
    """
    faults: list[Fault] = []
    files: dict[str, bytes] = {}
    stamps: list[Stamp] = []
    began, total = time.time_ns(), 0
    try:
        for entry in _walk(folder, faults):
            try:
                data, status = _contents(entry)
            except (_Invalid, OSError) as error:
                faults.append(_fault(entry.path, _clause(error)))
                continue
            total += len(data)
            if total > MOST_BYTES:
                raise _Enough(f"the files are over {MOST_BYTES >> 20} MiB together")
            files[entry.path] = data
            stamps.append(_stamp(entry.path, status, began))
    except _Enough as error:
        faults.append(_fault("", str(error)))
    return Found(Content(files), tuple(sorted(stamps)), tuple(sorted(faults)))


def matches(stores: Stores, approval: Approval, stamps: Stamps | None = None) -> bool:
    """Whether the approved folder still holds exactly what was approved.

    Sizes, times and inodes are compared with the approval's `stamps`, looked up where they are not given; the files
    are hashed only where those differ. Raises HelmError "state".
    """
    if stamps is None:
        stamps = approvals.stamps(stores.db, approval.workspace, approval.extension)
    kept = tuple(sorted(stamps))
    if kept and kept == _stamps(approval.folder):
        return True
    found = read(approval.folder)
    if found.faults or found.content.digest != approval.digest:
        return False
    if found.stamps != kept:
        # That saves the next call some time, and nothing else depends on it.
        with suppress(HelmError):
            approvals.restamp(stores.db, approval, found.stamps)
    return True


def _stamps(folder: str) -> Stamps | None:
    faults: list[Fault] = []
    try:
        stamps = tuple(sorted(_stamp(entry.path, entry.status, None) for entry in _walk(folder, faults)))
    except _Enough:
        return None
    return None if faults else stamps


def _stamp(path: str, status: os.stat_result, began: int | None) -> Stamp:
    # The later of both times: a program that writes a file and sets its time back is still seen.
    touched = max(status.st_mtime_ns, status.st_ctime_ns)
    unsettled = began is not None and touched > began - _SETTLED_NS
    return Stamp(path, status.st_size, _NEVER_EQUAL if unsettled else touched, status.st_ino)


def _walk(folder: str, faults: list[Fault]) -> Iterator[_Entry]:
    """Each covered regular file, a folder's names in order; whatever else is there goes to `faults`."""
    counts = {"files": 0, "entries": 0}
    try:
        root = os.open(folder, _FOLDER)
    except OSError as error:
        faults.append(_fault("", f"the folder cannot be opened: {_clause(error)}"))
        return
    try:
        yield from _walk_open(root, "", MOST_DEPTH, counts, faults)
    finally:
        os.close(root)


def _walk_open(folder: int, prefix: str, deeper: int, counts: dict[str, int], faults: list[Fault]) -> Iterator[_Entry]:
    for name in _names(folder, prefix, counts, faults):
        path = prefix + name
        try:
            _check_name(name)
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(status.st_mode):
                _check_regular(status)
                counts["files"] += 1
                if counts["files"] > MOST_FILES:
                    raise _Enough(f"the folder holds over {MOST_FILES:,} files")
                yield _Entry(path, folder, name, status)
                continue
            if not deeper:
                raise _Invalid(f"more than {MOST_DEPTH} folders deep")
            inner = os.open(name, _FOLDER, dir_fd=folder)
        except (_Invalid, OSError) as error:
            faults.append(_fault(path, _clause(error)))
            continue
        try:
            yield from _walk_open(inner, f"{path}/", deeper - 1, counts, faults)
        finally:
            os.close(inner)


def _names(folder: int, prefix: str, counts: dict[str, int], faults: list[Fault]) -> list[str]:
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if covered(entry.name):
                    names.append(entry.name)
                    counts["entries"] += 1
                    if counts["entries"] > MOST_ENTRIES:
                        raise _Enough(f"the folder holds over {MOST_ENTRIES:,} files and folders")
    except OSError as error:
        faults.append(_fault(prefix.rstrip("/"), f"the folder cannot be listed: {_clause(error)}"))
    return sorted(names)


def _check_name(name: str) -> None:
    if "\\" in name:
        raise _Invalid("a path must not hold a backslash")
    if name.isascii():
        if not name.isprintable():
            raise _Invalid("a path must not hold a control character")
        return
    import unicodedata

    try:
        name.encode()
    except UnicodeEncodeError:
        raise _Invalid("a path must be UTF-8") from None
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise _Invalid("a path must not hold a control character")
    if not unicodedata.is_normalized("NFC", name):
        raise _Invalid("a path must be in Unicode's composed form (NFC); rename it")


def _check_regular(status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    told = next((told for special, told in _SPECIAL if special(status.st_mode)), "a device")
    raise _Invalid(f"{told}; only regular files are allowed")


def _contents(entry: _Entry) -> tuple[bytes, os.stat_result]:
    """The bytes of a file, and its status from before they were read."""
    descriptor = os.open(entry.name, _FILE, dir_fd=entry.folder)
    try:
        status = os.fstat(descriptor)
        _check_regular(status)
        if status.st_size > MOST_BYTES_A_FILE:
            raise _Invalid(f"over {MOST_BYTES_A_FILE >> 20} MiB")
        pieces, left = [], MOST_BYTES_A_FILE + 1
        while left and (piece := os.read(descriptor, min(left, 1 << 20))):
            pieces.append(piece)
            left -= len(piece)
    finally:
        os.close(descriptor)
    if not left:
        raise _Invalid(f"over {MOST_BYTES_A_FILE >> 20} MiB")
    return b"".join(pieces), status


def _clause(error: Exception) -> str:
    if not isinstance(error, OSError):
        return str(error)
    if error.errno in (errno.ELOOP, errno.ENOENT, errno.ENOTDIR, errno.ENXIO):
        return "it is a link, is gone, or changed while it was read"
    return f"it cannot be read: {os.strerror(error.errno or 0).lower()}"


def _fault(path: str, message: str) -> Fault:
    return Fault(os.fsencode(path).decode("utf-8", "backslashreplace") or ".", 1, 1, "", message)
