"""How a path under a root is opened: each part from its parent's descriptor, no link followed, nothing waited for."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Root

_FOLDER: Final = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# To go through a folder, the right to search it is enough where the system can open it so.
_THROUGH: Final = _FOLDER | getattr(os, "O_PATH", os.O_RDONLY)
# A FIFO would hold an open for ever, a terminal would become helm's own.
_FILE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_MISSING: Final = (errno.ENOENT, errno.ENAMETOOLONG)
_REASONS: Final = {
    errno.EACCES: "permission denied",
    errno.EPERM: "it is protected",
    errno.EROFS: "its file system is read-only",
    errno.ETXTBSY: "it is a program that runs",
}


class Tree(NamedTuple):
    """An open root, and helm's home, that nothing gets into: its device and inode, None where there is none."""

    opened: int
    private: tuple[int, int] | None
    home: str


@contextmanager
def root(target: Root) -> Iterator[Tree]:
    """A root, in whose resolved path no part is a link. Raises HelmError "refused"."""
    tree = _entered(target)
    try:
        yield tree
    finally:
        os.close(tree.opened)


@contextmanager
def folder(tree: Tree, path: str) -> Iterator[tuple[int, str]]:
    """The folder that a path stands in, and the last part of the path. Raises HelmError "refused"."""
    *parts, name = path.split("/")
    here = tree._replace(opened=os.dup(tree.opened))
    try:
        for part in parts:
            try:
                here = here._replace(opened=_stepped(here, part, path))
            except OSError as error:
                if _kind(here.opened, part) == "link":
                    raise _link(path, "a folder in its path") from None
                raise fault(path, error) from None
        yield here.opened, name
    finally:
        os.close(here.opened)


def stands(tree: Tree, path: str) -> bool:
    """Whether a regular file is under this path now, and no link in it."""
    parts = path.split("/")
    try:
        for length in range(1, len(parts) + 1):
            mode = os.stat("/".join(parts[:length]), dir_fd=tree.opened, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                return False
    except OSError as error:
        return error.errno == errno.EACCES
    return stat.S_ISREG(mode)


def listed(folder: int) -> int:
    """Another descriptor of a folder, which can be read and locked. The caller closes it. Raises OSError."""
    return os.open(".", os.O_RDONLY | _FOLDER, dir_fd=folder)


def below(folder: int, name: str, private: tuple[int, int] | None) -> int | None:
    """The descriptor of a folder in a folder, which can be read; None for the private one. Raises OSError."""
    opened = os.open(name, os.O_RDONLY | _FOLDER | os.O_NONBLOCK, dir_fd=folder)
    if private is not None and _same(opened, private):
        os.close(opened)
        return None
    return opened


def regular(folder: int, name: str, path: str, flags: int = os.O_RDONLY) -> int:
    """The descriptor of a regular file, which the caller closes; `path` is what it is called in the refusal.

    Raises HelmError "refused" for everything else.
    """
    kind = _kind(folder, name)
    if kind == "link":
        raise _link(path, "it")
    if kind == "other":
        raise HelmError("refused", f"{path} is no regular file")
    try:
        opened = os.open(name, flags | _FILE, dir_fd=folder)
    except OSError as error:
        raise fault(path, error) from None
    # What stands there may be another thing since it was looked at.
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise HelmError("refused", f"{path} is no regular file")
    return opened


def content(opened: int, most: int) -> bytes:
    """The bytes of an open file, at most one over `most`: the size that it tells may be wrong by then."""
    os.lseek(opened, 0, os.SEEK_SET)
    parts = []
    left = most + 1
    while left and (part := os.read(opened, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def fault(path: str, error: OSError) -> HelmError:
    """Why a file cannot be opened or read, as it is told: "refused", or "unavailable" where its disk fails."""
    if error.errno in _MISSING:
        return HelmError("refused", f"there is no file {path}")
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        return HelmError("refused", f"there is no file {path}: what its path goes through is no folder")
    if error.errno in (errno.EISDIR, errno.ENXIO):
        return HelmError("refused", f"{path} is no regular file")
    if error.errno in _REASONS:
        return HelmError("refused", f"{path} cannot be opened: {_REASONS[error.errno]}")
    return HelmError("unavailable", f"{path} cannot be used: {(error.strerror or 'it failed').lower()}")


def _entered(target: Root) -> Tree:
    what = f"the folder of the project {target.name}" if target.project else "the workspace"
    tree = Tree(os.open("/", _THROUGH), _identity(target.private), target.private)
    try:
        for part in target.path.split("/"):
            if part:
                tree = tree._replace(opened=_stepped(tree, part, what))
    except OSError:
        os.close(tree.opened)
        raise HelmError("refused", f"{what} is gone, or cannot be entered; see that it is there") from None
    except HelmError:
        os.close(tree.opened)
        raise
    return tree


def _stepped(tree: Tree, part: str, path: str) -> int:
    """The descriptor of a folder in the open one, which is closed then. Raises OSError, and HelmError "refused"."""
    below = os.open(part, _THROUGH, dir_fd=tree.opened)
    if tree.private is not None and _same(below, tree.private):
        os.close(below)
        raise HelmError("refused", f"{path} is refused: it is in helm's own home")
    os.close(tree.opened)
    return below


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _same(opened: int, identity: tuple[int, int]) -> bool:
    found = os.fstat(opened)
    return (found.st_dev, found.st_ino) == identity


def _kind(folder: int, name: str) -> str:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return "missing"
    return "link" if stat.S_ISLNK(mode) else "file" if stat.S_ISREG(mode) else "other"


def _link(path: str, what: str) -> HelmError:
    return HelmError("refused", f"{path} is refused: {what} is a link, and links are never followed")
