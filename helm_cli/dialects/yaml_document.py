"""How a YAML text becomes plain values by the rules of YAML 1.2, and by which names its traps are refused."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from helm_cli.dialects.faults import MOST, Numeral, Path, quoted, visible
from helm_cli.dialects.yaml_events import Broken, Event, events

MOST_LEVELS: Final = 20
MOST_VALUES: Final = 5_000

_NULL: Final = re.compile(r"|~|null|Null|NULL")
_TRUE: Final = re.compile(r"true|True|TRUE")
_FALSE: Final = re.compile(r"false|False|FALSE")
# What is longer counts nothing that anybody has.
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,99}")
# All other numbers of YAML 1.2 (section 10.3.2), none of which is text.
_NUMERAL: Final = re.compile(
    r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# Characters that no YAML text has, and ends of lines on which YAML 1.1, YAML 1.2 and editors do not agree.
_UNREAD: Final = re.compile(
    "[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|\r(?!\n)"
)
_LINE_ENDS: Final = ("\r", "\x85", "\u2028", "\u2029")


class Place(NamedTuple):
    """Line and column of a key and of its value. An entry of a list and the document have no key: it is the value's."""

    key: tuple[int, int]
    value: tuple[int, int]


class SourceFault(NamedTuple):
    """A reason at a line and a column why a text is not read; `path` is where in the document."""

    line: int
    column: int
    path: Path
    message: str


class Document(NamedTuple):
    """The first document of a text: text, numbers, true, false and null in lists and dicts with text as keys.

    `places` has every value that was read. `faults` are the traps, and the first place that is no YAML, after which
    nothing is read (`broken`). `holes` are the paths at which a trap left no value or not all of it. A number is an int
    where it is written as such is in JSON, else a `Numeral`.
    """

    value: Any
    places: Mapping[Path, Place]
    faults: tuple[SourceFault, ...]
    holes: frozenset[Path]
    broken: bool


class _Reader:
    """How far a text was read."""

    def __init__(self, parsed: Iterator[Event]) -> None:
        self.events = parsed
        self.places: dict[Path, Place] = {}
        self.faults: list[SourceFault] = []
        self.holes: set[Path] = set()

    def note(self, event: Event, path: Path, message: str) -> None:
        self.faults.append(SourceFault(event.line, event.column, path, message))
        if len(self.faults) == MOST - 1:
            raise Broken(event.line, event.column, f"there are {MOST} faults or more; nothing after this one was read")


def read(text: str, above: int = 0, parser: Any = None) -> Document:
    """The document of a YAML text, of at most 20 levels and 5,000 values. Raises nothing, whatever the text is.

    `above` lines of its file stand above the text; `parser` is one of PyYAML's.
    """
    reader = _Reader(events(text, above, parser))
    unread = _unread(text, above)
    if unread:
        return Document(None, {}, tuple(unread), frozenset(), True)
    value, broken = None, False
    try:
        value = _document(reader, above)
    except Broken as error:
        reader.faults.append(SourceFault(error.line, error.column, (), error.message))
        broken = True
    return Document(value, reader.places, tuple(reader.faults), frozenset(reader.holes), broken)


def _unread(text: str, above: int) -> list[SourceFault]:
    found = []
    for match in _UNREAD.finditer(text):
        line = text.count("\n", 0, match.start()) + above + 1
        column = match.start() - text.rfind("\n", 0, match.start())
        code = f"U+{ord(match.group()):04X}"
        if match.group() in _LINE_ENDS:
            told = f"{code} ends a line for some readers and not for others; remove it"
        else:
            told = "a NUL is not read; remove it" if match.group() == "\0" else f"{code} is not read; remove it"
        found.append(SourceFault(line, column, (), told))
        # Finding the line of each would take long in a file that has many.
        if len(found) == MOST // 10:
            break
    return found


