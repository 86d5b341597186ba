"""Which globs a `files` connection may declare, and which paths they match, in time that no glob can blow up.

`*` and `?` match inside one segment, `**` as a whole segment matches any depth (contract, Files): no segment or more
in the middle, one or more at the end. Brackets and leading dots are ordinary characters; case counts.
"""

from collections.abc import Iterable, Sequence
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
    pattern = glob.split("/")
    return len(pattern) in _reached(pattern, path.split("/"))


def reaches(glob: str, directory: str) -> bool:
    """Whether a valid glob can match a file anywhere below this directory; "" is the root."""
    pattern = glob.split("/")
    places = _reached(pattern, directory.split("/")) if directory else _openings(pattern, {0})
    return any(place < len(pattern) for place in places)


class Reach(NamedTuple):
    """What valid globs, already followed into one directory, still match: the way to look at a tree step by step.

    `places` are the globs split into segments, each with where a match can stand in it. `here` are the patterns that
    match the names of the files in this very directory. `deeper` says whether any of its directories can matter.
    """

    places: tuple[tuple[tuple[str, ...], frozenset[int]], ...]
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
    split = (tuple(glob.split("/")) for glob in globs)
    return _reach((pattern, _openings(pattern, {0})) for pattern in split)


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


def _reach(found: Iterable[tuple[tuple[str, ...], set[int]]]) -> Reach:
    places = []
    here = set()
    deeper = False
    for pattern, reached in found:
        # Those at the end have matched a directory, which is no match.
        if open_ := frozenset(place for place in reached if place < len(pattern)):
            places.append((pattern, open_))
            if len(pattern) - 1 in open_:
                here.add(pattern[-1])
            deeper = deeper or pattern[-1] == "**" or min(open_) < len(pattern) - 1
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


def _reached(pattern: list[str], segments: list[str]) -> set[int]:
    """The places in the pattern at which a match can stand once all segments were read."""
    places = _openings(pattern, {0})
    for segment in segments:
        places = _after(pattern, places, segment)
    return places


def _after(pattern: Sequence[str], places: Iterable[int], segment: str) -> set[int]:
    """The places that come of those by one segment more."""
    after = set()
    for place in places:
        if place < len(pattern) and _alike(pattern[place], segment):
            after |= {place, place + 1} if pattern[place] == "**" else {place + 1}
    return _openings(pattern, after)


def _openings(pattern: Sequence[str], places: set[int]) -> set[int]:
    """Those places, and the ones behind each `**` that stands for no segment, which the last one never does."""
    found = set(places)
    for place in range(min(found, default=0), len(pattern) - 1):
        if place in found and pattern[place] == "**":
            found.add(place + 1)
    return found


def _alike(pattern: str, segment: str) -> bool:
    """Whether one segment matches; the last `*` alone is retried, so the time is at most the product of the lengths."""
    if pattern in ("**", "*") or not segment:
        return bool(segment)
    if "*" not in pattern and "?" not in pattern:
        return pattern == segment
    if pattern[0] == "*" and "*" not in pattern[1:] and "?" not in pattern:
        return segment.endswith(pattern[1:])
    at, star, retry = 0, -1, 0
    i = 0
    while i < len(segment):
        if at < len(pattern) and pattern[at] == "*":
            star, retry, at = at, i, at + 1
        elif at < len(pattern) and pattern[at] in ("?", segment[i]):
            at, i = at + 1, i + 1
        elif star >= 0:
            retry += 1
            at, i = star + 1, retry
        else:
            return False
    return not pattern[at:].strip("*")
