"""Which files of a plugin are its agents and skills, and how each parts into front matter and instructions."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from helm_cli.dialects import coding, shapes, yaml_document
from helm_cli.dialects.yaml_document import Document, SourceFault
from helm_cli.grammar import glob
from helm_cli.model.content import Content
from helm_cli.model.plugin import Instructions

AGENTS: Final = ("agents/*.md",)
SKILLS: Final = ("skills/*/SKILL.md",)
MOST_BYTES: Final = 256 * 1024

_RULE: Final = re.compile(r"---[ \t]*\r?\n")
_CLOSING: Final = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
# Characters of globs times those of paths: what is compared while nobody notices.
_MOST_COMPARED: Final = 4_000_000


class Parted(NamedTuple):
    """A Markdown file in its parts; `closing` is the line that ends the front matter."""

    front: Document
    body: str
    closing: int


def matched(content: Content, globs: Iterable[str]) -> tuple[str, ...]:
    """The paths of the files that valid globs match, sorted. Raises ValueError for more than can be compared soon."""
    marked = [pattern for pattern in globs if set(pattern) & {"*", "?"}]
    if sum(map(len, marked)) * sum(map(len, content.files)) > _MOST_COMPARED:
        raise ValueError("more globs than helm compares with so many files")
    plain = {pattern for pattern in globs if pattern in content.files}
    return tuple(sorted(path for path in content.files if path in plain or _any(marked, path)))


def _any(patterns: Iterable[str], path: str) -> bool:
    return any(glob.matches(pattern, path) for pattern in patterns)


def parted(data: bytes) -> Parted | SourceFault:
    """The parts of a file of instructions, or why it has none."""
    coded = coding.fault(data)
    if coded is not None:
        line, column, message = coded
        return SourceFault(line, column, (), message)
    text = data.decode("utf-8")
    opening = _RULE.match(text)
    if opening is None:
        told = "the file must begin with front matter: a line ---, fields such as description, and another line ---"
        return SourceFault(1, 1, (), told)
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        return SourceFault(1, 1, (), "the front matter is never closed; end it with a line ---")
    front = text[opening.end() : closing.start()]
    if len(front) > MOST_BYTES:
        return SourceFault(1, 1, (), f"the front matter has more than {MOST_BYTES:,} characters")
    line = text.count("\n", 0, closing.start()) + 1
    return Parted(yaml_document.read(front, 1), text[closing.end() :].strip(), line)


def instructions(path: str, data: bytes) -> Instructions:
    """The instructions of a file that was found valid before. Raises ValueError or TypeError."""
    found = parted(data)
    if isinstance(found, SourceFault) or found.front.faults:
        raise ValueError("no file of instructions")
    front = {} if found.front.value is None else shapes.mapping(found.front.value)
    called = shapes.text(front.get("name", path.rpartition("/")[2].removesuffix(".md")))
    return Instructions(path, called, shapes.text(front.get("description", "")), found.body)
