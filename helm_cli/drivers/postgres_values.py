"""How the text that Postgres sends for each type becomes JSON without loss."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

from helm_cli.drivers import postgres_arrays
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.postgres_wire import Link, answers, send
from helm_cli.model import jsontext
from helm_cli.model.jsontext import Json

Decoder = Callable[[str], Json]

_PLAIN: Final = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d)?(:\d\d(?::\d\d)?)?", re.ASCII)
_PLAIN_TIME: Final = re.compile(r"(\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d)(:\d\d(?::\d\d)?)?", re.ASCII)
_ESCAPED: Final = re.compile(rb"\\([0-7]{3}|\\)")

# What a number looks like that need not be what a double makes of it.
_INEXACT: Final = re.compile(r"[0-9][.eE][-+0-9]|-0", re.ASCII)

# The arrays that the server comes with, by the type of their elements.
_ARRAYS: Final = {
    16: 1000, 17: 1001, 18: 1002, 19: 1003, 20: 1016, 21: 1005, 23: 1007, 25: 1009, 26: 1028, 28: 1011, 29: 1012,
    114: 199, 142: 143, 650: 651, 700: 1021, 701: 1022, 790: 791, 829: 1040, 774: 775, 869: 1041, 1042: 1014,
    1043: 1015, 1082: 1182, 1083: 1183, 1114: 1115, 1184: 1185, 1186: 1187, 1266: 1270, 1560: 1561, 1562: 1563,
    1700: 1231, 2950: 2951, 3802: 3807, 3220: 3221, 4072: 4073, 5069: 271,
}  # fmt: skip

# The least OID of a type that is not the server's own.
_FOREIGN: Final = 16384

# Arrays of others: each with its delimiter and what its elements are once domains are taken away. Enumerations and
# base types are scalars. Every name is qualified, for a search_path may lead anywhere.
_LOOK_UP: Final = """
WITH RECURSIVE bare AS (
  SELECT a.oid AS asked, e.oid AS element, e.typtype, e.typbasetype, e.typelem, e.typlen, e.typdelim
  FROM pg_catalog.pg_type a JOIN pg_catalog.pg_type e ON e.oid OPERATOR(pg_catalog.=) a.typelem
  WHERE a.oid OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.oid[])
    AND a.typcategory OPERATOR(pg_catalog.=) 'A'::pg_catalog."char"
  UNION ALL
  SELECT b.asked, e.oid, e.typtype, e.typbasetype, e.typelem, e.typlen, e.typdelim
  FROM bare b JOIN pg_catalog.pg_type e ON e.oid OPERATOR(pg_catalog.=) b.typbasetype
  WHERE b.typtype OPERATOR(pg_catalog.=) 'd'::pg_catalog."char")
SELECT asked, element, typdelim FROM bare
WHERE typtype OPERATOR(pg_catalog.=) ANY (ARRAY['b', 'e']::pg_catalog."char"[])
  AND NOT (typelem OPERATOR(pg_catalog.<>) 0::pg_catalog.oid AND typlen OPERATOR(pg_catalog.=) (-1)::pg_catalog.int2)
"""


def foreign(types: Sequence[int]) -> list[int]:
    """Those of the types that are not the server's own."""
    return sorted({oid for oid in types if oid >= _FOREIGN})


def decoders(link: Link, types: Sequence[int], clock: Deadline) -> list[Decoder]:
    """What reads each column of these types. Asks the server where some are foreign: no statement stays prepared."""
    asked = foreign(types)
    found = _foreign_arrays(link, asked, clock) if asked else {}
    return [found[oid] if oid in found else decoder(oid) for oid in types]


def decoder(oid: int) -> Decoder:
    """What reads a value of one of the server's own types; the text itself where JSON has no type for it."""
    element = _ELEMENTS.get(oid)
    return _array(element, ",") if element is not None else _SCALARS.get(oid, str)


def _foreign_arrays(link: Link, types: list[int], clock: Deadline) -> dict[int, Decoder]:
    asked = "{" + ",".join(map(str, types)) + "}"
    send(link.conn.send_query_params, _LOOK_UP.encode(), [asked.encode()])
    found: dict[int, Decoder] = {}
    for result in answers(link, clock):
        for row in range(result.ntuples):
            oid, element, delimiter = (result.get_value(row, column) or b"" for column in range(3))
            found[int(oid)] = _array(int(element), delimiter.decode())
    return found


def _array(element: int, delimiter: str) -> Decoder:
    read = _SCALARS.get(element, str)

    def decode(text: str) -> Json:
        try:
            return postgres_arrays.parse(text, read, delimiter)
        except ValueError:
            return text

    return decode


def _float(text: str) -> Json:
    return text if text[-1:] in "Ny" else float(text)  # NaN, Infinity and -Infinity are told as they are


def _bytes(text: str) -> Json:
    if text.startswith("\\x"):
        return b64encode(bytes.fromhex(text[2:])).decode("ascii")
    raw = _ESCAPED.sub(lambda match: b"\\" if match[1] == b"\\" else bytes([int(match[1], 8)]), text.encode())
    return b64encode(raw).decode("ascii")


def _json(text: str) -> Json:
    try:
        value = jsontext.parse(text)
        if _INEXACT.search(text):
            json.loads(text, parse_float=_exact, parse_int=_exact)
    except (ValueError, ArithmeticError):
        return text  # a key that stands twice, or a number that no double is: only the text keeps it
    return value


def _exact(number: str) -> None:
    """Raises ValueError or ArithmeticError where the number that JSON will have is another."""
    if number == "-0" or (not number.lstrip("-").isdigit() and Decimal(number) != Decimal(repr(float(number)))):
        raise ValueError(number)


def _moment(text: str) -> Json:
    plain = _PLAIN.fullmatch(text)
    if plain is None:
        return text  # infinity, a year before Christ, a year of five digits
    day, time, offset, minutes = plain.groups()
    return f"{day}T{time}{offset + (minutes or ':00') if offset else ''}"


def _time_of_zone(text: str) -> Json:
    plain = _PLAIN_TIME.fullmatch(text)
    return plain[1] + (plain[2] or ":00") if plain else text


_SCALARS: Final[dict[int, Decoder]] = {
    16: lambda text: text == "t",
    17: _bytes,
    21: int,
    23: int,
    26: int,
    114: _json,
    700: _float,
    701: _float,
    1114: _moment,
    1184: _moment,
    1266: _time_of_zone,
    3802: _json,
}
_ELEMENTS: Final = {array: element for element, array in _ARRAYS.items()}
