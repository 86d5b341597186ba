"""Which home and which workspace a line at the prompt would work with, found without a trace and in a moment.

The rules are those of `store/home.py` and `broker/workspace.py`, said again in the few modules that are loaded anyway:
a shell waits for the answer, and a test compares the two.
"""

import os
from collections.abc import Callable


def home() -> str:
    """The home. Raises LookupError where nothing says which."""
    if named := os.environ.get("HELM_CLI_HOME"):
        return os.path.abspath(named)
    own = os.path.expanduser("~")
    if not os.path.isabs(own) or os.environ.get("HOME") == "":
        raise LookupError("no home")
    return os.path.join(own, ".helm")


def workspace(named: str | None, is_registered: Callable[[str], bool]) -> str:
    """The workspace, resolved. Raises LookupError where there is none, and OSError."""
    if named := named or os.environ.get("HELM_CLI_WORKSPACE"):
        folder = os.path.realpath(os.path.expanduser(named))
        if not os.path.isdir(folder):
            raise LookupError("no workspace")
        return folder
    here = folder = os.path.realpath(os.getcwd())
    while folder != os.path.dirname(folder):
        if not _never_taken(folder) and (_is_of_tdt(folder) or is_registered(folder)):
            return folder
        folder = os.path.dirname(folder)
    if _never_taken(here):
        raise LookupError("no workspace")
    return here


def _is_of_tdt(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, ".tdt", "config.json"))


def _never_taken(folder: str) -> bool:
    own = os.path.expanduser("~")
    return folder == os.path.dirname(folder) or (os.path.isabs(own) and folder == os.path.realpath(own))
