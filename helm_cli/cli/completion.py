"""`helm completion`: the script that completes helm in a shell, printed or put where that shell looks for it."""

import os
from typing import Annotated, Final

import typer

from helm_cli.cli import completion_place as places
from helm_cli.cli import group, one_of, tree
from helm_cli.cli.here import note, tell
from helm_cli.model.errors import HelmError
from helm_cli.shells import SHELLS
from helm_cli.view.streams import Streams
from helm_cli.view.text import shown

app = group("")

_NAMES: Final = f"{', '.join(list(SHELLS)[:-1])} or {list(SHELLS)[-1]}"
_CALLED: Final = {"pwsh": "powershell"}


@app.command("completion")
def command(
    shell: Annotated[str | None, typer.Argument(metavar="SHELL", help=f"{_NAMES}.")] = None,
    install: Annotated[bool, typer.Option("--install", help="Put it where the shell looks for it.")] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Remove what --install put there.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace what stands there and is not helm's.")] = False,
) -> int:
    """Complete helm's words and your names in bash, zsh, fish and PowerShell.

    Printed, it can be read by the shell at its start. Installed, it is found by itself; no file of settings of yours
    is ever changed. Names of profiles, extensions, connections, operations and arguments are asked of helm at each Tab.

    \b
    Examples:
      helm completion bash --install
      helm completion bash --uninstall
      source <(helm completion zsh)
    """
    if shell is None:
        raise HelmError("usage", f"name a shell: {_NAMES}{_guessed()}")
    one_of("helm completion", shell, SHELLS)
    if install and uninstall:
        raise HelmError("usage", "--install and --uninstall exclude each other; give one of them")
    if force and not install:
        told = "what is not helm's is never removed" if uninstall else "what is printed replaces nothing"
        raise HelmError("usage", f"--force goes with --install: {told}")
    if uninstall:
        return _uninstall(shell)
    programs = places.programs()
    streams = Streams.here()
    if not install:
        streams.write(SHELLS[shell].script(tree.whole(), programs))
        return 0
    if shell == "powershell":
        tell(streams, "PowerShell has no folder for completions; put the line below into the file $PROFILE")
        streams.write(f"{programs[0]} completion powershell | Out-String | Invoke-Expression\n")
        return 0
    installed = places.of(shell, programs)
    texts = {path: SHELLS[shell].script(tree.whole(), names) for path, names in installed.files.items()}
    changed = places.install(texts, force=force)
    what = " and ".join(shown(path) for path in texts)
    note(streams, f"{'wrote' if changed else 'nothing to do: there already is'} {what}; {installed.step}")
    return 0


def _uninstall(shell: str) -> int:
    streams = Streams.here()
    if shell == "powershell":
        tell(streams, "PowerShell has no folder for completions; take the line of helm out of the file $PROFILE")
        return 0
    removed = places.uninstall(shell)
    for path in removed.others:
        tell(streams, f"{shown(path)} was not written by helm, so it stays")
    if not removed.gone:
        note(streams, f"nothing to do: there is no completion of helm's for {shell}")
        return 0
    line = "; a line of it in your own files of settings is yours to take out" if shell != "fish" else ""
    note(streams, f"removed {' and '.join(map(shown, removed.gone))}{line}")
    return 0


def _guessed() -> str:
    """What the login shell suggests."""
    name = os.path.basename(os.environ.get("SHELL", ""))
    name = _CALLED.get(name, name)
    return f"; yours seems to be {name}: helm completion {name} --install" if name in SHELLS else ""
