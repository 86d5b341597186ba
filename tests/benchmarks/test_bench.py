"""The benchmarks measure what they say: whole process trees, right answers only, and ratios of pairs."""

import datetime
import re
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from benchmarks import bench, databases
from benchmarks.pairs import Cost, Row, Run, Wrong, compared, cost, each, ratio, side_by_side
from benchmarks.stage import stage
from tests import example
from tests.program import ROOT, run

BENCH = str(ROOT / "benchmarks" / "bench.py")
# Burns the processor in a process that its parent does not wait for.
ORPHAN = """
import os, time
if os.fork() == 0:
    while time.process_time() < 0.3:
        pass
    os._exit(0)
print("left it")
"""


def python(text: str, answer: bytes = b"") -> Run:
    return Run([sys.executable, "-I", "-S", "-c", text], lambda out: out == answer)


def test_the_time_of_what_nobody_waited_for_is_counted() -> None:
    found = cost(python(ORPHAN, b"left it\n"))
    assert found.cpu >= 0.3


def test_waiting_takes_no_processor() -> None:
    found = cost(python("import time; time.sleep(0.3)"))
    assert found.wall >= 0.3 > found.cpu > 0


@pytest.mark.parametrize("text", ["print('wrong')", "import sys; sys.exit(3)", "import os; os.kill(os.getpid(), 9)"])
def test_what_fails_or_answers_wrongly_is_not_measured(text: str) -> None:
    with pytest.raises(Wrong) as raised:
        cost(python(text))
    assert text in str(raised.value)


def test_a_command_gets_its_input_its_folder_and_its_status(tmp_path: Path) -> None:
    text = "import os, sys; print(os.getcwd(), sys.stdin.read(), os.environ); sys.exit(11)"
    command = [sys.executable, "-I", "-S", "-c", text]
    told = f"{tmp_path.resolve()} given environ({{'A': 'b'".encode()
    assert cost(Run(command, lambda out: out.startswith(told), b"given", {"A": "b"}, tmp_path, (11,))).wall > 0


def test_runs_take_turns_forwards_and_backwards(tmp_path: Path) -> None:
    log = tmp_path / "log"
    one, two = (python(f"open({str(log)!r}, 'a').write('{name}')") for name in "ab")
    columns = side_by_side(3, one, two)
    assert [len(column) for column in columns] == [3, 3]
    # The first of each only warms the disk.
    assert log.read_text() == "ab" + "ab" + "ba" + "ab"


OURS = [Cost(2.0, 1.0), Cost(30.0, 2.0), Cost(3.0, 9.0)]
THEIRS = [Cost(1.0, 1.0), Cost(10.0, 1.0), Cost(1.0, 3.0)]


def test_a_ratio_is_the_median_of_the_pairs() -> None:
    assert ratio(OURS, THEIRS, "wall") == 3
    assert ratio(OURS, THEIRS, "CPU") == 2
    assert compared("a : b", OURS, THEIRS, 2.5) == Row("a : b", 3, "times", 2.5, "by wall; CPU 2.00; 3 pairs")
    assert compared("a : b", OURS, THEIRS, 2.5, "CPU").met
    assert each([Cost(1.0, 1.0)], [Cost(3.0, 2.0)], 10, "wall") == 200


def test_a_row_says_whether_its_aim_was_met() -> None:
    row = Row("a : b", 3, "times", 2.5, "by wall")
    assert bench.told(row).split() == ["a", ":", "b", "3.00", "times", "aim", "2.5", "MISSED", "(by", "wall)"]
    assert bench.told(row._replace(value=2.5)).split()[-3] == "met"


def test_the_table_of_readme_tells_each_row_its_aim_and_what_is_to_be_said_of_a_miss() -> None:
    ratio, more = Row("cold : a script", 1.0, "times", 2.5, "by wall"), Row("a body", 3.14, "MiB", 3, "4 / 1 MiB")
    told = bench.markdown(
        [bench.Measured("One", [ratio, more], True), bench.Measured("Two", [], False)], datetime.date(2026, 1, 2)
    )
    first, empty, *table = told.splitlines()
    assert first.startswith("Measured on 2026-01-02 on ")
    assert (empty, table) == (
        "",
        [
            "| what | measured (aim) |",
            "|---|---|",
            "| One | cold 1.00 times a script (≤ 2.5); a body 3.1 MiB (≤ 3, **missed**: no reason is known) |",
            "| Two | **not all could be measured** |",
        ],
    )


ROW: Final = r"{what} (?P<value>-?[\d.]+) (times{other}|MiB|s) \(≤ (?P<aim>[\d.]+)(, \*\*missed\*\*: (?P<why>.+))?\)"


def test_readme_has_what_the_table_has_and_says_why_where_an_aim_is_missed() -> None:
    readme = (ROOT / "README.md").read_text()
    section = readme[readme.index("\n## How fast") :].partition("\n## ")[2]
    assert re.search(
        r"^Measured on 20\d\d-\d\d-\d\d on \d+ cores? \(.+\), \d+ GiB, Python 3\.\d+\.\d+, \w+ [\d.]+:$", section, re.M
    )
    lines = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section, re.M))
    del lines["what"]
    assert list(lines) == [group.title for group in bench.TABLE.values()]
    for group in bench.TABLE.values():
        cells = lines[group.title].split("; ")
        assert len(cells) == len(group.rows)
        for told, row in zip(cells, group.rows, strict=True):
            what, _, other = map(re.escape, row.partition(" : "))
            found = re.fullmatch(ROW.format(what=what, other=f" {other}"), told)
            assert found, told
            assert found["why"] in (None, bench.REASONS.get((group.title, row))), told
            assert found["why"] or float(found["value"]) <= float(found["aim"]), told


def test_a_name_that_is_not_in_the_table_is_told() -> None:
    told = run([sys.executable, BENCH, "nothing"])
    assert (told.status, told.out) == (2, "")
    assert f"there is no nothing; there are {', '.join(bench.TABLE)}" in told.err


def test_one_row_of_the_table() -> None:
    told = run([sys.executable, BENCH, "--rounds", "1", "version"])
    assert told.status in (0, 1), told
    title, line = told.out.splitlines()
    assert title == "Start"
    assert line.startswith("  helm --version : python -c pass ")
    assert line.endswith("; 1 pairs)")


def test_what_cannot_be_measured_is_said_and_makes_the_status_two(tmp_path: Path) -> None:
    """As where what fetches the programs of others is not there."""
    told = run([sys.executable, BENCH, "--markdown", "--rounds", "1", "mcp"], env={"PATH": str(tmp_path)})
    assert told.status == 2
    assert told.out.splitlines()[-1] == "| A tool of npm's server-everything | **not all could be measured** |"
    assert "  mcp: not measured" in told.err


def test_a_call_and_its_bare_script_answer_the_same() -> None:
    with stage() as on:
        file = example.ready(on.helm, on.workspace)
        start = time.perf_counter()
        ours = cost(on.call(*databases.RECENT, data=databases.recent(199)))
        cost(on.script("sqlite", str(file), example.RECENT, data=databases.recent(199)))
        assert 0 < ours.wall < time.perf_counter() - start
        with pytest.raises(Wrong):
            cost(on.call(*databases.RECENT, data=databases.recent(200)))
        with pytest.raises(Wrong):
            cost(on.call("app", "nothing", data=lambda data: True))
        assert on.peak(*databases.RECENT) > 5
        with on.agent() as agent:
            cost(on.call(*databases.RECENT, data=databases.recent(199)))
            cost(on.twin().call(*databases.RECENT, data=databases.recent(199)))
            assert agent.calls() == 1