def _document(reader: _Reader, above: int) -> Any:
    start = next(reader.events, None)
    if start is None:
        reader.places[()] = Place((1 + above, 1), (1 + above, 1))
        return None
    if start.directives:
        reader.note(start, (), "directives are not read; remove the lines that begin with %")
    event = next(reader.events)
    value = _value(reader, (), event, event)
    # Nothing but another document can come after its one value.
    second = next(reader.events, None)
    if second is not None:
        reader.note(second, (), "a second document begins here; a file has one, so remove it")
    return value


def _value(reader: _Reader, path: Path, key: Event, event: Event) -> Any:
    """The value that begins with this event; `key` is the event of its key, or the same again."""
    if len(reader.places) == MOST_VALUES:
        raise Broken(event.line, event.column, f"the file has more than {MOST_VALUES:,} values")
    if event.kind in ("mapping", "list") and len(path) == MOST_LEVELS:
        raise _too_deep(event)
    reader.places[path] = Place((key.line, key.column), (event.line, event.column))
    _marks(reader, path, event)
    if event.kind == "mapping":
        return _mapping(reader, path)
    if event.kind == "list":
        return _list(reader, path)
    if event.kind == "alias":
        reader.holes.add(path)
        return None
    return _scalar(event)


def _marks(reader: _Reader, path: Path, event: Event) -> None:
    if event.kind == "alias":
        name = visible(event.text)
        told = f'*{name} is an alias in YAML, and none is read; put a glob in quotes, as in "*{name}"'
        reader.note(event, path, told)
    if event.anchor:
        reader.note(event, path, f"&{visible(event.anchor)} is an anchor in YAML, and none is read; remove it")
    if event.tag:
        name = visible(event.tag.replace("tag:yaml.org,2002:", "!!", 1))
        reader.note(event, path, f"{name} is a tag in YAML, and none is read; remove it, and put text in quotes")
    if event.kind == "text" and (found := _CONTROL.search(event.text)):
        reader.holes.add(path)
        reader.note(event, path, f"this text holds the control character U+{ord(found.group()):04X}; remove it")


def _list(reader: _Reader, path: Path) -> list[Any]:
    found: list[Any] = []
    while (event := next(reader.events)).kind != "end":
        found.append(_value(reader, (*path, len(found)), event, event))
    return found


def _mapping(reader: _Reader, path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while (key := next(reader.events)).kind != "end":
        if key.kind != "text":
            reader.note(key, path, f"a key must be text, not {'an' if key.kind == 'alias' else 'a'} {key.kind}")
            reader.holes.add(path)
            _skip(reader, key)
            _skip(reader, next(reader.events))
            continue
        name, at = key.text, (*path, key.text)
        value = next(reader.events)
        _marks(reader, at, key)
        if name == "<<" and key.plain:
            reader.note(key, at, "<< merges mappings in YAML, and none is merged; write the fields out")
            reader.holes.add(path)
            _skip(reader, value)
        elif name in found:
            first = reader.places[at].key[0]
            reader.note(key, at, f"the key {quoted(name)} stands twice, first in line {first}; keep one of them")
            _skip(reader, value)
        else:
            found[name] = _value(reader, at, key, value)
    return found


def _skip(reader: _Reader, event: Event) -> None:
    """Reads past the value that begins with this event."""
    deep = 0
    while True:
        deep += (event.kind in ("mapping", "list")) - (event.kind == "end")
        if not deep:
            return
        if deep > MOST_LEVELS:
            raise _too_deep(event)
        event = next(reader.events)


def _too_deep(event: Event) -> Broken:
    return Broken(event.line, event.column, f"lists and mappings are nested deeper than {MOST_LEVELS} levels")


def _scalar(event: Event) -> str | int | bool | Numeral | None:
    text = event.text
    if not event.plain:
        return text
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text):
        return True
    if _FALSE.fullmatch(text):
        return False
    if _INTEGER.fullmatch(text):
        return int(text)
    return Numeral(text) if _NUMERAL.fullmatch(text) else text
