"""How values of JSON become parameters that a Postgres statement takes, whatever types it gives them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from helm_cli.drivers import postgres_statement
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.postgres_wire import Link, ServerError, answers, send
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import Scalar

BOOL, INT8, INT2, INT4, TEXT, JSONB, FLOAT8, DATE, TIMESTAMPTZ, NUMERIC, UUID = (
    16, 20, 21, 23, 25, 3802, 701, 1082, 1184, 1700, 2950,
)  # fmt: skip
_INTEGERS: Final = {INT2: 2**15, INT4: 2**31, INT8: 2**63}
_NUMBERS: Final = (*_INTEGERS, NUMERIC, 700, FLOAT8, 26)

# What a parameter of unknown type may be, in the order tried.
_LADDER: Final = (TEXT, INT4, INT8, NUMERIC, BOOL, TIMESTAMPTZ, DATE, UUID, JSONB, FLOAT8)

# ambiguous, indeterminate and mismatched types of parameters; ambiguous and undefined functions and operators.
_UNDECIDED: Final = ("42P08", "42P18", "42804", "42725")
_NO_SUCH: Final = "42883"

_NAMED: Final = re.compile(r"\$([0-9]+)")
# "operator does not exist: mood = text": what stands beside a type tells what the parameter should be.
_OPERANDS: Final = re.compile(r": (.+) [-+*/<>=~!@#%^&|`?]+ (.+)$")
_MOST_TRIES: Final = 40


class Described(NamedTuple):
    """A prepared statement: the types (OIDs) of its parameters, the name and type of each of its columns."""

    parameters: tuple[int, ...]
    columns: tuple[tuple[str, int], ...]


@dataclass(slots=True)
class _Guess:
    """One parameter whose type the server left open: what was not tried yet."""

    index: int
    untried: Iterator[int]
    tried: set[int] = field(default_factory=set)


def prepare(
    link: Link, sql: str, values: list[Scalar], effect: Effect, clock: Deadline, again: Callable[[], None]
) -> Described:
    """Has the server parse and describe the one statement, and nothing run; it is the unnamed statement then.

    The parameters are untyped first, so that the server takes each for what its place needs. Where it cannot,
    types are tried. `again` begins a new transaction after an error. Raises ServerError: the first that came.
    """
    described = _with_guesses(link, sql, values, clock, again)
    _refuse_rounding(sql, values, described.parameters, effect)
    wider = _widened(described.parameters, values, effect)
    if wider is None:
        return described
    try:
        return parsed(link, sql, wider, clock)
    except ServerError:
        if any(map(_fraction, values)) and NUMERIC in wider:
            _refuse_fractions(values, described.parameters)
        again()
        return parsed(link, sql, described.parameters, clock)


def _refuse_rounding(sql: str, values: list[Scalar], types: tuple[int, ...], effect: Effect) -> None:
    for at, (value, oid) in enumerate(zip(values, types, strict=False)):
        if _fraction(value) and postgres_statement.rounded(sql, at + 1, effect, integer=oid in _INTEGERS):
            raise _rounding(at)


def _refuse_fractions(values: list[Scalar], types: tuple[int, ...]) -> None:
    for at, (value, oid) in enumerate(zip(values, types, strict=True)):
        if _fraction(value) and oid in _INTEGERS:
            raise _rounding(at)


def _rounding(at: int) -> HelmError:
    return HelmError("refused", f"${at + 1} takes an integer, and its value is a fraction; give a whole number")


def _fraction(value: Scalar) -> bool:
    return isinstance(value, float) and not value.is_integer()


def encode(values: list[Scalar], types: tuple[int, ...]) -> list[bytes | None]:
    """Each value as the text that the server reads for its parameter's type."""
    return [None if value is None else _text(value, oid).encode() for value, oid in zip(values, types, strict=True)]


def _with_guesses(link: Link, sql: str, values: list[Scalar], clock: Deadline, again: Callable[[], None]) -> Described:
    types: list[int] = []
    first: ServerError | None = None
    guess: _Guess | None = None
    for _ in range(_MOST_TRIES):
        try:
            return parsed(link, sql, types, clock)
        except ServerError as error:
            first = first or error
            again()
            guess = _next_guess(error, guess, types, values)
            oid = next(_candidates(link, error, guess, clock), None) if guess else None
        if guess is None or oid is None:
            break
        guess.tried.add(oid)
        types += [0] * (guess.index + 1 - len(types))
        types[guess.index] = oid
    raise first or ServerError("", "")


