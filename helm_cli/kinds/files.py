"""How the arguments of a files call become the one listing, reading or writing that a connection declared."""

import re
from collections.abc import Mapping
from typing import Final

from helm_cli.grammar import glob
from helm_cli.kinds import object_schema, shown
from helm_cli.model.envelope import FILES, JSON, OBJECT, TEXT
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.files import MEANT, TAKEN
from helm_cli.model.jsontext import Json, dump
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Root

# In bytes: of a file's text, and of a call as one message (contract, Files).
MOST_BYTES: Final = 256 * 1024
MOST_PATHS: Final = 100
# Longer than any system opens.
MOST_PATH_BYTES: Final = 4096
# Characters of globs times those of the paths of one call: some seconds of work, for globs made to be slow.
MOST_COMPARED: Final = 20_000_000

_SHA256: Final = re.compile("[0-9a-f]{64}")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")


def plan(
    extension: Extension,
    connection: Connection,
    operation: Operation,
    arguments: dict[str, Json],
    root: Root,
) -> Plan:
    """The files that are listed, read or replaced (contract, Files; design, section 8).

    `request` begins with `"root"`, "workspace" or "project ID", and goes on with `"paths"`, the declared globs, of a
    list; `"path"` or `"paths"` of a read; `"path"`, `"expected_sha256"` and `"text"` of a write. HelmError "refused"
    where an argument is missing, unknown or no path that the connection declares, "too_large" where a text or the
    whole call is over 256 KiB.
    """
    _check_names(connection, operation, arguments, root)
    _check_message(connection, operation, arguments)
    request, shape = _request(connection, operation, arguments)
    return Plan(
        kind="files",
        effect=operation.effect,
        extension=extension.id,
        connection=connection.id,
        operation=operation.name,
        group=None,
        profile=None,
        driver="files",
        shape=shape,
        title="Confirm file change",
        verb="Write",
        noun="operation",
        request={"root": f"project {root.name}" if root.project else "workspace", **request},
        previewed=operation.effect == "write",
    )


def schema(connection: Connection, operation: Operation) -> dict[str, Json]:
    """What each verb takes (contract, Files); which paths are declared, the schema does not say."""
    project = ("project",) if connection.spec["root"] == "project" else ()
    taken: dict[str, Json] = {name: _argument(name) for name in (*project, *TAKEN[operation.name])}
    return object_schema(taken, taken if operation.name == "write" else project)


def path_fault(path: str) -> str | None:
    """Why a text cannot be the path of a file under a root, as a clause that follows its name; None if it can."""
    if not path or len(path.encode(errors="surrogatepass")) > MOST_PATH_BYTES:
        return f"must have 1 to {MOST_PATH_BYTES} bytes"
    if not _utf8(path):
        return "holds a lone surrogate, which no UTF-8 text can carry"
    if _CONTROL.search(path):
        return "must have no control characters"
    if "\\" in path:
        return 'must have no backslash; its segments are separated by "/"'
    if path.startswith("/"):
        return "must be relative to the root"
    segments = path.split("/")
    if "" in segments:
        return "must have no empty segment"
    if "." in segments or ".." in segments:
        return 'must have no "." or ".." segment'
    return None


def _argument(name: str) -> dict[str, Json]:
    text: dict[str, Json] = {"type": "string"}
    paths: dict[str, Json] = {"type": "array", "items": text, "minItems": 1, "maxItems": MOST_PATHS}
    return {**(paths if name == "paths" else text), "description": MEANT[name]}


def _request(
    connection: Connection, operation: Operation, arguments: Mapping[str, Json]
) -> tuple[dict[str, Json], str]:
    if operation.name == "list":
        return {"paths": [*connection.spec["paths"]]}, FILES
    if operation.name == "write":
        return _write(connection, arguments), OBJECT
    if ("path" in arguments) == ("paths" in arguments):
        raise HelmError("refused", "read needs the argument path, or paths for many files, and only one of them")
    if "path" in arguments:
        return {"path": _path(connection, "path", arguments["path"])}, TEXT
    return {"paths": _paths(connection, arguments["paths"])}, JSON


def _write(connection: Connection, arguments: Mapping[str, Json]) -> dict[str, Json]:
    for name in TAKEN["write"]:
        if name not in arguments:
            raise HelmError("refused", f"write needs the argument {name}: {MEANT[name]}")
    text, expected = arguments["text"], arguments["expected_sha256"]
    if not isinstance(text, str):
        raise HelmError("refused", "the argument text must be a string: the whole new text of the file")
    if not _utf8(text):
        raise HelmError("refused", "the argument text holds a lone surrogate, which no UTF-8 text can carry")
    if not isinstance(expected, str) or not _SHA256.fullmatch(expected):
        raise HelmError(
            "refused", "the argument expected_sha256 must be the sha256 that read gave: 64 hexadecimal digits"
        )
    path = _path(connection, "path", arguments["path"])
    return {"path": path, "expected_sha256": expected, "text": text}


def _paths(connection: Connection, value: Json) -> list[Json]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_PATHS:
        raise HelmError("refused", f"the argument paths must be a list of 1 to {MOST_PATHS} paths")
    globs = sum(map(len, connection.spec["paths"]))
    if globs * sum(len(path) for path in value if isinstance(path, str)) > MOST_COMPARED:
        raise HelmError("too_large", "so many paths take too long to be compared with the globs; ask for fewer at once")
    return [_path(connection, f"paths[{index}]", path) for index, path in enumerate(value)]


def _path(connection: Connection, name: str, value: Json) -> str:
    if not isinstance(value, str):
        raise HelmError("refused", f"the argument {name} must be a string: the path of a file, relative to the root")
    fault = path_fault(value)
    if fault is not None:
        raise HelmError("refused", f"the argument {name} {fault}")
    if not any(glob.matches(pattern, value) for pattern in connection.spec["paths"]):
        raise HelmError("refused", f"{shown(value)} is not declared: it matches none of the paths of {connection.id}")
    return value


def _check_names(connection: Connection, operation: Operation, arguments: Mapping[str, Json], root: Root) -> None:
    taken = (*(("project",) if root.project else ()), *TAKEN[operation.name])
    for name in arguments:
        if name == "project" and not root.project:
            raise HelmError("refused", f"{connection.id} works in the workspace itself, so it takes no project")
        if name not in taken:
            takes = f"it takes {', '.join(taken)}" if taken else "it takes no arguments"
            raise HelmError("refused", f"{operation.name} has no argument {shown(name)}; {takes}")


def _check_message(connection: Connection, operation: Operation, arguments: dict[str, Json]) -> None:
    text = arguments.get("text")
    if isinstance(text, str) and _size(text) > MOST_BYTES:
        raise HelmError("too_large", f"the text is {_size(text)} bytes; at most {MOST_BYTES} can be written")
    message: Json = {"connection": connection.id, "operation": operation.name, "arguments": arguments}
    try:
        size = _size(dump(message))
    except ValueError:
        raise HelmError("refused", "the arguments hold a number that is not finite") from None
    if size > MOST_BYTES:
        raise HelmError(
            "too_large", f"the call is {size} bytes as JSON; at most {MOST_BYTES} are allowed, so give a shorter text"
        )


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
