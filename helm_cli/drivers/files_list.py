"""How the files under a root that globs match are found: only where a glob can reach, in the order of their paths."""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from time import monotonic
from typing import Final, NamedTuple

from helm_cli.drivers import Limits, files_record, files_walk
from helm_cli.drivers.files_walk import Tree
from helm_cli.grammar import glob
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json

# Each level of folders holds a descriptor, and some systems give a process no more than 256.
MOST_LEVELS: Final = 100
_ODD: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_ELSEWHERE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class Entry(NamedTuple):
    """Something to come to in a folder: a file that matches, or a folder (`within`) that globs reach into."""

    key: str
    name: str
    within: glob.Reach | None


class Level(NamedTuple):
    """An open folder on the way: its descriptor, its path with a "/" behind it, what is still to come to in it."""

    folder: int
    path: str
    entries: Iterator[Entry]


class Walk:
    """One walk through a tree; `skipped` counts names that `read` does not take, and folders that cannot be read."""

    def __init__(self, limits: Limits) -> None:
        self.skipped = 0
        self._limits = limits
        self._ends = monotonic() + limits.seconds
        self._hidden: frozenset[str] = frozenset()

    def files(self, tree: Tree, globs: Iterable[str]) -> Iterator[Json]:
        """`{"path", "size"}` of each regular file that a glob matches, by the bytes of the path.

        Raises HelmError "timeout", and "refused" where the root itself cannot be read.
        """
        # What helm is writing at this moment is no file of anybody's yet.
        self._hidden = files_record.names(tree.home)
        try:
            levels = [self._level(files_walk.listed(tree.opened), "", glob.reach(globs))]
        except OSError as error:
            raise files_walk.fault("the root", error) from None
        try:
            while levels:
                level = levels[-1]
                entry = next(level.entries, None)
                self._check_time()
                if entry is None:
                    os.close(levels.pop().folder)
                elif entry.within is not None:
                    levels += self._below(level, entry.name, entry.within, len(levels), tree.private)
                else:
                    yield from _file(level, entry.name)
        finally:
            for level in levels:
                os.close(level.folder)

    def _below(
        self, level: Level, name: str, within: glob.Reach, depth: int, private: tuple[int, int] | None
    ) -> list[Level]:
        if depth >= MOST_LEVELS:
            self.skipped += 1
            return []
        try:
            folder = files_walk.below(level.folder, name, private)
        except OSError as error:
            # What went away meanwhile, or became a link, is not there.
            self.skipped += error.errno not in _ELSEWHERE
            return []
        return [] if folder is None else [self._level(folder, f"{level.path}{name}/", within)]

    def _level(self, folder: int, path: str, reach: glob.Reach) -> Level:
        entries = []
        with os.scandir(folder) as found:
            for one in found:
                self._check_time()
                name = one.name
                within = reach.into(name) if reach.deeper and one.is_dir(follow_symlinks=False) else None
                if within is None and not (reach.matches(name) and one.is_file(follow_symlinks=False)):
                    continue
                if "\\" in name or (not name.isprintable() and _ODD.search(name)):
                    self.skipped += 1
                elif name not in self._hidden:
                    # As in the whole path, where a "/" follows the name of a folder.
                    entries.append(Entry(name if within is None else f"{name}/", name, within))
        entries.sort()
        return Level(folder, path, iter(entries))

    def _check_time(self) -> None:
        if monotonic() > self._ends:
            raise HelmError(
                "timeout", f"the listing took longer than {self._limits.seconds:g} s; declare paths that reach less"
            )


def listing(tree: Tree, globs: Iterable[str], limits: Limits) -> Json:
    """`{"files", "truncated"}`: the first `limits.rows` files, and whether there are more (contract, Files).

    `"skipped"` is there too where names were left out that are not UTF-8 or hold control characters or a backslash, or
    folders that cannot be read or are more than 100 levels deep.
    """
    walk = Walk(limits)
    files: list[Json] = []
    truncated = False
    for file in walk.files(tree, globs):
        if len(files) == limits.rows:
            truncated = True
            break
        files.append(file)
    skipped: dict[str, Json] = {"skipped": walk.skipped} if walk.skipped else {}
    return {"files": files, "truncated": truncated, **skipped}


def _file(level: Level, name: str) -> Iterator[Json]:
    with suppress(OSError):
        found = os.stat(name, dir_fd=level.folder, follow_symlinks=False)
        if stat.S_ISREG(found.st_mode):
            yield {"path": level.path + name, "size": found.st_size}
