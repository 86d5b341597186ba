"""What the rest of the tests rely on: nothing is left out unseen, and nothing of this machine is lent to them."""

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.program import ROOT, Finished, Helm, run

Session = Callable[[str], Finished]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A test session of its own, under our conftest, over one module with this text."""

    def of(text: str) -> Finished:
        (tmp_path / "test_one.py").write_text("import pytest\n" + text)
        (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = contract\n")
        here = ["-c", str(tmp_path / "pytest.ini"), "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
        return run([sys.executable, "-m", "pytest", "-p", "tests.conftest", *here, str(tmp_path)])

    return of


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.mark.skip('no tool')\ndef test_it(): pass",
        "@pytest.mark.skipif(True, reason='no tool')\ndef test_it(): pass",
        "def test_it(): pytest.skip('no tool')",
        "@pytest.fixture\ndef tool(): pytest.skip('no tool')\ndef test_it(tool): pass",
        "@pytest.mark.xfail(reason='no tool')\ndef test_it(): assert False",
        "@pytest.mark.xfail(reason='no tool')\ndef test_it(): pass",
        "pytest.importorskip('no_tool')\ndef test_it(): pass",
        "pytest.skip('no tool', allow_module_level=True)\ndef test_it(): pass",
    ],
)
def test_a_test_left_out_fails_the_session(session: Session, text: str) -> None:
    finished = session(text)
    assert finished.status in (1, 2)
    assert "this one was left out" in finished.out
    assert re.search("no.tool", finished.out)
    assert " skipped" not in finished.out


@pytest.mark.parametrize("mark", ["contract()", "contract('K7')", "contract('C7', 8)"])
def test_a_mark_that_names_no_item_is_refused(session: Session, mark: str) -> None:
    finished = session(f"@pytest.mark.{mark}\ndef test_it(): pass")
    assert finished.status == 4
    assert "must name items such as C22 or P4" in finished.err


def test_a_mark_that_names_items_is_taken(session: Session) -> None:
    assert session("@pytest.mark.contract('C7', 'P44')\ndef test_it(): pass").status == 0


def test_a_home_is_new_and_empty(home: Path) -> None:
    assert home == Path.home() / ".helm"
    assert list(Path.home().iterdir()) == []
    assert list(Path.cwd().iterdir()) == []
    lent = {name for name in os.environ if name.startswith(("HELM_", "XDG_", "DBUS_", "GIT_DIR"))}
    assert lent <= {"HELM_TEST_LONG"}
    assert time.tzname == ("UTC", "UTC")


def test_the_program_has_no_terminal_and_runs_from_this_tree(helm: Helm) -> None:
    assert helm("--version").status == 0
    tty = run([sys.executable, "-c", "open('/dev/tty')"])
    assert "No such device or address" in tty.err
    place = run([sys.executable, "-c", "import helm_cli; print(helm_cli.__file__)"])
    assert place.out.strip() == str(ROOT / "helm_cli" / "__init__.py")


def test_a_program_that_does_not_end_is_killed_and_fails_the_test() -> None:
    with pytest.raises(AssertionError, match=r"not done in 0\.2 s"):
        run(["sleep", "60"], seconds=0.2)
