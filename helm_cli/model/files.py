"""What the operations of a files connection are called with (contract, Files)."""

from typing import Final

# Operation -> the names of its arguments.
TAKEN: Final[dict[str, tuple[str, ...]]] = {
    "list": (),
    "read": ("path", "paths"),
    "write": ("path", "text", "expected_sha256"),
}
# Argument -> what it is, as a clause.
MEANT: Final = {
    "project": "the name of a registered project",
    "path": "the path of a file, relative to the root",
    "paths": "the paths of many files, in place of path",
    "text": "the whole new text of the file",
    "expected_sha256": "the sha256 that a read gave (-o json shows it)",
}


def written(operation: str, root: str) -> str:
    """The arguments of an operation as a person reads them between parentheses, "" for none."""
    project = ("project",) if root == "project" else ()
    return ", ".join((*project, *(("path or paths",) if operation == "read" else TAKEN.get(operation, ()))))
