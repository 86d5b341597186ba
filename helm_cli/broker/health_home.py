"""What can be wrong with helm's home as files and folders: whose they are, who gets at them, what was left behind."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Final

from helm_cli.broker.health import guarded
from helm_cli.model.errors import HelmError
from helm_cli.model.health import Check
from helm_cli.store import config, credentials_file, drafts, profiles
from helm_cli.store import home as homes

AREA: Final = "home"
_MIB: Final = 1024 * 1024
# Below the first a call may fail at any moment; below the second, soon.
FULL: Final = _MIB
TIGHT: Final = 32 * _MIB
MOST_FILES: Final = 20_000
MOST_NAMED: Final = 3
# A writer that lives is done before that; what is older was left by one that was killed.
LIVES_SECONDS: Final = 60.0

_OTHERS: Final = 0o077
_OTHERS_WRITE: Final = 0o022
_EVERYBODY_WRITES: Final = 0o002
_UNFINISHED: Final = ".new"
_WRITES: Final = "writes"


def is_own(home: Path) -> bool:
    """Whether there is something to be looked at in it, or will be: it is not of somebody else, and no file."""
    try:
        found = os.stat(home)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def checks(home: Path) -> Iterator[Check]:
    """All about the home."""
    for name, work in (
        ("folder", folder),
        ("files", files),
        (config.NAME, settings),
        ("space", lambda home: [space(home)]),
        ("leftovers", leftovers),
    ):
        found = guarded(AREA, name, partial(work, home))
        yield from found
        # Of what is no home, nothing else is to be told.
        if name == "folder" and any(check.status == "broken" for check in found):
            return


def folder(home: Path) -> Iterator[Check]:
    """Whether the home is there, or can be made, is the user's own and closed to everybody else."""
    with homes.told(home):
        try:
            found = os.stat(home)
        except FileNotFoundError:
            yield _absent(home)
            return
    if not stat.S_ISDIR(found.st_mode):
        yield _broken("folder", f"{home} is not a folder", f"mv {quote(str(home))} {quote(str(home))}.moved")
        return
    if found.st_uid != os.geteuid():
        told = f"{home} belongs to another user, so helm keeps nothing in it"
        yield _broken("folder", told, "export HELM_CLI_HOME=FOLDER, or do not use sudo")
        return
    yield _usable(home, found)
    yield from _replaceable(home)


def files(home: Path) -> Iterator[Check]:
    """Whether what is in the home is the user's own and closed to everybody else."""
    if not home.is_dir():
        return
    foreign, open_ones, count = [], [], 0
    for path, found in _walked(home):
        count += 1
        if found.st_uid != os.geteuid():
            foreign.append(path)
        elif found.st_mode & _loose(home, path, found):
            open_ones.append(path)
    if foreign:
        told = f"{_named(home, foreign)} {'belongs' if len(foreign) == 1 else 'belong'} to another user"
        yield Check(AREA, "owner", "warning", told, f'sudo chown -R "$(id -u)" {quote(str(home))}')
    if open_ones:
        told = f"{_named(home, open_ones)} {'is' if len(open_ones) == 1 else 'are'} open to other users"
        yield Check(AREA, "files", "warning", told, f"chmod -R go-rwx {quote(str(home))}")
    if not foreign and not open_ones:
        yield Check(AREA, "files", "ok", f"{_count(count, 'file')}, your own and closed to other users")


def settings(home: Path) -> Iterator[Check]:
    """Whether config.toml is understood."""
    path = home / config.NAME
    try:
        found = config.load(home)
    except HelmError as error:
        told = error.message.rpartition("; ")
        yield _broken(config.NAME, told[0] or told[2], editor(path))
        return
    usual = config.Config()
    set_ = sum(one != other for one, other in zip(found, usual, strict=True))
    told_ = f"{set_} {'setting is' if set_ == 1 else 'settings are'} not as usual" if set_ else "all is as usual"
    yield Check(AREA, config.NAME, "ok", told_)


def space(home: Path) -> Check:
    """Whether there is room left where the home is. Raises HelmError "state"."""
    there = _existing(home)
    with homes.told(there):
        found = os.statvfs(there)
    no_more_files = found.f_files and not found.f_favail
    return room(there, 0 if no_more_files else found.f_bavail * found.f_frsize)


