"""Where each shell looks for completions by itself, and how a file is put there without taking anybody else's away."""

import fcntl
import os
import re
import secrets
import shlex
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from helm_cli.model.errors import HelmError
from helm_cli.shells.words import PROGRAMS

# What the head of every script of ours says.
_OURS: Final = b"It is made from helm's own commands: helm completion "
_HEAD: Final = 1024


class Place(NamedTuple):
    """`files` are the scripts to be written, each with the names of helm that it completes; `step` comes next."""

    files: dict[str, tuple[str, ...]]
    step: str


def programs() -> tuple[str, ...]:
    """The names under which this program is to be completed: not `helm`, where that is another program here."""
    found, own = (shutil.which(name) for name in PROGRAMS)
    own = own or shutil.which(sys.argv[0])
    if found is None or own is None or _folder(found) == _folder(own):
        return PROGRAMS
    return PROGRAMS[1:]


def of(shell: str, names: tuple[str, ...]) -> Place:
    """Where the scripts of bash, zsh or fish belong. Raises HelmError "usage" where there is no home folder."""
    if os.environ.get("HOME") == "" or not os.path.isabs(os.path.expanduser("~")):
        raise HelmError("usage", "your home folder is not known: HOME is no absolute path; print the script instead")
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](names)


def install(texts: dict[str, str], *, force: bool) -> bool:
    """Write each text to its path, whole at every moment; False where all stood there already.

    Raises HelmError "refused" where something else is in the way of one, unless `force`: then nothing is written.
    """
    wanted = {path: text.encode() for path, text in texts.items()}
    changed = {path: data for path, data in wanted.items() if os.path.islink(path) or _found(path) != data}
    for path in changed if not force else ():
        found = _found(path)
        if os.path.lexists(path) and (os.path.islink(path) or found is None or _OURS not in found[:_HEAD]):
            raise HelmError("refused", f"{path} was not written by helm; move it away, or replace it with --force")
    for path, data in changed.items():
        _write(Path(path), data)
    return bool(changed)


class Removed(NamedTuple):
    """The files that are gone, and those that helm did not write, which stay."""

    gone: list[str]
    others: list[str]


def uninstall(shell: str) -> Removed:
    """Remove every script of this shell that `install` may have written, under whichever names.

    Raises HelmError "usage" as `of`, and "state" where one cannot be removed.
    """
    paths = dict.fromkeys(path for names in (PROGRAMS, PROGRAMS[1:]) for path in of(shell, names).files)
    if shell == "zsh":
        names = [os.path.basename(path) for path in paths]
        paths = dict.fromkeys(os.path.join(folder, name) for folder in _zsh_folders() for name in names)
    removed = Removed([], [])
    for path in filter(os.path.lexists, paths):
        if os.path.islink(path) or _OURS not in (_found(path) or b"")[:_HEAD]:
            removed.others.append(path)
            continue
        try:
            os.unlink(path)
            _clear(Path(path))
        except OSError as error:
            reason = (error.strerror or "it failed").lower()
            raise HelmError("state", f"{path} cannot be removed ({reason}); remove it by hand") from None
        removed.gone.append(path)
    return removed


def _folder(program: str) -> str:
    return os.path.dirname(os.path.realpath(program))


def _bash(names: tuple[str, ...]) -> Place:
    named = filter(os.path.isabs, os.environ.get("BASH_COMPLETION_USER_DIR", "").split(":"))
    base = next(named, os.path.join(_base("XDG_DATA_HOME", ".local/share"), "bash-completion"))
    folder = os.path.join(base, "completions")
    files: dict[str, tuple[str, ...]] = {os.path.join(folder, name): (name,) for name in names}
    line = "; ".join(f"source {shlex.quote(path)}" for path in files)
    return Place(
        files, f"a new bash has it by the package bash-completion; without that, put this into ~/.bashrc: {line}"
    )


def _zsh(names: tuple[str, ...]) -> Place:
    settings = _base("ZDOTDIR", "")
    own, usual = _zsh_folders()
    folder = own if os.path.isdir(own) else usual
    file = {os.path.join(folder, f"_{names[0]}"): names}
    if folder in os.environ.get("FPATH", "").split(":"):
        return Place(file, "a new zsh has it")
    line = f"fpath=({shlex.quote(folder)} $fpath)"
    if b"compinit" in (_found(os.path.join(settings, ".zshrc")) or b""):
        return Place(file, f"unless zsh knows that folder, put this into ~/.zshrc before compinit: {line}")
    return Place(file, f"put this into ~/.zshrc: {line}; autoload -U compinit && compinit")


def _zsh_folders() -> tuple[str, str]:
    """The person's own folder of functions, which counts where it is there, and the usual one."""
    settings = _base("ZDOTDIR", "")
    usual = os.path.join(_base("XDG_DATA_HOME", ".local/share"), "zsh", "site-functions")
    return os.path.join(settings, ".zfunc"), usual


def _fish(names: tuple[str, ...]) -> Place:
    folder = os.path.join(_base("XDG_CONFIG_HOME", ".config"), "fish", "completions")
    return Place({os.path.join(folder, f"{name}.fish"): (name,) for name in names}, "fish has it at the next Tab")


def _base(variable: str, usual: str) -> str:
    """The folder that the variable names, where it is an absolute path, else the usual one below the home folder."""
    named = os.environ.get(variable, "")
    return named if os.path.isabs(named) else os.path.join(os.path.expanduser("~"), usual)


def _found(path: str) -> bytes | None:
    """What the file holds; None where there is no regular file, or none that can be read."""
    try:
        with _opened(path) as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except OSError:
        return None


def _opened(path: str) -> BinaryIO:
    """A FIFO is not waited for."""
    return open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")


def _write(path: Path, data: bytes) -> None:
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear(path)
        try:
            with open(unfinished, "xb") as file:
                # Let go by every end of the process: so a run that lives is told from one that was killed.
                fcntl.flock(file, fcntl.LOCK_EX)
                file.write(data)
                file.flush()
                os.replace(unfinished, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(unfinished)
            raise
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
        raise HelmError("state", f"{path} cannot be written ({reason}); print the script instead") from None


def _clear(path: Path) -> None:
    """Take away what killed runs left beside the file, and nothing that somebody else could have put there."""
    left = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}")
    for name in filter(left.fullmatch, os.listdir(path.parent)):
        beside = str(path.parent / name)
        held = None if os.path.islink(beside) else _found(beside)
        # Killed before it wrote, a run leaves an empty one, with which nobody loses anything.
        if held is None or (held and _OURS not in held[:_HEAD]):
            continue
        # One that is being written is locked.
        with suppress(OSError), _opened(beside) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(beside)
