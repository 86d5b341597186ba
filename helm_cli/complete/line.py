"""What the words of a command line say that is not finished: its arguments, its options, as far as they go."""

from typing import Final, NamedTuple

# The options without a value of the commands whose arguments say what may follow. Every other option takes one.
FLAGS: Final = frozenset(
    [
        *("-h", "--help", "-q", "--quiet", "-v", "--verbose", "--wait", "--wait-rate", "--dry-run", "--stdin"),
        *("--remove", "--anyone", "--all", "--list", "--watch", "--decline"),
    ]
)
# The commands that stand alone; any other is a word below a group's.
_ALONE: Final = ("call", "confirm", "history")


class Line(NamedTuple):
    """`arguments` are those of the command; `options` have all values that each was given, "" for a flag."""

    arguments: tuple[str, ...]
    options: dict[str, list[str]]

    def value(self, name: str) -> str | None:
        """What this option was given last."""
        return self.options.get(name, [None])[-1]

    def argument(self, at: int) -> str | None:
        return self.arguments[at] if at < len(self.arguments) else None


def read(words: list[str]) -> Line:
    """The line of these words, without the program's name and without the word at the cursor."""
    plain: list[str] = []
    options: dict[str, list[str]] = {}
    left = iter(words)
    for word in left:
        if word == "--":
            plain += left
        elif word.startswith("--") and "=" in word:
            name, _, value = word.partition("=")
            options.setdefault(name, []).append(value)
        elif word.startswith("-") and word != "-":
            options.setdefault(word, []).append("" if word in FLAGS else next(left, ""))
        else:
            plain.append(word)
    return Line(tuple(plain[1 if plain[:1] and plain[0] in _ALONE else 2 :]), options)