def room(there: Path, free: int) -> Check:
    """What so many free bytes on the disk of this folder mean."""
    step = f"df -h {quote(str(there))}; df -i {quote(str(there))}"
    if free < FULL:
        return _broken("space", "the disk is full", step)
    if free < TIGHT:
        return Check(AREA, "space", "warning", f"only {free // _MIB} MiB are free", step)
    return Check(AREA, "space", "ok", f"{free / (_MIB * 1024):.1f} GiB are free")


def leftovers(home: Path) -> Iterator[Check]:
    """What killed writers left. Nothing of it is touched: the next write to the same place puts it right."""
    before = time.time() - LIVES_SECONDS
    left = [path for path, found in _walked(home) if found.st_mtime < before and stat.S_ISREG(found.st_mode)]
    unfinished = [path for path in left if path.name.startswith(".") and path.name.endswith(_UNFINISHED)]
    writes = sum(path.parent == home / _WRITES for path in left)
    if writes:
        told = f"{_count(writes, 'write')} of a file {'was' if writes == 1 else 'were'} cut off"
        step = "look for names that begin with .helm-write- beside the files; the next write there puts it right"
        yield Check(AREA, "leftovers", "warning", told, step)
    if unfinished:
        told = f"{_named(home, unfinished)} {'was' if len(unfinished) == 1 else 'were'} left by a helm that was killed"
        yield Check(AREA, "leftovers", "warning", told, f"rm {' '.join(quote(str(path)) for path in unfinished)}")


def editor(path: Path) -> str:
    """The command that opens a file for the person to correct it."""
    return f'"${{EDITOR:-vi}}" {quote(str(path))}'


def _absent(home: Path) -> Check:
    if home.is_symlink():
        return _broken("folder", f"{home} is a link that leads nowhere", f"rm {quote(str(home))}")
    there = _existing(home)
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        told = f"{home} is not there and cannot be made: {there} is not writable for you"
        return _broken("folder", told, "export HELM_CLI_HOME=FOLDER")
    return Check(AREA, "folder", "ok", f"{home} is made when it is first needed")


def _usable(home: Path, found: os.stat_result) -> Check:
    mode = stat.S_IMODE(found.st_mode)
    closed = f"chmod 700 {quote(str(home))}"
    if mode & homes.FOLDER != homes.FOLDER or not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        read_only = os.statvfs(home).f_flag & os.ST_RDONLY
        why = "its file system is read-only" if read_only else f"mode {mode:04o}"
        step = "export HELM_CLI_HOME=FOLDER" if read_only else closed
        return _broken("folder", f"{home} is not writable for you ({why})", step)
    if mode & _OTHERS:
        return Check(AREA, "folder", "warning", f"{home} is open to other users (mode {mode:04o})", closed)
    return Check(AREA, "folder", "ok", f"{home} is yours alone (mode {mode:04o})")


def _replaceable(home: Path) -> Iterator[Check]:
    """A folder above it that lets everybody put another in its place."""
    for above in Path(os.path.realpath(home)).parents:
        mode = os.stat(above).st_mode
        if mode & _EVERYBODY_WRITES and not mode & stat.S_ISVTX:
            told = f"everybody can put another folder in its place, for {above} is writable for all"
            yield Check(AREA, "folder", "warning", told, f"chmod o-w {quote(str(above))}")


def _walked(home: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """What is in the home, but not itself; of a home that is full of files, enough of it."""
    return islice(_all(home), MOST_FILES)


def _all(home: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for where, folders, names in os.walk(home):
        for name in sorted((*folders, *names)):
            path = Path(where, name)
            # It may be gone meanwhile.
            with suppress(OSError):
                yield path, os.lstat(path)


def _loose(home: Path, path: Path, found: os.stat_result) -> int:
    """What may not stand in its mode: what people edit, or may show to a team, is theirs to open."""
    first = path.relative_to(home).parts[0]
    # The secrets, and the socket of the agent, have lines of their own.
    if stat.S_ISLNK(found.st_mode) or stat.S_ISSOCK(found.st_mode) or first == credentials_file.NAME:
        return 0
    return _OTHERS_WRITE if first in (config.NAME, profiles.FOLDER, drafts.NAME) else _OTHERS


def _existing(path: Path) -> Path:
    return next(above for above in (path, *path.parents) if os.path.lexists(above))


def _named(home: Path, paths: list[Path]) -> str:
    shown = ", ".join(str(path.relative_to(home)) for path in paths[:MOST_NAMED])
    more = len(paths) - MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _broken(name: str, message: str, step: str) -> Check:
    return Check(AREA, name, "broken", message, step)
