"""Texts that act on a terminal or hide in one, and how to tell that nothing of them reached it as it was."""

import re
import unicodedata
from typing import Final

from helm_cli.view.terminal import KNOWN_STATE, LEFT_STATE

# What each does where a terminal gets it as it is.
TEXTS: Final[dict[str, str]] = {
    "colour": "\x1b[31;5mred",
    "clear": "\x1b[2J\x1b[H\x1b[3J",
    "move": "\x1b[99A\x1b[99D",
    "other screen": "\x1b[?1049h",
    "reset": "\x1bc",
    "title": "\x1b]0;pwned\x07",
    "link": "\x1b]8;;https://evil.example.com\x1b\\here\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "answer back": "\x1b[6n\x1b[c\x05\x1b]10;?\x07",
    "keys": '\x1b[?2004h\x1b[>4;2m\x1bP+q544e\x1b\\\x1b[0;97;"rm"p',
    "sixel": "\x1bPq#0;2;0;0;0~-\x1b\\",
    "kitty picture": "\x1b_Gf=24,s=1,v=1;AAAA\x1b\\",
    "iterm picture": "\x1b]1337;File=inline=1:AAAA\x07",
    "line drawing": "\x1b(0lqk\x0e",
    "scroll region": "\x1b[1;2r",
    "eight-bit csi": "\x9b31m\x9d0;x\x9c\x90q\x9c",
    "bell": "\x07\x07",
    "overprint": "safe\rrm -rf /",
    "erase": "safe\b\b\b\bevil",
    "delete": "\x7f\x7f",
    "nul": "a\0b",
    "vertical": "\v\f",
    "bidi override": "\u202egpj.exe\u202c",
    "bidi isolate": "\u2067x\u2069\u2066",
    "arabic mark": "\u061c\u200e\u200f",
    "zero width": "a\u200bb\u200cc\u200dd\ufeff\u2060",
    "soft hyphen": "pass\u00adword",
    "separators": "a\u2028b\u2029c\x85d",
    "blanks": "a\u00a0b\u2003c\u3164d\u2800e\u115f",
    "combining": "e" + "\u0301" * 50,
    "variations": "x\ufe0f\ufe0ey\U000e0101",
    "tags": "\U000e0041\U000e0042\U000e007f",
    "private": "\ue000\U000f0000",
    "unassigned": "\u0378\U0003fffe",
    "interlinear": "\ufff9a\ufffab\ufffb",
    "wide": "\u65e5\u672c\u8a9e \U0001f680",
    "written escape": "\\u{1b}[2J",
    "markup": "[bold red]x[/] [link=https://evil.example.com]y[/link] %s {0} $(id) `id`",
}
# All in one line, each with its name before it, by which it is found again.
LINE: Final = " ".join(f"<{name}>{text}" for name, text in TEXTS.items())
# No text can carry it, but JSON can write it.
SURROGATE: Final = "\ud83d"
LONG: Final = "\x1b[2J" + "long" * 25_000

# What helm itself may send: colours; of a dialog and its frame, where things stand; the states of `view.terminal`.
_COLOUR: Final = r"\x1b\[[0-9;]*m"
_OF_A_DIALOG: Final = r"\x1b\[[0-9;]*[ABCDGHJK]|\x1b\[\?(?:7|25|12|2004|1)[hl]|\x1b\[6n|\x1b\[0? q|\r(?!\r*\n)"
_STATES: Final = "|".join(re.escape(state) for state in (KNOWN_STATE, LEFT_STATE))
_HIDDEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_BLANK: Final = frozenset("\u00a0\u2003\u3164\u2800\u115f\u1160\uffa0")


def acting(sent: str, *, dialog: bool) -> str:
    """What acts or hides in what a terminal was sent, "" for nothing; `dialog` lets helm's own frame through."""
    allowed = f"{_STATES}|{_COLOUR}|{_OF_A_DIALOG}" if dialog else _COLOUR
    # A line of CSV ends with CR LF, to which the terminal adds one more.
    left = re.sub(r"\r+\n", "\n", re.sub(allowed, "", sent))
    found = [char for char in left if _acts(char) and char not in "\n\t"]
    piles = re.findall(r"(?:[\u0300-\u036f]){4,}", left)
    return "".join(dict.fromkeys([*found, *piles]))


def _acts(char: str) -> bool:
    return unicodedata.category(char) in _HIDDEN or char in _BLANK or 0xFE00 <= ord(char) <= 0xFE0F


def missing(sent: str, names: tuple[str, ...] = tuple(TEXTS)) -> list[str]:
    """The names of the texts that are not to be seen, wherever a line was broken in them."""
    seen = re.sub(r"\s+|\x1b\[[0-9;]*m", "", sent)
    return [name for name in names if f"<{name}>".replace(" ", "") not in seen]
