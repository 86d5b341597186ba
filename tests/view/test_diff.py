"""Line diffs: every change is seen, nothing else moves, whatever the texts hold and however they are made."""

import time
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helm_cli.model.plan import Revision
from helm_cli.view import diff
from helm_cli.view.diff import Run, compared, lines
from helm_cli.view.lines import folded
from helm_cli.view.text import shown

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "e\n", "{", ""]), max_size=14)


def told(before: str | None, after: str) -> list[str]:
    return [line.text for line in lines(Revision("docs/a.md", before, after))]


def test_a_change_stands_between_lines_that_stay() -> None:
    before = "".join(f"line {number}\n" for number in range(1, 31))
    after = before.replace("line 9\n", "LINE 9\nand more\n").replace("line 20\n", "")
    assert told(before, after) == [
        "  change of docs/a.md: 2 lines out, 2 lines in",
        "    … 5 lines unchanged",
        "      line 6",
        "      line 7",
        "      line 8",
        "    - line 9",
        "    + LINE 9",
        "    + and more",
        "      line 10",
        "      line 11",
        "      line 12",
        "    … 4 lines unchanged",
        "      line 17",
        "      line 18",
        "      line 19",
        "    - line 20",
        "      line 21",
        "      line 22",
        "      line 23",
        "    … 7 lines unchanged",
    ]


def test_lines_that_go_and_come_are_coloured() -> None:
    marked = {line.text: line.marks for line in lines(Revision("a", "x\ny\n", "x\nz\n"))}
    assert [(mark.start, mark.end, mark.style) for mark in marked["    - y"]] == [(4, 7, "gone")]
    assert [(mark.start, mark.end, mark.style) for mark in marked["    + z"]] == [(4, 7, "come")]
    assert marked["      x"] == ()


@pytest.mark.parametrize(
    ("before", "after", "shown_"),
    [
        ("a", "a\n", ["1 line out, 1 line in", "- a", "-\\ no line end here", "+ a"]),
        ("a\n", "a", ["1 line out, 1 line in", "- a", "+ a", "+\\ no line end here"]),
        ("a\n", "a \n", ["1 line out, 1 line in", "- a", "+ a\\u{20}"]),
        ("a \nb\n", "a \n", ["1 line out", "  a\\u{20}", "- b"]),
        ("a  b\n", "a\tb\n", ["1 line out, 1 line in", "- a  b", "+ a→   b"]),
        ("→   b\n", "\tb\n", ["1 line out, 1 line in", "- \\u{2192}   b", "+ →   b"]),
        ("a\r\nb\n", "a\nb\n", ["1 line out, 1 line in", "- a\\u{d}", "+ a", "  b"]),
        ("a\nb\n", "a\r\nb\r\n", ["2 lines out, 2 lines in", "- a", "- b", "+ a\\u{d}", "+ b\\u{d}"]),
        ("a\r\nb\r\n", "a\r\nc\r\n", ["1 line out, 1 line in; its lines end in CRLF, as before", "  a", "- b", "+ c"]),
        (
            "a",
            "\ufeffa",
            ["1 line out, 1 line in", "- a", "-\\ no line end here", "+ \\u{feff}a", "+\\ no line end here"],
        ),
        ("a\u2028b\x0bc\n", "a\n", ["1 line out, 1 line in", "- a\\u{2028}b\\u{b}c", "+ a"]),
        ("\x1b[2J\n", "\\u{1b}[2J\n", ["1 line out, 1 line in", "- \\u{1b}[2J", "+ \\u{5c}u{1b}[2J"]),
        ("\0\u202e\n", "é\n", ["1 line out, 1 line in", "- \\u{0}\\u{202e}", "+ é"]),
        ("", "a\n", ["1 line in", "+ a"]),
        ("a\n", "", ["1 line out", "- a"]),
        ("", "\n", ["1 line in", "+ "]),
    ],
)
def test_what_cannot_be_seen_is_shown(before: str, after: str, shown_: list[str]) -> None:
    head, *rest = told(before, after)
    assert head == f"  change of docs/a.md: {shown_[0]}"
    assert [line[4:] for line in rest] == shown_[1:]


def test_no_change_is_told_as_none() -> None:
    assert told("a\n", "a\n") == ["  change of docs/a.md: no line", "      a"]
    assert told("a\n" * 9, "a\n" * 9) == ["  change of docs/a.md: no line", "    … 9 lines unchanged"]


def test_a_new_file_is_all_new() -> None:
    assert told(None, "a\n") == ["  change of docs/a.md: 1 line in; a new file", "    + a"]


@settings(max_examples=400)
@given(LINES, LINES)
def test_the_runs_lead_from_the_one_text_to_the_other(old: list[str], new: list[str]) -> None:
    at_old = at_new = 0
    rebuilt: list[str] = []
    previous: bool | None = None
    for run in compared(old, new):
        assert (run.same > 0) is not (run.gone + run.come > 0)
        assert previous is not (run.same > 0)
        previous = run.same > 0
        if run.same:
            assert old[at_old : at_old + run.same] == new[at_new : at_new + run.same]
        rebuilt += new[at_new : at_new + run.same + run.come]
        at_old, at_new = at_old + run.same + run.gone, at_new + run.same + run.come
    assert (at_old, at_new, rebuilt) == (len(old), len(new), new)
    same = sum(run.same for run in compared(old, new))
    assert same == len(old) if old == new else same < max(len(old), len(new))


