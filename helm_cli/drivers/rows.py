"""How the rows of any database are counted while they are fetched, so that memory stays flat."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from helm_cli.drivers import Limits
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json, dump


def collect(
    columns: list[str], source: Iterable[Sequence[Any]], convert: Callable[[Any], Json], limits: Limits
) -> dict[str, Json]:
    """`{"columns", "rows"}` with each value converted; stops at the first row past a limit.

    `bytes` of the limits is the UTF-8 length of `rows` as the envelope holds it. HelmError "too_many_rows" or
    "too_large": a result is never cut (contract, Database, Limits).
    """
    rows: list[Json] = []
    size = len("[]")
    for raw in source:
        if len(rows) == limits.rows:
            raise HelmError("too_many_rows", f"the query returns more than {limits.rows} rows; add a LIMIT to it")
        if any(isinstance(value, str | bytes) and len(value) > limits.bytes for value in raw):
            raise too_large(limits)
        row: list[Json] = [convert(value) for value in raw]
        size += len(dump(row).encode()) + (1 if rows else 0)
        if size > limits.bytes:
            raise too_large(limits)
        rows.append(row)
    return {"columns": list(columns), "rows": rows}


def too_large(limits: Limits) -> HelmError:
    """The error of a result beyond `limits.bytes`."""
    return HelmError(
        "too_large", f"the query returns more than {limits.bytes} bytes of row data; select less or add a LIMIT"
    )
