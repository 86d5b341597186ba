"""The script of each shell that completes the words of helm, made from the command tree."""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from helm_cli.model.command import Command
from helm_cli.shells import bash, fish, powershell, zsh


class Shell(NamedTuple):
    """`script(tree, programs)` gives the script, for helm under these names; `file` is its name in `completions/`.

    A shell that finds scripts by the name of the program has `other`, a second file and what it holds, for the second
    name. It is for who installs both beside each other.
    """

    script: Callable[[Command, Iterable[str]], str]
    file: str
    other: tuple[str, str] | None = None


SHELLS: Final[dict[str, Shell]] = {
    "bash": Shell(bash.script, "helm.bash", ("helm-cli.bash", bash.OTHER)),
    "zsh": Shell(zsh.script, "_helm"),
    "fish": Shell(fish.script, "helm.fish", ("helm-cli.fish", fish.OTHER)),
    "powershell": Shell(powershell.script, "helm.ps1"),
}
