"""The words of mdoc(7), the language of man pages: text and shell lines escaped so that they are shown as they are."""

import re
from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Final

# Longer lines of a source are against its custom.
MOST_COLUMNS: Final = 78
_SENTENCE: Final = re.compile(r"(?<=[.!?])(?<![ .][a-z]\.) +(?=[^ ])")
# What would be shown as another character: a curly quote, an accent, a raised tilde.
_SHOWN_OTHERWISE: Final = {"\\": r"\e", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti", "-": r"\-"}
_CODE: Final = re.compile(r"^[\"(]*-|[/_=@<>|{}*~\\]|[a-z0-9]\.[a-z0-9]|^[A-Z_]+_")
_QUOTED: Final = re.compile(r"`([^`]*)`")
# Two or three letters of which the first is large may be a macro where macros stand.
_MACRO: Final = re.compile(r"[A-Z][a-z]{1,2}")


def code(text: str) -> str:
    """Text that is typed or read by programs: every character as it stands."""
    return "".join(_character(letter) for letter in text)


def prose(text: str) -> str:
    """A text of sentences: words that are code as such, the others with the hyphens and quotes of a printer."""
    # What stands between the marks, at every second place.
    parts = _QUOTED.split(text)
    return "".join(code(part) if number % 2 else _printed(part) for number, part in enumerate(parts))


def paragraph(text: str) -> Iterator[str]:
    """The lines of a paragraph's source, each sentence on lines of its own as is the custom."""
    for sentence in _SENTENCE.split(text):
        for line in wrap(prose(sentence), MOST_COLUMNS, break_long_words=False, break_on_hyphens=False):
            # A line that begins so would be taken as a request.
            yield rf"\&{line}" if line.startswith((".", "'")) else line


def argument(word: str) -> str:
    """A word after a macro, which is shown and is none itself."""
    text = code(word)
    return rf"\&{text}" if _MACRO.fullmatch(word) else text


def tagged(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A list of what something is called, in macros, and what it is."""
    yield ".Bl -tag -width Ds"
    for tag, text in rows:
        yield f".It {tag}"
        yield from paragraph(text)
    yield ".El"


def literal(lines: Iterable[str]) -> Iterator[str]:
    """Lines as they are typed."""
    yield ".Bd -literal -offset indent"
    for line in lines:
        text = code(line)
        yield rf"\&{text}" if text.startswith((".", r"\(aq")) else text
    yield ".Ed"


def _printed(text: str) -> str:
    return " ".join(code(word) if _CODE.search(word) else _with_signs(word) for word in text.split(" "))


def _with_signs(word: str) -> str:
    """A word of which only what is no ASCII is written by its number."""
    return "".join(letter if letter.isascii() else _character(letter) for letter in word)


def _character(letter: str) -> str:
    if letter in _SHOWN_OTHERWISE:
        return _SHOWN_OTHERWISE[letter]
    return letter if letter.isascii() else rf"\[u{ord(letter):04X}]"
