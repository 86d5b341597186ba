"""Whatever a plugin holds, reading it ends, raises nothing, and is valid exactly when it can be built.

HELM_TEST_LONG=1 tries 100,000 mutated files instead of 2,000.
"""

import os
import random
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helm_cli import dialects
from helm_cli.model.content import Content
from tests.dialects.yaml_samples import AGENT, FULL, SKILL, content

LONG: Final = os.environ.get("HELM_TEST_LONG") == "1"
SHORT_RUN: Final = 2_000
LONG_RUN: Final = 100_000
A_RUN: Final = 500

PIECES: Final = (
    *("*", "&a ", "*a", "!!str ", "! ", "<<: ", "? ", ": ", "- ", "\t", "\n", "\r", "\0", '"', "'", "|", ">", "%", "@"),
    *("[", "]", "{", "}", ",", "#", "`", "---\n", "...\n", "\ufeff", "\u2028", "\x85", "\U0001f680", "\\", "\x1b", "~"),
    *("null", "true", "on", "1e6", "017", "-1", "1.5", "''", "[]", "{}", "name: ", "ref: mcp:x", "  ", "risk: write"),
    *("\nname: a", "\n  - on: schedule", "cron: 0 14 * * MON", "allow: ['*']", "../", "agents/*.md", "\\ud800", "\\0"),
)


def check(copy: Content) -> bool:
    """Whether it is valid; what is said of it holds together either way."""
    reading = dialects.read(copy)
    assert (reading.extension is None) is bool(reading.faults)
    assert list(reading.faults) == sorted(set(reading.faults))
    for fault in reading.faults:
        lines = copy.files[fault.file].split(b"\n")
        assert 1 <= fault.line <= len(lines), fault
        assert 1 <= fault.column <= len(lines[fault.line - 1]) + 2, fault
        assert fault.message.isprintable() and fault.path.isprintable()
        f"{fault.path}{fault.message}".encode()
    if reading.extension is not None:
        assert dialects.build(copy) == reading.extension
        dialects.effective(copy)
    return reading.extension is not None


def mutated(text: str, chance: random.Random) -> bytes:
    """The text with one to four places changed: characters or lines dropped, doubled, swapped, or pieces put in."""
    for _ in range(chance.randint(1, 4)):
        text = chance.choice((_dropped, _put_in, _put_in, _put_over, _swapped, _doubled, _moved))(text, chance)
    data = bytearray(text.encode())
    if chance.random() < 0.1 and data:
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def _dropped(text: str, chance: random.Random) -> str:
    place = chance.randrange(len(text) + 1)
    return text[:place] + text[place + chance.randint(1, 9) :]


def _put_in(text: str, chance: random.Random) -> str:
    place = chance.randrange(len(text) + 1)
    return text[:place] + chance.choice(PIECES) + text[place:]


def _put_over(text: str, chance: random.Random) -> str:
    place = chance.randrange(len(text) + 1)
    return text[:place] + chance.choice(PIECES) + text[place + chance.randint(1, 5) :]


def _swapped(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[at], lines[other] = lines[other], lines[at]
    return "\n".join(lines)


def _doubled(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    return "\n".join(lines)


def _moved(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    lines[at] = " " * chance.randint(0, 8) + lines[at].lstrip()
    return "\n".join(lines)


def run(seed: int, files: int) -> int:
    """How many of so many mutated plugins were valid."""
    chance = random.Random(seed)
    valid = 0
    for _ in range(files):
        parts = {"plugin.yaml": FULL, "agents/writer.md": AGENT, "skills/style/SKILL.md": SKILL}
        changed = chance.choice(
            ("plugin.yaml", "plugin.yaml", "plugin.yaml", "agents/writer.md", "skills/style/SKILL.md")
        )
        data = {path: text.encode() for path, text in parts.items()} | {changed: mutated(parts[changed], chance)}
        valid += check(Content(data))
    return valid


@pytest.mark.contract("P36", "P38")
@pytest.mark.parametrize("seed", range((LONG_RUN if LONG else SHORT_RUN) // A_RUN))
def test_mutated_plugins(seed: int) -> None:
    valid = run(seed, A_RUN)
    # Both what is valid and what is not was tried.
    assert A_RUN // 50 < valid < A_RUN


@settings(max_examples=200)
@given(st.binary(max_size=60))
@example(b"[")
def test_bytes(data: bytes) -> None:
    check(content(data))


@settings(max_examples=200)
@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_scraps_of_yaml(pieces: list[str]) -> None:
    check(content("".join(pieces)))
    check(content(FULL, agents__writer="---\n" + "".join(pieces) + "\n---\nWrite.\n"))
