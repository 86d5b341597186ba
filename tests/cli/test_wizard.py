"""The questions of each `add` at a terminal: every one is cancelled without a trace, and a wrong answer asked again."""

import json
import os
import re
import signal
import struct
import sys
import termios
from fcntl import ioctl
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.rig.agents import eventually
from tests.rig.terminal import CTRL_C, CTRL_D, DOWN, ENTER, ESC, Terminal, at_terminal

HELM: Final = (sys.executable, "-m", "helm_cli")
FILE: Final = {"HELM_CLI_CREDENTIALS": "file"}
SECRET: Final = "canary-9b3e"
BASE: Final = "https://api.example.com"


class Step(NamedTuple):
    """One question: words of it, the keys that answer it, and wrong answers with what is said to each."""

    question: str
    keys: tuple[bytes, ...]
    wrong: tuple[tuple[bytes, str], ...] = ()


class Wizard(NamedTuple):
    """One `add`: its words, its questions in their order, and the profile that comes of it."""

    words: tuple[str, ...]
    steps: tuple[Step, ...]
    profile: str
    text: str


NAME: Final = Step(
    "Name of the profile",
    (b"shop",),
    (
        (b"", "an answer is needed here; Esc or Ctrl-C cancels"),
        (b"My Shop", "'My Shop' cannot be the name of a profile"),
    ),
)
PORT: Final = Step(
    "Port 5432",
    (b"\x15", b"6543"),
    ((b"\x15postgres", "a port is a number from 1 to 65535"), (b"\x150", "a port is a number from 1 to 65535")),
)

WIZARDS: Final = {
    "a file": Wizard(
        ("db", "add"),
        (NAME, Step("Engine", ()), Step("SQLite file", (b"app.db",))),
        "db/shop",
        'engine = "sqlite"\npath = "HERE/app.db"\n',
    ),
    "a database server": Wizard(
        ("db", "add"),
        (
            NAME,
            Step("Engine", (DOWN,)),
            Step("Host", (b"db.example.com",), ((b"a://b", "host must be the name or the address of one host"),)),
            PORT,
            Step("Database", (b"shop",)),
            Step("User", (b"me",)),
            Step("Password of shop (empty for none)", (SECRET.encode(),)),
        ),
        "db/shop",
        'engine = "postgres"\nhost = "db.example.com"\nport = 6543\ndatabase = "shop"\nuser = "me"\n'
        'credential = "file"\n',
    ),
    "a service with a token": Wizard(
        ("service", "add"),
        (
            NAME,
            Step("Base URL", (BASE.encode(),), ((b"api.example.com", "Base URL must be a whole URL"),)),
            Step("Its calls are authorized by", ()),
            Step(
                "Token of shop (empty for none)",
                (SECRET.encode(),),
                ((b"one two", "the token must not contain a space; give the token alone"),),
            ),
        ),
        "service/shop",
        f'base_url = "{BASE}"\ncredential = "file"\n',
    ),
    "a service with a sign-in": Wizard(
        ("service", "add", "shop", "--base-url", BASE, "--oauth2"),
        (
            Step("Client id", (b"client-1",), (("é".encode(), "client_id must be printable ASCII"),)),
            Step("Client secret of shop (empty for a public client)", (SECRET.encode(),)),
        ),
        "service/shop",
        f'base_url = "{BASE}"\nclient_id = "client-1"\ncredential = "file"\n',
    ),
    "an MCP server": Wizard(
        ("mcp", "add"),
        (
            NAME,
            Step(
                "Command or URL of the server",
                (b"https://mcp.example.com/mcp",),
                (
                    (b"npx 'a", "the command has a quotation mark that is not closed"),
                    (b"TOKEN=x npx", "TOKEN=… is no program"),
                    (b"http://mcp.example.com", "url must begin with https://"),
                ),
            ),
            Step("Token of shop (empty for none)", (SECRET.encode(),)),
        ),
        "mcp/shop",
        'url = "https://mcp.example.com/mcp"\ncredential = "file"\n',
    ),
}
# The port that is offered, emptied.
EMPTIED: Final = b"\x15"
CANCELS: Final = (CTRL_C, ESC, CTRL_D)


def reach(screen: Terminal, steps: tuple[Step, ...]) -> None:
    """Answers these questions, each once it stands there."""
    for step in steps:
        screen.wait_for(step.question)
        screen.send(*step.keys, ENTER)


