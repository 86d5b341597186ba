"""Which globs a `files` connection may declare, and which paths they match, in time that no glob can blow up.

`*` and `?` match inside one segment, `**` as a whole segment matches any depth (contract, Files): no segment or more
in the middle, one or more at the end. Brackets and leading dots are ordinary characters; case counts.
"""

from typing import Final

MOST_CHARACTERS: Final = 1_024


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
        after = {place + 1 for place in places if place < len(pattern) and _alike(pattern[place], segment)}
        places = _openings(pattern, after | {place for place in places if pattern[place : place + 1] == ["**"]})
    return places


def _openings(pattern: list[str], places: set[int]) -> set[int]:
    """Those places, and the ones behind each `**` that stands for no segment, which the last one never does."""
    found = set(places)
    for place in range(min(found, default=0), len(pattern) - 1):
        if place in found and pattern[place] == "**":
            found.add(place + 1)
    return found


def _alike(pattern: str, segment: str) -> bool:
    """Whether one segment matches; the last `*` alone is retried, so the time is at most the product of the lengths."""
    if pattern == "**" or not segment:
        return bool(segment)
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
