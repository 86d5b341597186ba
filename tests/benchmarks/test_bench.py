"""The benchmarks measure what they say: whole process trees, right answers only, and ratios of pairs."""

import sys
import time
from pathlib import Path

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


def test_a_name_that_is_not_in_the_table_is_told() -> None:
    told = run([sys.executable, BENCH, "nothing"])
    assert (told.status, told.out) == (2, "")
    assert f"there is no nothing; there are {', '.join(bench.TABLE)}" in told.err


def test_one_row_of_the_table() -> None:
    told = run([sys.executable, BENCH, "--rounds", "1", "version"])
    assert told.status in (0, 1), told
    (line,) = told.out.splitlines()
    assert line.startswith("helm --version : python -c pass ")
    assert line.endswith("; 1 pairs)")


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