@given(st.text("ab →\t\r\n\\{u}\x1b", max_size=10), st.text("ab →\t\r\n\\{u}\x1b", max_size=10))
def test_texts_that_differ_are_shown_differently(before: str, after: str) -> None:
    shown_ = told(before, after)
    assert all(shown(line) == line for line in shown_)
    if before != after:
        gone = [line for line in shown_ if line.startswith(("    - ", "      "))]
        come = [line for line in shown_ if line.startswith(("    + ", "      "))]
        assert [line.replace("- ", "+ ", 1) for line in gone] != come or "no line end here" in str(shown_)


def drawn(before: str, after: str, columns: int) -> list[str]:
    """What is on a screen without colour, where blanks at the end of a line are not seen."""
    return [part.text.rstrip(" ") for line in lines(Revision("a", before, after)) for part in folded(line, columns)]


def test_no_part_of_a_line_poses_as_another_line() -> None:
    # "# " and dashes up to the edge, then what would be read as a line that was there before.
    for width in range(66, 76):
        pad = "# " + "-" * (width - 2)
        one = drawn("user = bob\n", f"user = bob\n{pad} allow_all = true\n", 79)
        other = drawn("user = bob\nallow_all = true\n", f"user = bob\n{pad}\nallow_all = true\n", 79)
        assert one != other
    assert drawn("a\n", f"a\n{'x' * 30} - b = 1\n", 24) == [
        "  change of a: 1 line in",
        "      a",
        "    + xxxxxxxxxxxxxxxxx\\",
        "    +> xxxxxxxxxxxxx - \\",
        "    +> b = 1",
    ]
    assert drawn("no line end here\n", "no line end here", 79)[1:] == [
        "    - no line end here",
        "    + no line end here",
        "    +\\ no line end here",
    ]


@settings(max_examples=400)
@given(st.lists(st.text("ab日 >\\+-", max_size=30), min_size=1, max_size=3), st.integers(14, 24))
def test_each_text_can_be_read_back_from_what_is_visible(texts: list[str], columns: int) -> None:
    read: list[str] = []
    for part in drawn("", "".join(f"{text}\n" for text in texts), columns)[1:]:
        if part[:6] == "    +>":
            read[-1] = read[-1].removesuffix("\\") + part[7:]
        elif part[:5] == "    +":
            read.append(part[6:])
    assert [text.replace("\\u{20}", " ").replace("\\u{5c}", "\\") for text in read] == texts


def test_what_goes_on_keeps_its_colour() -> None:
    [line] = [line for line in lines(Revision("a", "", "b" * 30 + "\n")) if "+" in line.text]
    assert [[(mark.start, mark.end, mark.style) for mark in part.marks] for part in folded(line, 24)] == [
        [(4, 23, "come")],
        [(7, 20, "come")],
    ]


MANY: Final = 60_000
HOSTILE: Final = {
    "a cycle against another": ([f"{n % 150}\n" for n in range(MANY)], [f"{n % 149}\n" for n in range(MANY)]),
    "every second line another": (
        [f"{n}\n" if n % 2 else "x\n" for n in range(MANY)],
        [f"{n}\n" if n % 2 else f"y{n}\n" for n in range(MANY)],
    ),
    "one line again and again": (["\n"] * MANY, ["\n"] * (MANY - 9) + ["a\n"] * 9 + ["\n"] * 5),
    "the same lines backwards": ([f"{n}\n" for n in range(MANY)], [f"{n}\n" for n in reversed(range(MANY))]),
    "two kinds of lines": (["a\n", "b\n"] * (MANY // 2), ["b\n", "a\n", "a\n"] * (MANY // 3)),
    "nothing alike": ([f"{n}\n" for n in range(MANY)], [f"y{n}\n" for n in range(MANY)]),
    "no lines at all": (["x" * 262_144], ["y" * 262_144]),
    "escapes": (["\x1b\n"] * MANY, ["\x9b\n"] * MANY),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_texts_take_long(name: str) -> None:
    old, new = HOSTILE[name]
    begun = time.process_time()
    runs = list(compared(old, new))
    lines(Revision("a", "".join(old), "".join(new)))
    assert time.process_time() - begun < 5
    assert sum(run.same + run.gone for run in runs) == len(old)
    assert sum(run.same + run.come for run in runs) == len(new)


def test_unique_lines_hold_the_rest_in_place() -> None:
    old, new = HOSTILE["every second line another"]
    assert sum(run.same for run in compared(old, new)) == MANY // 2
    assert list(compared(["a", "b", "c"], ["a", "x", "c"])) == [Run(1), Run(0, 1, 1), Run(1)]
    # Beyond what is compared one by one, a part is shown whole.
    assert diff.MOST_PAIRS < 2_000 * 1_000
    assert list(compared(["a", "b"] * 1_000, ["b", "a", "a"] * 1_000)) == [Run(0, 2_000, 3_000)]


def test_a_text_that_is_told_of_is_shown_whole() -> None:
    text = "".join(f"{n}\n" for n in range(20)) + "\tlast\u202e"
    shown = [line.text for line in lines(Revision("the note\x1b as it stands", None, text, told=True))]
    assert shown == [
        "  the note\\u{1b} as it stands",
        *(f"      {n}" for n in range(20)),
        "      →   last\\u{202e}",
    ]
