"""How what is wrong with an extension reaches a person, an editor, and the annotations of a GitHub job."""

from collections.abc import Iterable
from typing import Final

from helm_cli.model.extension import Fault
from helm_cli.model.review import Placed
from helm_cli.view.lines import Line, line
from helm_cli.view.review import caution_lines
from helm_cli.view.text import shown

# What a workflow command must not hold as it is: in a message, and in a property besides.
_MESSAGE: Final = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY: Final = {**_MESSAGE, ":": "%3A", ",": "%2C"}


def lines(faults: Iterable[Fault], folder: str) -> list[Line]:
    """A validation for people and editors: `file:line:column: message` each, the file as seen from `folder`.

    `folder` is the extension's folder as the person named it; a fault of the folder itself names it.
    """
    return [
        line((f"{shown(_path(folder, fault.file))}:{fault.line}:{fault.column}:", "bold"), f" {shown(fault.message)}")
        for fault in faults
    ]


def warnings(cautions: Iterable[Placed], folder: str) -> list[str]:
    """Each warning with its place, in the same form."""
    return [
        f"{shown(_path(folder, one.file))}:{one.line}:{one.column}: {told}"
        for one in cautions
        for told in caution_lines([one.caution])
    ]


def annotations(faults: Iterable[Fault], cautions: Iterable[Placed], folder: str) -> list[str]:
    """The same as commands of a GitHub workflow, which shows each at its line.

    Source: GitHub, "Workflow commands", and the escapes of its toolkit's command.ts.
    """
    errors = [
        _command("error", _path(folder, fault.file), (fault.line, fault.column), shown(fault.message))
        for fault in faults
    ]
    told = [
        _command("warning", _path(folder, one.file), (one.line, one.column), message)
        for one in cautions
        for message in caution_lines([one.caution])
    ]
    return [*errors, *told]


def _command(sort: str, file: str, place: tuple[int, int], message: str) -> str:
    properties = {"file": file, "line": str(place[0]), "col": str(place[1]), "title": "helm plugin validate"}
    told = ",".join(f"{name}={_escaped(shown(value), _PROPERTY)}" for name, value in properties.items())
    return f"::{sort} {told}::{_escaped(message, _MESSAGE)}"


def _escaped(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)


def _path(folder: str, file: str) -> str:
    inside = folder.rstrip("/") or "/"
    if file == ".":
        return inside
    return file if inside == "." else f"{inside.rstrip('/')}/{file}"
