"""The questions of each `add` at a terminal: every one is cancelled without a trace, and a wrong answer asked again."""

import os
import re
import sys
from pathlib import Path
from typing import Final, NamedTuple

import pytest

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
            Step("Base URL", (BASE.encode(),), ((b"api.example.com", "--base-url must be a whole URL"),)),
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
