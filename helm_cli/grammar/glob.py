"""Which globs a `files` connection may declare, and which paths they match, in time that no glob can blow up.

`*` and `?` match inside one segment, `**` as a whole segment matches any depth (contract, Files): no segment or more
in the middle, one or more at the end. Brackets and leading dots are ordinary characters; case counts.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

MOST_CHARACTERS: Final = 1_024
_MARKS: Final = frozenset("*?")


def fault(glob: str) -> str | None:
    """Why a glob cannot be declared, as a clause that follows its name; None if it can."""
    if not glob or len(glob) > MOST_CHARACTERS:
        return f"must have 1 to {MOST_CHARACTERS} characters"
    if not glob.isprintable():
        return "must have no control or invisible characters"
    if "\\" in glob:
        return 'must have no backslash; segments are separated by "/", and no character is escaped'
    if glob.startswith("/"):
        return 'must be relative to the root: it must not start with "/"'
    return next((reason for segment in glob.split("/") if (reason := _segment_fault(segment))), None)


def matches(glob: str, path: str) -> bool:
    """Whether a valid glob matches a file's path, relative to the root and with "/" between segments."""
    pattern = _pattern(glob)
    return bool(_reached(pattern, path.split("/")) & pattern.end)


def reaches(glob: str, directory: str) -> bool:
    """Whether a valid glob can match a file anywhere below this directory; "" is the root."""
    pattern = _pattern(glob)
    return bool(_reached(pattern, directory.split("/") if directory else []) & ~pattern.end)


class Pattern(NamedTuple):
    """A glob by its segments, `**` never twice in a row. A set of places in them is a number: its bits.

    `deep` are the places of each `**`, `empty` those of them that may stand for no segment, `end` the one behind all.
    """

    segments: tuple[str, ...]
    deep: int
    empty: int
    end: int


class Reach(NamedTuple):
    """What valid globs, already followed into one directory, still match: the way to look at a tree step by step.

    `places` are the globs, each with where a match can stand in it. `here` are the patterns that match the names of
    the files in this very directory. `deeper` says whether any of its directories can matter.
    """

    places: tuple[tuple[Pattern, int], ...]
    here: tuple[str, ...]
    deeper: bool

    def matches(self, name: str) -> bool:
        """Whether a file of this name in this directory matches one of the globs."""
        names, endings, others = _sorted_out(self.here)
        if name in names or name.endswith(endings):
            return True
        return any(part in name and _alike(pattern, name) for part, pattern in others)

    def into(self, name: str) -> "Reach | None":
        """The same for the directory of this name in this one; None where no glob can match anything below it."""
        if not self.deeper:
            return None
        followed = _reach((pattern, _after(pattern, places, name)) for pattern, places in self.places)
        return followed if followed.places else None


def reach(globs: Iterable[str]) -> Reach:
    """Where these valid globs stand at the root."""
    patterns = (_pattern(glob) for glob in globs)
    return _reach((pattern, _opened(pattern, 1)) for pattern in patterns)


@lru_cache(maxsize=64)
def _sorted_out(
    patterns: tuple[str, ...],
) -> tuple[frozenset[str], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The patterns that are plain names, the endings of those like `*.md`, and the others: most are quick to try.

    With each of the others stands its longest part without marks, which every name that it matches has.
    """
    names: list[str] = []
    endings: list[str] = []
    others: list[tuple[str, str]] = []
    for pattern in patterns:
        ending = pattern[1:] if pattern[0] == "*" else None
        if pattern in ("*", "**"):
            endings.append("")
        elif ending is not None and not _MARKS.intersection(ending):
            endings.append(ending)
        elif _MARKS.intersection(pattern):
            others.append((max(pattern.replace("?", "*").split("*"), key=len), pattern))
        else:
            names.append(pattern)
    return frozenset(names), tuple(endings), tuple(others)


def _reach(found: Iterable[tuple[Pattern, int]]) -> Reach:
    places = []
    here = set()
    deeper = False
    for pattern, reached in found:
        # Those at the end have matched a directory, which is no match.
        if open_ := reached & ~pattern.end:
            places.append((pattern, open_))
            last = pattern.end >> 1
            if open_ & last:
                here.add(pattern.segments[-1])
            deeper = deeper or pattern.segments[-1] == "**" or bool(open_ & ~last)
    # A pattern that matches every name makes the others needless.
    return Reach(tuple(places), tuple(sorted(here & {"*", "**"} or here)), deeper)


def _segment_fault(segment: str) -> str | None:
    if segment in (".", ".."):
        return 'must have no "." or ".." segment'
    if not segment:
        return 'must have no empty segment: write neither "//" nor a "/" at the end'
    if "**" in segment and segment != "**":
        return 'must have "**" only as a whole segment: write "**/*.md", not "**.md"'
    return None


@lru_cache(maxsize=256)
def _pattern(glob: str) -> Pattern:
    segments: list[str] = []
    for segment in glob.split("/"):
        if segment != "**" or segments[-1:] != ["**"]:
            segments.append(segment)
    deep = sum(1 << at for at, segment in enumerate(segments) if segment == "**")
    end = 1 << len(segments)
    return Pattern(tuple(segments), deep, deep & ~(end >> 1), end)


def _reached(pattern: Pattern, segments: Iterable[str]) -> int:
    """The places in the pattern at which a match can stand once all segments were read."""
    places = _opened(pattern, 1)
    for segment in segments:
        if not places:
            break
        places = _after(pattern, places, segment)
    return places


def _after(pattern: Pattern, places: int, segment: str) -> int:
    """The places that come of those by one segment more."""
    matched = places & _alike_at(pattern, segment)
    return _opened(pattern, (matched & pattern.deep) | matched << 1)


def _opened(pattern: Pattern, places: int) -> int:
    """Those places, and the ones behind each `**` that stands for no segment, which the last one never does."""
    return places | (places & pattern.empty) << 1


@lru_cache(maxsize=4096)
def _alike_at(pattern: Pattern, segment: str) -> int:
    """The places of the pattern that match this segment."""
    return sum(1 << at for at, one in enumerate(pattern.segments) if _alike(one, segment))


def _alike(pattern: str, segment: str) -> bool:
    """Whether one segment matches: its first part, its last, and the others as early as each can stand."""
    if pattern in ("**", "*") or not segment:
        return bool(segment)
    if "*" not in pattern and "?" not in pattern:
        return pattern == segment
    if pattern[0] == "*" and "*" not in pattern[1:] and "?" not in pattern:
        return segment.endswith(pattern[1:])
    parts = _parts(pattern)
    head, tail = parts[0], parts[-1]
    if len(parts) == 1:
        return head.pattern.fullmatch(segment) is not None
    at, end = head.length, len(segment) - tail.length
    if at > end or not head.pattern.match(segment) or not tail.pattern.match(segment, end):
        return False
    for part in parts[1:-1]:
        found = part.pattern.search(segment, at, end)
        if not found:
            return False
        at = found.end()
    return True


class _Part(NamedTuple):
    """What stands between two `*`: of one length, so that no search for it ever goes back."""

    pattern: re.Pattern[str]
    length: int


@lru_cache(maxsize=1024)
def _parts(pattern: str) -> tuple[_Part, ...]:
    return tuple(
        _Part(re.compile("".join("." if mark == "?" else re.escape(mark) for mark in part), re.DOTALL), len(part))
        for part in pattern.split("*")
    )