@pytest.mark.parametrize("name", WIZARDS)
def test_a_wrong_answer_is_told_and_asked_again(home: Path, name: str) -> None:
    wizard = WIZARDS[name]
    with at_terminal(*HELM, *wizard.words, env=FILE, size=(120, 50)) as screen:
        for step in wizard.steps:
            screen.wait_for(step.question)
            for number, (answer, told) in enumerate(step.wrong):
                # What was typed stands there again, to be corrected.
                screen.send(b"\x15", answer, ENTER)
                screen.wait_for(f"helm: {told}", [other for _, other in step.wrong[: number + 1]].count(told))
                screen.wait_for(step.question.removesuffix(" 5432"), number + 2)
            screen.send(*((b"\x15",) if step.wrong else ()), *step.keys, ENTER)
        assert screen.status() == 0
        assert screen.attributes() == screen.before
        assert SECRET.encode() not in screen.raw
    text = (home / "profiles" / f"{wizard.profile}.toml").read_text()
    assert text == wizard.text.replace("HERE", os.getcwd())
    assert (home / "credentials.json").exists() == ("credential" in text)


def test_what_is_offered_counts_where_it_is_emptied(home: Path) -> None:
    with at_terminal(*HELM, "db", "add", "shop", "--engine", "postgres", env=FILE, size=(120, 50)) as screen:
        for question, answer in (
            ("Host", b"db.example.com"),
            ("Port 5432", EMPTIED),
            ("Database", b"shop"),
            ("User", b"me"),
            ("Password of shop", b""),
        ):
            screen.wait_for(question)
            screen.send(answer, ENTER)
        assert screen.status() == 0
    assert "port = 5432\n" in (home / "profiles" / "db" / "shop.toml").read_text()


def each_once() -> list[tuple[str, int]]:
    """Each question of the wizards by its wizard and its place there, but for one that another has too."""
    found: dict[str, tuple[str, int]] = {}
    for name, wizard in WIZARDS.items():
        for number, step in enumerate(wizard.steps):
            found.setdefault(step.question, (name, number))
    # Of a choice, every way is tried below.
    return [place for question, place in found.items() if question != "Engine"]


@pytest.mark.parametrize(("name", "number"), each_once())
def test_a_question_that_is_cancelled_leaves_no_trace(home: Path, name: str, number: int) -> None:
    """Each question by one of the ways to cancel; every way is taken at a text, at a choice and at a secret."""
    wizard = WIZARDS[name]
    key = CANCELS[(number + [*WIZARDS].index(name)) % len(CANCELS)]
    with at_terminal(*HELM, *wizard.words, env=FILE, size=(120, 50)) as screen:
        reach(screen, wizard.steps[:number])
        question = wizard.steps[number].question
        screen.wait_for(question)
        # Ctrl-D ends an empty line, as everywhere; the proposed port is none.
        screen.send(*((b"\x15",) if key == CTRL_D and "5432" in question else ()), key)
        assert screen.status() == 6
        assert screen.attributes() == screen.before
        assert "helm: cancelled; nothing was changed" in screen.screen()
    assert not home.exists()


@pytest.mark.parametrize("key", CANCELS)
def test_every_way_cancels_a_choice(home: Path, key: bytes) -> None:
    """With colours, or without where the person wants none."""
    plain = key == ESC
    with at_terminal(*HELM, "db", "add", "shop", env={"NO_COLOR": "1"} if plain else {}) as screen:
        screen.wait_for("Engine")
        screen.send(key)
        assert screen.status() == 6
        assert screen.attributes() == screen.before
        assert (re.search(rb"\x1b\[[0-9;]*(3|4|9|10)[0-9]", screen.raw) is None) == plain
    assert not home.exists()


def test_an_alt_key_still_moves_in_a_text(home: Path) -> None:
    with at_terminal(*HELM, "db", "add") as screen:
        screen.wait_for("Name of the profile")
        screen.send(b"shop-2-x", b"\x1b\x7f", b"y", ENTER)
        screen.wait_for("Engine")
        assert "shop-2-y" in screen.screen()[0]
        screen.send(CTRL_D)
        assert screen.status() == 6


def test_a_name_that_is_taken_is_told_at_once(home: Path) -> None:
    with at_terminal(*HELM, "db", "add", "--engine", "sqlite", "--path", "a.db") as screen:
        reach(screen, (NAME,))
        assert screen.status() == 0
    told = "the db profile shop exists; change it with edit or replace it with --force"
    with at_terminal(*HELM, "db", "add", size=(120, 24)) as screen:
        reach(screen, (NAME,))
        screen.wait_for(f"helm: {told}")
        screen.wait_for("Name of the profile", 2)
        screen.send(ESC)
        assert screen.status() == 6
    with at_terminal(*HELM, "db", "add", "shop", size=(120, 24)) as screen:
        assert screen.status() == 15
        assert screen.screen() == [f"helm: {told}"]


