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

from helm_cli.drivers import files_guard, files_leftover, files_read, files_record, files_system, files_walk
from helm_cli.drivers.files_record import Record
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
    """The text that a write would replace, if it can be replaced. Raises as `replace` does, "refused" for no file."""
    with files_walk.folder(tree, path) as (folder, name):
        if not os.access(name, os.W_OK, dir_fd=folder, effective_ids=os.access in os.supports_effective_ids):
            # Says what it is, where it is no file or cannot even be read.
            os.close(files_walk.regular(folder, name, path))
            raise HelmError("refused", f"{path} cannot be opened for writing: permission denied, or it is protected")
        with _old(folder, name, path, expected) as old:
            return old.text


def replace(tree: Tree, path: str, expected: str, text: str) -> str:
    """Replace a file whose SHA-256 is `expected`; the SHA-256 of its new text (contract, Files).

    Its mode, owner, access lists and attributes stay. Raises HelmError "conflict" where it is not what was expected,
    or gone, at any moment until the exchange, and "refused" where it cannot be replaced so that only its text changes:
    then it stands as it did. With `{"applied": "unknown"}` in it an error says that this is not certain. Raises "state"
    where helm cannot write down in its home what it is about to do.
    """
    data = text.encode()
    new = files_read.sha256(data)
    try:
        with files_walk.folder(tree, path) as (folder, name), _locked(folder, path) as (own, alone):
            if alone:
                with suppress(OSError):
                    files_leftover.settle_all(tree.home, own)
            _check_writable(own, name, path)
            with _old(own, name, path, expected) as old:
                if new != expected:
                    record = files_record.begin(tree.home, own, name, old.found, expected, new)
                    _exchanged(own, record, path, old, data)
    except HelmError as error:
        # Its text was read once, so it was there.
        if error.code == "refused" and not files_walk.stands(tree, path):
            raise _conflict(path, "it is gone, or something else stands in its place") from None
        raise
    return new


def _exchanged(folder: int, record: Record, path: str, old: Old, data: bytes) -> None:
    with files_guard.watching(folder, record), _told(path):
        record = _beside(folder, record, path, old, data)
        try:
            exchanged = files_system.exchange(folder, record.name, record.target)
        except FileNotFoundError:
            raise _conflict(path, "it was deleted") from None
        if exchanged:
            _verified(folder, record, path, old)
        else:
            with _as_it_was(folder, record.target, path, old, record.before):
                os.rename(record.name, record.target, src_dir_fd=folder, dst_dir_fd=folder)
        _synced(folder, path)


def _verified(folder: int, record: Record, path: str, old: Old) -> None:
    """Look at what was exchanged out, and put it back unless it is exactly what was to go."""
    try:
        with _as_it_was(folder, record.name, path, old, record.before):
            os.unlink(record.name, dir_fd=folder)
    except BaseException:
        _undone(folder, record, path)
        raise


def _undone(folder: int, record: Record, path: str) -> None:
    """Put the old file back. Raises HelmError "conflict" where it had to be set aside instead."""
    with suppress(OSError):
        if files_leftover.give_back(folder, record):
            return
    try:
        kept = files_leftover.set_aside(folder, record)
    except FileNotFoundError:  # it was taken away already, and nothing is left to be put back
        return
    place = os.path.join(os.path.dirname(path), kept)
    raise HelmError(
        "conflict",
        f"{path} was changed twice while it was written; what stands there stays, and the text before it is kept in"
        f" {place}",
        {**_UNKNOWN},
    ) from None


@contextmanager
def _as_it_was(folder: int, name: str, path: str, old: Old, expected: str) -> Iterator[None]:
    """That under this name is the very file that was to be replaced, as it was, and stays while the block runs.

    Raises HelmError "conflict".
    """
    try:
        opened = files_walk.regular(folder, name, path)
    except HelmError:
        raise _conflict(path, "something else stands in its place") from None
    try:
        with files_system.leased(opened) as quiet:
            _check_quiet(quiet(), path)
            if _kept(os.fstat(opened)) != _kept(old.found) or files_read.sha256(_content(opened, path)) != expected:
                raise _conflict(path, "it was changed")
            # Who opened it in the meantime waits, and is to write into what stands in its place.
            _check_quiet(quiet(), path)
            yield
    finally:
        os.close(opened)


def _kept(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_gid, found.st_nlink


@contextmanager
def _old(folder: int, name: str, path: str, expected: str) -> Iterator[Old]:
    opened = files_walk.regular(folder, name, path)
    try:
        found = os.fstat(opened)
        _check_replaceable(folder, opened, found, path)
        with files_system.leased(opened) as quiet:
            _check_quiet(quiet(), path)
            data = _content(opened, path)
            _check_quiet(quiet(), path)
        # One that is too large was never read.
        if len(data) > files_read.MOST_BYTES or files_read.sha256(data) != expected:
            raise _conflict(path, "it is not the text that was read")
        # Open as long as it matters: only so can no other file get its number.
        yield Old(opened, found, files_read.text(path, data))
    finally:
        os.close(opened)


def _check_writable(folder: int, name: str, path: str) -> None:
    """Opened for writing, which shows whether that is allowed as nothing else does. Raises HelmError "refused"."""
    os.close(files_walk.regular(folder, name, path, os.O_RDWR))


def _check_quiet(quiet: bool, path: str) -> None:
    if not quiet:
        raise _conflict(path, "another program has it open for writing")


def _check_replaceable(folder: int, opened: int, found: os.stat_result, path: str) -> None:
    """That the file can be exchanged, and nothing but the text would change. Raises HelmError "refused"."""
    if not found.st_mode & 0o222:
        raise HelmError("refused", f"{path} is read-only; make it writable first if it is to change")
    if found.st_mode & (stat.S_ISUID | stat.S_ISGID) or files_system.CAPABILITIES in files_system.attributes(opened):
        raise HelmError("refused", f"{path} runs with rights of its own, which another text must not get")
    if found.st_nlink > 1:
        raise HelmError("refused", f"{path} has other names (hard links), which would keep the old text")
    if files_system.mounted_over(folder, opened):
        raise _mounted(path)
    if files_system.only_adds(folder):
        raise HelmError("refused", f"the folder of {path} only lets files be added, so it is left as it is")


def _beside(folder: int, record: Record, path: str, old: Old, data: bytes) -> Record:
    """Write the new text beside the file, whole and on the disk, and write down how far it came."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(record.name, flags, 0o600, dir_fd=folder)
    try:
        record = files_record.made(record, opened)
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
    return files_record.finished(record)


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
        if error.errno in (errno.EBUSY, errno.EXDEV):
            raise _mounted(path) from None
        raise files_walk.fault(path, error) from None


def _content(opened: int, path: str) -> bytes:
    try:
        return files_walk.content(opened, files_read.MOST_BYTES)
    except OSError as error:
        raise files_walk.fault(path, error) from None


def _mounted(path: str) -> HelmError:
    return HelmError("refused", f"{path} is mounted there by itself, so no other file can take its place")


def _conflict(path: str, what: str) -> HelmError:
    return HelmError("conflict", f"{path} was left as it is: {what}; read it again")
