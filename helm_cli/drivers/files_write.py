"""How one existing file gets another text: written beside it, exchanged with it, and what came out looked at.

Until it is known that exactly the expected text was replaced, everything can be put back, and is.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from helm_cli.drivers import files_guard, files_leftover, files_read, files_system, files_walk
from helm_cli.drivers.files_walk import Tree
from helm_cli.model.errors import HelmError

LOCK_SECONDS: Final = 2.0
_PAUSE: Final = 0.005
_FULL: Final = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "your disk quota is used up"}
_UNKNOWN: Final = {"applied": "unknown"}


class Old(NamedTuple):
    """A file that is to be replaced: an open descriptor, what it was when it was looked at, and its text."""

    opened: int
    found: os.stat_result
    text: str


def current(tree: Tree, path: str, expected: str) -> str:
    """The text that a write would replace, if it can be replaced. Raises as `replace` does."""
    with files_walk.folder(tree, path) as (folder, name), _old(folder, name, path, expected) as old:
        return old.text


def replace(tree: Tree, path: str, expected: str, text: str) -> str:
    """Replace a file whose SHA-256 is `expected`; the SHA-256 of its new text (contract, Files).

    Its mode, owner, access lists and attributes stay. Raises HelmError "conflict" where it is not what was expected,
    at any moment until the exchange, and "refused" where it cannot be replaced so that only its text changes: then
    it stands as it did. With `{"applied": "unknown"}` in it an error says that this is not certain.
    """
    data = text.encode()
    new = files_read.sha256(data)
    with files_walk.folder(tree, path) as (folder, name), _locked(folder, path) as (own, alone):
        if alone:
            with suppress(OSError):
                files_leftover.settle_all(own)
        with _old(own, name, path, expected) as old:
            if new != expected:
                _exchanged(own, name, path, old, data)
    return new


def _exchanged(folder: int, name: str, path: str, old: Old, data: bytes) -> None:
    expected, new = files_read.sha256(old.text.encode()), files_read.sha256(data)
    spare = files_leftover.name(name, expected, new)
    with files_guard.watching(folder, spare), _told(path):
        _beside(folder, spare, path, old, data)
        try:
            exchanged = files_system.exchange(folder, spare, name)
        except FileNotFoundError:
            raise _conflict(path, "it was deleted") from None
        if not exchanged:
            _check(folder, name, path, old, expected)
            os.rename(spare, name, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            _verified(folder, name, spare, path, old, expected)
        _synced(folder, path)


def _verified(folder: int, name: str, spare: str, path: str, old: Old, expected: str) -> None:
    """Look at what was exchanged out, and put it back unless it is exactly what was to go."""
    try:
        _check(folder, spare, path, old, expected)
    except BaseException:
        kept = HelmError(
            "conflict",
            f"{path} was changed twice while it was written; what stands there stays, and the text before it is in"
            f" {spare} beside it",
            {**_UNKNOWN},
        )
        try:
            back = files_leftover.give_back(folder, spare, name)
        except OSError:
            raise kept from None
        if not back:
            raise kept from None
        raise
    os.unlink(spare, dir_fd=folder)


def _check(folder: int, name: str, path: str, old: Old, expected: str) -> None:
    """That under this name is the very file that was to be replaced, as it was. Raises HelmError "conflict"."""
    try:
        opened = files_walk.regular(folder, name, path)
    except HelmError:
        raise _conflict(path, "something else stands in its place") from None
    try:
        found = os.fstat(opened)
        if _kept(found) != _kept(old.found) or files_read.sha256(_content(opened, path)) != expected:
            raise _conflict(path, "it was changed")
        if not files_system.unwritten(opened):
            raise _conflict(path, "another program has it open for writing")
    finally:
        os.close(opened)


def _kept(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_gid, found.st_nlink


@contextmanager
def _old(folder: int, name: str, path: str, expected: str) -> Iterator[Old]:
    # Opened for writing first, which shows whether that is allowed as nothing else does.
    writable = files_walk.regular(folder, name, path, os.O_RDWR)
    try:
        identity = os.fstat(writable)
    finally:
        os.close(writable)
    opened = files_walk.regular(folder, name, path)
    try:
        found = os.fstat(opened)
        data = _content(opened, path)
        if (found.st_dev, found.st_ino) != (identity.st_dev, identity.st_ino):
            raise _conflict(path, "something else stands in its place")
        _check_replaceable(opened, found, path)
        if len(data) <= files_read.MOST_BYTES and files_read.sha256(data) != expected:
            raise _conflict(path, "it is not the text that was read")
        text = files_read.text(path, data)
        if not files_system.unwritten(opened):
            raise _conflict(path, "another program has it open for writing")
        # Open as long as it matters: only so can no other file get its number.
        yield Old(opened, found, text)
    finally:
        os.close(opened)


def _check_replaceable(opened: int, found: os.stat_result, path: str) -> None:
    """That nothing but the text would change. Raises HelmError "refused"."""
    if not found.st_mode & 0o222:
        raise HelmError("refused", f"{path} is read-only; make it writable first if it is to change")
    if found.st_mode & (stat.S_ISUID | stat.S_ISGID) or files_system.CAPABILITIES in files_system.attributes(opened):
        raise HelmError("refused", f"{path} runs with rights of its own, which another text must not get")
    if found.st_nlink > 1:
        raise HelmError("refused", f"{path} has other names (hard links), which would keep the old text")


def _beside(folder: int, spare: str, path: str, old: Old, data: bytes) -> None:
    """Write the new text beside the file, whole and on the disk before it has the name `spare`."""
    part = spare + files_leftover.PART
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        opened = os.open(part, flags, 0o600, dir_fd=folder)
    except FileExistsError:
        raise HelmError("unavailable", f"{part} stands beside {path}; remove it if no helm is writing") from None
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(opened, view) :]
        try:
            files_system.keep(old.opened, opened)
        except OSError:
            raise HelmError(
                "refused", f"the owner or the attributes of {path} cannot be kept, so it is left as it is"
            ) from None
        os.fsync(opened)
    finally:
        os.close(opened)
    os.rename(part, spare, src_dir_fd=folder, dst_dir_fd=folder)


def _synced(folder: int, path: str) -> None:
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise HelmError(
                "unavailable", f"{path} was written, but the disk failed to keep it; look at it", {**_UNKNOWN}
            ) from None


@contextmanager
def _locked(folder: int, path: str) -> Iterator[tuple[int, bool]]:
    """The folder's descriptor under its lock, and whether there is such a lock at all: one write at a time."""
    try:
        own = files_walk.listed(folder)
    except OSError as error:
        raise files_walk.fault(path, error) from None
    try:
        ends = time.monotonic() + LOCK_SECONDS
        while (got := files_system.locked(own)) is False:
            if time.monotonic() >= ends:
                raise HelmError("unavailable", f"another process holds the folder of {path} locked; try again later")
            time.sleep(_PAUSE)
        yield own, got is True
    finally:
        os.close(own)


@contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise HelmError("unavailable", f"{path} was not written: {_FULL[error.errno]}") from None
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise HelmError("refused", f"the folder of {path} cannot be written to, so it is left as it is") from None
        raise files_walk.fault(path, error) from None


def _content(opened: int, path: str) -> bytes:
    try:
        return files_walk.content(opened, files_read.MOST_BYTES)
    except OSError as error:
        raise files_walk.fault(path, error) from None


def _conflict(path: str, what: str) -> HelmError:
    return HelmError("conflict", f"{path} was left as it is: {what}; read it again")