def _next_guess(error: ServerError, guess: _Guess | None, types: list[int], values: list[Scalar]) -> _Guess | None:
    """Which parameter to give another type, None where none can help."""
    if error.sqlstate not in _UNDECIDED:
        if error.sqlstate != _NO_SUCH:
            return None
        return guess or _guess_of_an_operand(error, types, values)
    named = _NAMED.search(error.message)
    if named:
        index = int(named[1]) - 1
    else:
        index = next((at for at in range(len(values)) if at >= len(types) or not types[at]), -1)
    if guess is not None and (index in (guess.index, -1)):
        return guess
    return _Guess(index, _by_value(values[index])) if 0 <= index < len(values) else None


def _guess_of_an_operand(error: ServerError, types: list[int], values: list[Scalar]) -> _Guess | None:
    """A text beside a timestamp is one for the server, also where a span is meant: `ts > now() - $1`."""
    if not _OPERANDS.search(error.message):
        return None
    texts = [at for at, value in enumerate(values) if isinstance(value, str) and not any(types[at : at + 1])]
    return _Guess(texts[0], iter(())) if texts else None


def _by_value(value: Scalar) -> Iterator[int]:
    if isinstance(value, bool):
        yield BOOL
    elif isinstance(value, int):
        yield next((oid for oid in (INT4, INT8) if _fits(value, oid)), NUMERIC)
    elif isinstance(value, float):
        yield FLOAT8
    yield from _LADDER


def _candidates(link: Link, error: ServerError, guess: _Guess, clock: Deadline) -> Iterator[int]:
    operands = _OPERANDS.search(error.message) if error.sqlstate == _NO_SUCH else None
    names = operands.groups() if operands else ()
    for oid in _types_named(link, [name for name in names if name != "unknown"], clock):
        if oid not in guess.tried:
            yield oid
    for oid in guess.untried:
        if oid not in guess.tried:
            yield oid


def _types_named(link: Link, names: list[str], clock: Deadline) -> list[int]:
    if not names:
        return []
    sql = "SELECT " + ", ".join(f"pg_catalog.to_regtype(${n + 1})::pg_catalog.oid" for n in range(len(names)))
    send(link.conn.send_query_params, sql.encode(), [name.encode() for name in names])
    try:
        (result,) = answers(link, clock)
    except ServerError:
        return []  # what the message held was no type; the next statement fails, and the first error is told
    values = [result.get_value(0, column) for column in range(result.nfields)]
    return [int(value) for value in values if value is not None]


def parsed(link: Link, sql: str, types: Sequence[int], clock: Deadline) -> Described:
    """The one statement, parsed and described with these types, 0 for any. Raises ServerError."""
    send(link.conn.send_prepare, b"", sql.encode(), types)
    try:
        for _ in answers(link, clock):
            pass
    except ServerError as error:
        error.parsing = True
        raise
    send(link.conn.send_describe_prepared, b"")
    described = Described((), ())
    for result in answers(link, clock):
        described = Described(
            tuple(result.param_type(index) for index in range(result.nparams)),
            tuple(
                ((result.fname(column) or b"").decode("utf-8", "replace"), result.ftype(column))
                for column in range(result.nfields)
            ),
        )
    return described


def _widened(types: tuple[int, ...], values: list[Scalar], effect: Effect) -> list[int] | None:
    """Types that hold numbers which the server's own choice cannot, None where it can.

    A fraction in place of an integer may be compared, but not stored: the server would round it.
    """
    if len(types) != len(values):
        return None
    wider = [_wide_enough(value, oid, effect) for value, oid in zip(values, types, strict=True)]
    return None if tuple(wider) == types else wider


def _wide_enough(value: Scalar, oid: int, effect: Effect) -> int:
    if oid not in _INTEGERS or isinstance(value, bool) or not isinstance(value, int | float):
        return oid
    if _fraction(value):
        return NUMERIC if effect == "read" else oid
    whole = int(value)
    return next((wider for wider in (oid, INT4, INT8) if _fits(whole, wider)), NUMERIC)


def _fits(value: int, oid: int) -> bool:
    return -_INTEGERS[oid] <= value < _INTEGERS[oid]


def _text(value: bool | int | float | str, oid: int) -> str:
    if isinstance(value, bool):
        return str(int(value)) if oid in _NUMBERS else "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and oid in (*_INTEGERS, BOOL):
        return str(int(value))
    return value if isinstance(value, str) else repr(value)