EARLY: Final = b"EARLY-5c1d"
# Asks three questions, and after the first one waits until the file that is named was written and closed.
QUESTIONS: Final = """
import sys
from contextlib import ExitStack
from helm_cli import __main__
from helm_cli.cli import wizard
from helm_cli.view import streams
class Interrupted:
    def __del__(self):
        raise KeyboardInterrupt
with ExitStack() as after:
    streams.AFTER.set(after)
    wizard.ask("First")
    print("between them", flush=True)
    if open(sys.argv[1]).read() == "finalizer":
        sys.unraisablehook = __main__._unraisable
        Interrupted()
    print([wizard.hidden("Second"), wizard.ask("Third", ["one", "two"])], flush=True)
    streams.put_back()
    print("all asked", flush=True)
    open(sys.argv[1]).read()
"""


def waiting(screen: Terminal) -> int:
    """How many bytes were typed and not read, as the program would find them."""
    found: int = struct.unpack("i", ioctl(screen._device, termios.FIONREAD, b"\0\0\0\0"))[0]
    return found


def test_what_is_typed_between_two_questions_is_neither_shown_nor_taken(tmp_path: Path) -> None:
    """And after the last one, the terminal is as it was."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with at_terminal(sys.executable, "-c", QUESTIONS, str(gate)) as screen:
        screen.wait_for("First")
        screen.send(b"x", ENTER)
        screen.wait_for("between them")
        screen.send(EARLY + ENTER + DOWN)
        eventually(lambda: waiting(screen) == len(EARLY + ENTER + DOWN))
        assert screen.attributes()[3] & (termios.ECHO | termios.ISIG) == termios.ISIG
        gate.write_text("")
        screen.wait_for("Second")
        screen.send(SECRET.encode(), ENTER)
        screen.wait_for("Third")
        screen.send(ENTER)
        screen.wait_for("all asked")
        assert screen.attributes() == screen.before
        assert f"['{SECRET}', 'one']" in screen.screen()
        assert EARLY not in screen.raw
        gate.write_text("")
        assert screen.status() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGINT])
def test_an_end_between_two_questions_gives_the_terminal_back(tmp_path: Path, number: signal.Signals) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with at_terminal(sys.executable, "-c", QUESTIONS, str(gate)) as screen:
        screen.wait_for("First")
        screen.send(b"x", ENTER)
        screen.wait_for("between them")
        assert screen.attributes() != screen.before
        screen.process.send_signal(number)
        assert screen.status() == (-number if number == signal.SIGINT else 128 + number)
        assert screen.attributes() == screen.before


def test_keys_that_come_with_an_answer_are_no_answer_to_the_next_question(home: Path) -> None:
    words = ("db", "add", "shop", "--host", "127.0.0.1", "--port", "5432", "--database", "d")
    with at_terminal(*HELM, *words, env=FILE, size=(120, 24), early=EARLY + b"\n") as screen:
        screen.wait_for("Engine")
        # Another Down and Enter come too early for what is asked next, which is a text.
        screen.send(DOWN + ENTER + DOWN + EARLY + ENTER)
        screen.wait_for("User")
        screen.send(b"bob" + ENTER + EARLY + ENTER)
        screen.wait_for("Password of shop")
        screen.send(SECRET.encode(), ENTER)
        assert screen.status() == 0
        assert screen.attributes() == screen.before
        # Once, by the terminal, before the program began.
        assert screen.raw.count(EARLY) == 1
        assert SECRET.encode() not in screen.raw
    assert 'user = "bob"\n' in (home / "profiles" / "db" / "shop.toml").read_text()
    assert SECRET in json.dumps(json.loads((home / "credentials.json").read_text()))
    assert EARLY.decode() not in (home / "credentials.json").read_text()


def test_an_interrupt_that_python_would_forget_gives_the_terminal_back(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with at_terminal(sys.executable, "-c", QUESTIONS, str(gate)) as screen:
        screen.wait_for("First")
        screen.send(b"x", ENTER)
        screen.wait_for("between them")
        gate.write_text("finalizer")
        assert screen.status() == 130
        assert screen.attributes() == screen.before
