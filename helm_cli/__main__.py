"""Where the process begins and ends: the questions answered before anything is imported, and the exit."""

import os
import sys

from helm_cli import __version__


def main(arguments: list[str] | None = None) -> int:
    """Run helm with these arguments (those of the process where None) and give the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    if words in (["--version"], ["version"]):
        print(f"helm {__version__}")
        return 0
    if sys.platform == "win32":
        print("helm: does not run on Windows yet: it needs a POSIX terminal and file locks; use WSL", file=sys.stderr)
        return 1
    from helm_cli.cli import run

    return run(words)


def entry() -> None:
    """The console script: flush what was said and leave at once, without waiting for an abandoned worker."""
    status = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            status = status or 141
    os._exit(status)


if __name__ == "__main__":
    entry()
