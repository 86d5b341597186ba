"""How the text of a draft is given: a file, or standard input, as UTF-8."""

import sys

from helm_cli.model.draft import MOST_BODY_BYTES
from helm_cli.model.errors import HelmError
from helm_cli.view.streams import piped_bytes


def read(word: str) -> str:
    """The text behind `@FILE` or `-`. Raises HelmError "usage" where it cannot be read, is no UTF-8 or too long."""
    if word == "-":
        if sys.stdin is not None and sys.stdin.isatty():
            raise HelmError("usage", "the text of a draft comes from a file, @FILE, or through a pipe")
        data = piped_bytes("the text of a draft", MOST_BODY_BYTES + 1)
    elif word.startswith("@"):
        data = _file(word[1:])
    else:
        raise HelmError("usage", "the text of a draft is given as @FILE, or - for standard input")
    if len(data) > MOST_BODY_BYTES:
        raise HelmError("usage", f"the text of a draft must have at most {MOST_BODY_BYTES // 1024} KiB")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise HelmError("usage", "the text of a draft is not UTF-8") from None


def _file(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return file.read(MOST_BODY_BYTES + 1)
    except OSError as error:
        raise HelmError("usage", f"{name} cannot be read: {(error.strerror or 'it failed').lower()}") from None
