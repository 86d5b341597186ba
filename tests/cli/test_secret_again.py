"""A secret that was lost or is for another target: what helm advises then is done to the letter, and it works."""

import re
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from helm_cli.broker import secrets
from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.store import profiles
from tests.program import Helm
from tests.rig.terminal import ENTER, at_terminal

FILE: Final = {"HELM_CLI_CREDENTIALS": "file"}
ADVICE: Final = re.compile(r"enter its secret again with: helm (.+) (--ask-[a-z-]+) \(or (--[a-z-]+-stdin)\)")
BASE: Final = "https://api.example.com"

# Options of an add, the question for the secret, what of the profile's file to change into what.
CASES: Final[dict[str, tuple[tuple[str, ...], str, tuple[str, str]]]] = {
    "token": (("service", "add", "x", "--base-url", BASE, "--token-stdin"), "Token of x", ("api.", "other.")),
    "client secret": (
        ("service", "add", "x", "--base-url", BASE, "--oauth2", "--client-id", "c", "--client-secret-stdin"),
        "Client secret of x",
        ('"c"', '"d"'),
    ),
    "password": (
        (
            "db",
            "add",
            "x",
            "--engine",
            "mysql",
            "--host",
            "h.test",
            "--database",
            "d",
            "--user",
            "u",
            "--password-stdin",
        ),
        "Password of x",
        ("h.test", "i.test"),
    ),
    "command": (
        ("mcp", "add", "x", "--token-env", "T", "--token-stdin", "--", "true"),
        "Token of x",
        ("true", "false"),
    ),
    "url": (("mcp", "add", "x", "--url", f"{BASE}/mcp", "--token-stdin"), "Token of x", ("api.", "other.")),
}


def read(home: Path, group: str) -> str:
    """The secret that a call on the profile would get, or why it gets none."""
    with closing(Stores(home)) as stores:
        try:
            return secrets.read(stores, profiles.load(home, group, "x")) or ""
        except HelmError as error:
            assert error.code == "not_configured"
            return error.message


@pytest.mark.contract("C18")
@pytest.mark.parametrize("what", ["lost", "moved"])
@pytest.mark.parametrize("case", CASES)
def test_what_is_advised_works(helm: Helm, home: Path, case: str, what: str) -> None:
    words, question, (before, after) = CASES[case]
    assert helm(*words, env=FILE, stdin="first").status == 0
    group, credentials = words[0], home / "credentials.json"
    file = home / "profiles" / group / "x.toml"
    for number, (old, new) in enumerate(((before, after), (after, before))):
        if what == "lost":
            credentials.write_text("{}")
        else:
            file.write_text(file.read_text().replace(old, new))
        advice = ADVICE.search(read(home, group))
        assert advice is not None
        command, asked, piped = advice.groups()
        if number == 0:
            program = (sys.executable, "-m", "helm_cli", *command.split(), asked)
            with at_terminal(*program, env=FILE) as screen:
                screen.wait_for(question)
                screen.send(b"typed", ENTER)
                assert screen.status() == 0
        else:
            assert helm(*command.split(), piped, env=FILE, stdin="piped").status == 0
        assert read(home, group) == ("typed", "piped")[number]
