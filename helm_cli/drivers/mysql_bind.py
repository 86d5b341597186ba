"""How a statement and its values are written for MySQL so that nothing in them can be taken for SQL."""

from collections.abc import Sequence
from typing import Final

from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Scalar

# The longest DECIMAL; a longer integer would lose digits on its way into a variable.
_MOST_DIGITS: Final = 65

PREPARE: Final = "PREPARE helm_statement FROM @helm_statement"


def assignment(sql: str, values: Sequence[Scalar], *, exact: bool = False) -> str:
    """Sets the variables that PREPARE and `execution` use.

    Text is written in hexadecimal: that is right in every SQL mode. The server's own PREPARE finds the
    placeholders, so a `?` in a string, a comment or a name stays what it is. With `exact` a fraction is a DECIMAL,
    of which the server remarks that a column cuts it, and else a DOUBLE, which it rounds in silence.
    """
    written = [f"@helm_statement = {_literal(sql, exact)}"]
    written += [f"@helm_{index} = {_literal(value, exact)}" for index, value in enumerate(values)]
    return "SET " + ", ".join(written)


def execution(count: int) -> str:
    """Runs what was prepared with its `count` values."""
    using = ", ".join(f"@helm_{index}" for index in range(count))
    return "EXECUTE helm_statement" + (f" USING {using}" if using else "")


def check(values: Sequence[Scalar]) -> None:
    """HelmError "refused" where a value has no MySQL type."""
    for value in values:
        if isinstance(value, int) and len(str(abs(value))) > _MOST_DIGITS:
            raise HelmError("refused", f"an argument is an integer of more than {_MOST_DIGITS} digits")


def _literal(value: Scalar, exact: bool) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        digits = repr(value)
        return digits if exact or "e" in digits else digits + "e0"  # else it would be a DECIMAL
    return f"_utf8mb4 x'{value.encode().hex()}'"
