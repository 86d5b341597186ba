"""Globs: which are valid, what they match, where they lead, and that none of them takes long."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helm_cli.grammar import glob

TABLE = {
    "*.md": (["a.md", ".md", "é.md"], ["a/b.md", "a.mdx", "a.MD", "md"]),
    "docs/*": (["docs/a", "docs/.hidden"], ["docs", "docs/a/b", "docs/"]),
    "a?c": (["abc", "a?c", "aéc"], ["ac", "abbc", "a/c"]),
    "**": (["a", "a/b", ".env", "a/b/c/d"], []),
    "docs/**": (["docs/a", "docs/a/b/c"], ["docs", "doc/a", "x/docs/a"]),
    "**/*.md": (["a.md", "a/b.md", "a/b/c.md"], ["a.txt", "a.md/b"]),
    "a/**/b": (["a/b", "a/x/b", "a/x/y/b"], ["a", "ab", "a/bx", "x/a/b"]),
    "a/**/**/b": (["a/b", "a/x/b", "a/x/y/b"], ["a/x"]),
    "**/**": (["a", "a/b"], []),
    "**/a/**": (["a/b", "x/a/b", "x/y/a/b/c"], ["a", "x/a", "b/c"]),
    "a[1].md": (["a[1].md"], ["a1.md"]),
    "{a,b}": (["{a,b}"], ["a", "b"]),
    "!a": (["!a"], ["a", "b"]),
    "*a*b*": (["ab", "xaxbx", "aab"], ["ba", "a", "b"]),
    "a b": (["a b"], ["ab"]),
    "*": (["a", "*"], ["a/b"]),
    "~/x": (["~/x"], ["x"]),
    "***": ([], []),
}


@pytest.mark.contract("C80")
@pytest.mark.parametrize("pattern", [pattern for pattern in TABLE if pattern != "***"])
def test_what_a_glob_matches(pattern: str) -> None:
    assert glob.fault(pattern) is None
    matched, others = TABLE[pattern]
    assert [path for path in matched + others if glob.matches(pattern, path)] == matched


SEGMENT = 'must have no "." or ".." segment'
EMPTY = 'must have no empty segment: write neither "//" nor a "/" at the end'
STARS = 'must have "**" only as a whole segment: write "**/*.md", not "**.md"'
INVISIBLE = "must have no control or invisible characters"
FAULTS = {
    "": "must have 1 to 1024 characters",
    "a" * 1_025: "must have 1 to 1024 characters",
    "/etc/passwd": 'must be relative to the root: it must not start with "/"',
    "/": 'must be relative to the root: it must not start with "/"',
    "../a": SEGMENT,
    "a/../b": SEGMENT,
    "a/..": SEGMENT,
    ".": SEGMENT,
    "./a": SEGMENT,
    "a/./b": SEGMENT,
    "a//b": EMPTY,
    "a/": EMPTY,
    "a\\b": 'must have no backslash; segments are separated by "/", and no character is escaped',
    "**.md": STARS,
    "a**": STARS,
    "***": STARS,
    "a/**b/c": STARS,
    "a\nb": INVISIBLE,
    "a\x00": INVISIBLE,
    "\u202ea": INVISIBLE,
    "a\u200b": INVISIBLE,
}


@pytest.mark.contract("C79")
@pytest.mark.parametrize("pattern", FAULTS)
def test_what_is_no_glob(pattern: str) -> None:
    assert glob.fault(pattern) == FAULTS[pattern]


@pytest.mark.parametrize(
    ("pattern", "directory", "expected"),
    [
        ("a", "", True),
        ("**", "a/b", True),
        ("docs/**", "", True),
        ("docs/**", "docs", True),
        ("docs/**", "docs/a/b", True),
        ("docs/**", "src", False),
        ("docs/*", "docs", True),
        ("docs/*", "docs/a", False),
        ("docs", "docs", False),
        ("node_modules/*/package.json", "node_modules", True),
        ("node_modules/*/package.json", "node_modules/a", True),
        ("node_modules/*/package.json", "node_modules/a/b", False),
        ("**/*.md", "a/b/c", True),
        ("a/**/b", "a", True),
        ("a/**/b", "b", False),
        ("*/x", "anything", True),
    ],
)
def test_which_directories_a_glob_reaches(pattern: str, directory: str, expected: bool) -> None:
    assert glob.reaches(pattern, directory) is expected


SEGMENTS = st.text("ab*?.", min_size=1, max_size=4).filter(lambda text: glob.fault(text) is None) | st.just("**")
PATTERNS = st.lists(SEGMENTS, min_size=1, max_size=5).map("/".join)
PATHS = st.lists(st.text("ab.", min_size=1, max_size=4), min_size=1, max_size=5)


def slow_but_plain(pattern: str) -> re.Pattern[str]:
    """The same language as a regular expression; `**` in the middle takes whole segments, at the end one or more."""
    segments = pattern.split("/")
    text = ""
    for index, segment in enumerate(segments):
        last = index == len(segments) - 1
        if segment == "**":
            text += "[^/]+(?:/[^/]+)*" if last else "(?:[^/]+/)*"
        else:
            written = "".join({"*": "[^/]*", "?": "[^/]"}.get(mark, re.escape(mark)) for mark in segment)
            text += written if last else written + "/"
    return re.compile(text)


@pytest.mark.contract("C80")
@settings(max_examples=800)
@given(PATTERNS, PATHS)
def test_the_matcher_agrees_with_a_plain_one(pattern: str, segments: list[str]) -> None:
    path = "/".join(segments)
    expected = slow_but_plain(pattern).fullmatch(path) is not None
    assert glob.matches(pattern, path) is expected
    if expected:
        for length in range(len(segments)):
            assert glob.reaches(pattern, "/".join(segments[:length]))


@pytest.mark.contract("C80")
@settings(max_examples=800)
@given(st.lists(PATTERNS, min_size=1, max_size=4), PATHS)
def test_globs_followed_step_by_step_match_the_same(patterns: list[str], segments: list[str]) -> None:
    followed: glob.Reach | None = glob.reach(patterns)
    for at, segment in enumerate(segments[:-1]):
        assert followed is not None
        followed = followed.into(segment)
        reached = any(glob.reaches(pattern, "/".join(segments[: at + 1])) for pattern in patterns)
        assert (followed is not None) is reached
        if followed is None:
            break
    expected = any(glob.matches(pattern, "/".join(segments)) for pattern in patterns)
    assert (followed is not None and followed.matches(segments[-1])) is expected


@settings(max_examples=500)
@given(st.text(max_size=12))
def test_any_text_has_a_verdict_and_valid_ones_can_be_matched(text: str) -> None:
    if glob.fault(text) is None:
        glob.matches(text, "a/b/c")
        glob.reaches(text, "a/b")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 500 + "b", "a" * 255),
        ("**/" * 300 + "a", "/".join(["x"] * 300)),
        ("**/a/" * 200 + "b", "/".join(["a"] * 300)),
        ("*a*a*a*a*a*a*b", "a" * 4_000),
        ("**/*a*a*a*b/" * 60 + "c", "/".join(["a" * 100] * 40)),
    ],
)
def test_no_glob_takes_long(pattern: str, path: str) -> None:
    assert glob.fault(pattern) is None
    began = time.process_time()
    assert not glob.matches(pattern, path)
    glob.reaches(pattern, path)
    *folders, name = path.split("/")
    followed: glob.Reach | None = glob.reach([pattern] * 16)
    for segment in folders:
        followed = followed and followed.into(segment)
    assert followed is None or not followed.matches(name)
    assert time.process_time() - began < 5
