"""`helm demo`: the first thing that anybody runs."""

import sys
from pathlib import Path

from tests.program import Helm
from tests.rig.terminal import ENTER, at_terminal

TABLE = [
    " 4   Dark mode for the dashboard             open",
    " 2   Export to CSV drops the last row        open",
    " 1   Sign-in fails after a password change   open",
]


def test_without_a_person_it_ends_with_the_table(helm: Helm, home: Path) -> None:
    ended = helm("demo")
    assert ended.status == 0
    assert ended.out.splitlines()[-3:] == TABLE
    commands = [line for line in ended.out.splitlines() if line.startswith("$ helm ")]
    assert [line.split()[2:4] for line in commands] == [
        ["db", "add"],
        ["plugin", "review"],
        ["call", "app"],
        ["call", "app"],
        ["call", "app"],
        ["call", "app"],
    ]
    assert '"code":"confirmation_required"' in ended.out
    assert not home.exists()


def test_at_a_terminal_enter_cancels_the_write(home: Path) -> None:
    with at_terminal(sys.executable, "-m", "helm_cli", "demo", size=(100, 60)) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(ENTER)
        assert screen.status() == 0
        assert [line.rstrip() for line in screen.screen()][-4:] == [*TABLE, "3 rows"]
        assert "helm: declined; nothing was sent" in "\n".join(screen.screen())
    assert not home.exists()
