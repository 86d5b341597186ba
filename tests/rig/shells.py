"""The three real shells, asked for what they complete: many lines in one process each, or at a terminal with real keys.

What a shell offers is told as the words themselves, without quotes, and of `--option=value` or `@file` only the value,
so that one table does for all: a shell may replace the whole word or the end of it.
"""

import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.program import run
from tests.rig.terminal import Terminal, at_terminal

SHELLS: Final = ("bash", "zsh", "fish")
TAB: Final = b"\t"

# A Tab that cannot go on rings; where it could in two ways, it lists them.
_PROMPTS: Final = {
    "bash": "PS1='ready> '; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'",
    "zsh": "PS1='ready> '; unsetopt beep; autoload -Uz compinit && compinit -u -D",
    "fish": "function fish_prompt; echo 'ready> '; end; function fish_greeting; end",
}

_BASH: Final = r"""
source "$1"
while IFS= read -r line; do
    COMP_LINE=$line COMP_POINT=${#line} COMP_WORDBREAKS=$' \t\n"\'@><=;|&(:'
    _helm_cli
    for each in "${COMPREPLY[@]}"; do printf '%s\x1f' "$each"; done
    printf '\n'
done
"""
_FISH: Final = r"""
source $argv[1]
while read -l line
    set -l found (complete -C "$line" | string replace -r '\t.*' '')
    echo (string join \x1f -- $found)
end
"""
# compadd is zsh's own way to say what matches; here it also tells us. Completion works at a prompt alone.
_ZSH: Final = r"""
source $SCRIPT
compadd() {
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
        local -a matching
        builtin compadd -A matching "$@"
        told+=("${(@)matching/#/$IPREFIX}")
    fi
    builtin compadd "$@"
}
told-of() { _main_complete; compstate[insert]= compstate[list]= }
zle -C told-of complete-word told-of
every() {
    local line
    while IFS= read -r line; do
        told=() BUFFER=$line CURSOR=$#line
        zle told-of
        print -r -- "${(pj:\x1f:)told}" >>$TOLD
    done <$LINES_OF
    exit
}
zle -N every
bindkey '^Xe' every
"""


def completed(shell: str, script: Path, lines: Sequence[str], folder: Path) -> list[set[str]]:
    """What the shell offers at the end of each line, in one process that has read this script."""
    text = "".join(f"{line}\n" for line in lines)
    if shell == "zsh":
        out = _at_zsh(script, text, folder)
    else:
        command = {
            "bash": ["bash", "--norc", "--noprofile", "-c", _BASH, "bash", str(script)],
            "fish": ["fish", "--no-config", "-c", _FISH, str(script)],
        }[shell]
        ended = run(command, stdin=text)
        assert (ended.status, ended.err) == (0, ""), ended
        out = ended.out
    told = out.splitlines()
    assert len(told) == len(lines), out
    return [_words(shell, line, found) for line, found in zip(lines, told, strict=True)]


@contextmanager
def prompt(shell: str, settings: str, folder: Path, **env: str) -> Iterator[Terminal]:
    """The shell at a terminal, whose prompt is `ready>`; these lines stand in its file of settings."""
    file = folder / f"settings.{shell}"
    file.write_text(f"{_PROMPTS[shell]}\n{settings}\n")
    command = {
        "bash": ("bash", "--noprofile", "--rcfile", str(file), "-i"),
        "zsh": ("zsh", "-d", "-i"),
        "fish": ("fish", "--no-config", "-i", "-C", f"source {file}"),
    }[shell]
    if shell == "zsh":
        file.rename(folder / ".zshrc")
    with at_terminal(*command, env={"ZDOTDIR": str(folder), **env}, size=(200, 60)) as terminal:
        terminal.wait_for("ready>")
        yield terminal


def recorder(folder: Path, record: Path) -> Path:
    """A folder for PATH with a `helm` that writes down the words it is called with, and completes as ours does."""
    folder.mkdir()
    program = folder / "helm"
    program.write_text(
        '#!/bin/sh\ncase $1 in --complete) exec "$HELM_PYTHON" -m helm_cli "$@" ;; esac\n'
        f"for word; do printf '%s\\037' \"$word\"; done >>{shlex.quote(str(record))}\n"
        f"echo >>{shlex.quote(str(record))}\necho recorded $(wc -l <{shlex.quote(str(record))}).\n"
    )
    program.chmod(0o755)
    os.environ["HELM_PYTHON"] = sys.executable
    return folder


def _at_zsh(script: Path, text: str, folder: Path) -> str:
    lines, told = folder / "lines", folder / "told"
    lines.write_text(text)
    told.unlink(missing_ok=True)
    with prompt("zsh", _ZSH, folder, SCRIPT=str(script), LINES_OF=str(lines), TOLD=str(told)) as terminal:
        terminal.send(b"\x18e")
        assert terminal.status() == 0, terminal.raw
    return told.read_text()


def _words(shell: str, line: str, told: str) -> set[str]:
    typed = re.search(r"(?:\\.|[^ \\])*$", line)[0].replace("\\", "")  # type: ignore[index]  # it always matches
    found = {_unquoted(shell, line, one.strip(" ")) for one in told.split("\x1f") if one}
    for pattern in ("--[^=]+=", "@"):
        if before := re.match(pattern, typed):
            typed = typed[before.end() :]
            found = {word.removeprefix(before[0]) for word in found}
    # Where nothing goes on with what is typed, fish guesses.
    quoted = line.count('"') % 2 or line.count("'") % 2
    return {word.removesuffix("/") for word in found if quoted or word.startswith(typed)}


def _unquoted(shell: str, line: str, told: str) -> str:
    if shell == "fish" or line.count('"') % 2 or line.count("'") % 2:
        return told
    return "".join(shlex.split(told)) if shell == "bash" or "\\" in told else told
