"""Where the process begins and ends: the questions answered before anything is imported, interrupts, and the exit."""

import os
import sys

from helm_cli import __version__

_VERSIONS = (["--version"], ["-V"], ["version"])


def main(arguments: list[str] | None = None) -> int:
    """Run helm with these arguments (those of the process where None) and give the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    if words in _VERSIONS:
        return _version()
    if words[:1] == ["--complete"]:
        from helm_cli.complete import answer

        return answer.tell(words[1:])
    if sys.platform == "win32":
        print("helm: does not run on Windows yet: it needs a POSIX terminal and file locks; use WSL", file=sys.stderr)
        return 1
    from helm_cli.cli import run

    return run(words)


def entry() -> None:
    """The console script: it leaves at once, without waiting for an abandoned worker, and never with a traceback."""
    status = 130
    try:
        sys.unraisablehook = _unraisable
        if sys.argv[1:] not in _VERSIONS and sys.argv[1:2] != ["--complete"]:
            _surroundings()
        status = main()
    except KeyboardInterrupt:
        pass
    except BaseException as error:
        status = _fault(error)
    os._exit(status)


def _surroundings() -> None:
    """Ctrl-C ends helm silently, at every moment until `cli.here` can do better; warnings are for developers."""
    import signal

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Whoever starts helm may hold the interrupt back until now, for before this Python would answer it (`cli.demo`).
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    if sys.warnoptions:
        import warnings

        # PYTHONWARNINGS=error and the like would turn what a library mutters into a failed call.
        warnings.simplefilter("ignore")


def _unraisable(unraisable: "sys.UnraisableHookArgs") -> None:
    # An interrupt inside a finalizer or an import lock would be printed and forgotten.
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        if (cli := sys.modules.get("helm_cli.cli")) is not None:
            cli.streams.put_back()
        os._exit(130)


def _version() -> int:
    try:
        print(f"helm {__version__}", flush=True)
    except BrokenPipeError:
        return 141
    except OSError as error:
        _say(f"the answer could not be written: {(error.strerror or 'error').lower()}")
        return 1
    return 0


def _fault(error: BaseException) -> int:
    # What cannot even be imported is named; any other exception's text may hold anything.
    named = f" ({error.name})" if isinstance(error, ImportError) and error.name else ""
    _say(f"a fault in helm {__version__} itself: {type(error).__name__}{named}; please report it")
    return 1


def _say(text: str) -> None:
    try:
        os.write(2, f"helm: {text}\n".encode(errors="replace"))
    except OSError:
        # Where nobody reads standard error, the exit status still says it.
        return


if __name__ == "__main__":
    entry()
