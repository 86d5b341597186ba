"""What PyYAML's parsers say of a YAML text, event by event, and a sentence of ours for each way a text is no YAML."""

import re
from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

import yaml

Kind = Literal["document", "mapping", "list", "text", "alias", "end"]

# Both give the same events at the same places; libyaml's is ten times as fast and not there on every machine.
PARSER: Final[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

_KINDS: Final[dict[str, Kind]] = {
    "DocumentStartEvent": "document",
    "MappingStartEvent": "mapping",
    "SequenceStartEvent": "list",
    "ScalarEvent": "text",
    "AliasEvent": "alias",
    "MappingEndEvent": "end",
    "SequenceEndEvent": "end",
}


class Event(NamedTuple):
    """One event at its line and column, both from 1. `text` is a scalar's, or the name of an alias.

    `plain` is a scalar without quotes and block marks. `anchor` and `tag` are "" where there is none. `directives`
    says that the document's start has directives other than `%YAML 1.2`.
    """

    kind: Kind
    line: int
    column: int
    text: str = ""
    plain: bool = False
    anchor: str = ""
    tag: str = ""
    directives: bool = False


class Broken(Exception):
    """The text is no YAML, or none that is read, from this line and column on."""

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.message = message


class _Refusal(NamedTuple):
    """A pattern over the parser's own words, whether the place is where its construct begins, and our sentence."""

    words: re.Pattern[str]
    at_start: bool
    message: str


def _refusal(words: str, message: str, *, at_start: bool = False) -> _Refusal:
    return _Refusal(re.compile(words), at_start, message)


# In the order in which they are tried.
_REFUSALS: Final = (
    _refusal("nesting depth", "lists and mappings are nested too deeply"),
    _refusal(
        "scanning an alias",
        'an unquoted * begins an alias in YAML; put the text in quotes, as in "*"',
        at_start=True,
    ),
    _refusal("scanning an anchor", "an unquoted & begins an anchor in YAML; put the text in quotes", at_start=True),
    _refusal("(?:scanning|parsing) a tag", "an unquoted ! begins a tag in YAML; put the text in quotes", at_start=True),
    _refusal("directive|undefined tag handle", "directives are not read; remove what begins with %", at_start=True),
    _refusal("cannot start any token", "no text begins with this character in YAML; put it in quotes"),
    _refusal("unexpected end of stream|unexpected document", "this text has no closing quote", at_start=True),
    _refusal(
        "unknown escape|hexadecimal|Unicode character escape",
        "this escape is unknown in double quotes; write \\\\ for a backslash, or use single quotes",
    ),
    _refusal("mapping values are not allowed", 'no ":" is expected here; put text in quotes, or mend the indentation'),
    _refusal("sequence entries are not allowed", "a list begins in a line of its own; move it below its key"),
    _refusal("could not find expected ':'", 'a ":" is expected after this', at_start=True),
    _refusal("flow sequence", 'a "," or the closing "]" is expected here'),
    _refusal("flow mapping", 'a "," or the closing "}" is expected here'),
    _refusal("block scalar", "only a comment or the end of the line may follow | and >"),
    _refusal("node content", "a value is expected here"),
    _refusal("document start", "there is more text after the end of the document; remove it"),
    _refusal(
        "expected key|block end|'-' indicator|block mapping|block collection",
        "this does not go on from the lines above; mend the indentation, or put text in quotes",
    ),
)
_CLOSERS: Final = {"[": "]", "{": "}"}


def events(text: str, above: int = 0, parser: Any = None) -> Iterator[Event]:
    """The events of a YAML text that stands below so many lines of its file, as they are parsed.

    The ends of documents and of the stream are left out. Raises `Broken`.
    """
    try:
        for event in yaml.parse(text, Loader=parser or PARSER):
            kind = _KINDS.get(type(event).__name__)
            if kind is not None:
                yield _event(kind, event, above)
    except yaml.MarkedYAMLError as error:
        broken = _broken(text, error)
        raise Broken(broken.line + above, broken.column, broken.message) from None
    except yaml.YAMLError:
        raise Broken(1 + above, 1, "this is not YAML") from None


def _event(kind: Kind, event: Any, above: int) -> Event:
    line, column = event.start_mark.line + above + 1, event.start_mark.column + 1
    if kind == "text":
        return Event(kind, line, column, event.value, not event.style, event.anchor or "", event.tag or "")
    if kind == "alias":
        return Event(kind, line, column, event.anchor)
    if kind in ("mapping", "list"):
        return Event(kind, line, column, anchor=event.anchor or "", tag=event.tag or "")
    if kind == "document":
        others = bool(event.tags) or event.version not in (None, (1, 2))
        return Event(kind, line, column, directives=others)
    return Event(kind, line, column)


def _broken(text: str, error: Any) -> Broken:
    told = f"{error.context or ''}; {error.problem or ''}"
    found = next((refusal for refusal in _REFUSALS if refusal.words.search(told)), None)
    start = error.context_mark or error.problem_mark
    mark = start if found is not None and found.at_start else error.problem_mark or start
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    lines = text.split("\n")
    if line > len(lines):
        # libyaml puts the end of a text that ends within a line below that.
        line, column = len(lines), len(lines[-1]) + 1
    shown = lines[line - 1]
    tab = shown[: len(shown) - len(shown.lstrip(" \t"))].find("\t")
    if tab >= 0:
        return Broken(line, tab + 1, "a tab does not indent in YAML; use spaces")
    if start is not None and not "".join([shown[column - 1 :], *lines[line:]]).strip():
        opened = lines[start.line][start.column : start.column + 1] if start.line < len(lines) else ""
        if "flow" in told and opened in _CLOSERS:
            closing = f'this "{opened}" is never closed with "{_CLOSERS[opened]}"'
            return Broken(start.line + 1, start.column + 1, closing)
    return Broken(line, column, found.message if found else "this is not YAML from here on")
