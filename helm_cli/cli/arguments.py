"""How the words of a command line become the arguments of a call (design, section 5)."""

from typing import Final

from helm_cli.model import jsontext
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.view.streams import piped_bytes

# A call's arguments are small; more than this on a stream is a mistake, not an argument.
MOST_BYTES: Final = 16 * 1024 * 1024


def collect(pairs: list[str], texts: list[str], whole: str | None) -> dict[str, Json]:
    """The arguments of a call from `--arg`, `--arg-str` and `--args` together. Raises HelmError "usage"."""
    found: dict[str, Json] = {} if whole is None else _object(whole)
    for option, words in (("--arg", pairs), ("--arg-str", texts)):
        for word in words:
            name, equals, value = word.partition("=")
            if not equals or not name:
                raise HelmError("usage", f"{option} takes NAME=VALUE, as in {option} status=open")
            if name in found:
                raise HelmError("usage", f"the argument {name} is given twice; give it once")
            found[name] = typed(value) if option == "--arg" else value
    try:
        jsontext.dump(found).encode()
    except UnicodeEncodeError:
        raise HelmError("usage", "an argument is not UTF-8; write it in UTF-8") from None
    return found


def typed(value: str) -> Json:
    """A JSON number, true, false or null where the text is exactly what JSON prints for it, else the text.

    So 20 is a number, and 007, 1.10 and 1e5 are text.
    """
    if value[:1] in ("-", "t", "f", "n") or value[:1].isdecimal():
        try:
            parsed = jsontext.parse(value)
        except ValueError:
            return value
        if not isinstance(parsed, str | list | dict) and jsontext.dump(parsed) == value:
            return parsed
    return value


def _object(whole: str) -> dict[str, Json]:
    try:
        value = jsontext.parse(given("--args", whole))
    except ValueError as error:
        raise HelmError("usage", f"--args: {error}") from None
    if not isinstance(value, dict):
        raise HelmError("usage", "--args takes one JSON object")
    return value


def given(option: str, word: str) -> str | bytes:
    """What an option was given: its own text, the content of @FILE, or standard input for "-". HelmError "usage"."""
    if word == "-":
        text: str | bytes = piped_bytes(option, MOST_BYTES + 1)
    elif word.startswith("@"):
        text = _file(option, word[1:])
    else:
        text = word
    if len(text) > MOST_BYTES:
        raise HelmError("usage", f"{option} is over {MOST_BYTES} bytes; give less")
    return text


def _file(option: str, name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise HelmError("usage", f"{option}: {name} cannot be read: {(error.strerror or 'error').lower()}") from None
