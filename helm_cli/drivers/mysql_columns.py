"""How MariaDB, which has no type for JSON, still tells which columns are: by an addition to their descriptions."""

from dataclasses import dataclass, field
from typing import Final

# MARIADB_CLIENT_EXTENDED_METADATA, bit 35 of the capabilities (MariaDB, Client/Server Protocol, Connecting).
_ASKED_AT: Final = 28
_ASK: Final = 0x08
# Where the client says that it is MySQL's own, MariaDB does not look at its further capabilities.
_IS_MYSQL: Final = 0x01

_QUERY: Final = 0x03
_PREPARE: Final = 0x16
_MORE_RESULTS: Final = 0x08
# A description ends with a length and twelve bytes: character set, length, type, flags, decimals and filler.
_FIXED: Final = 13
_TYPE_AT: Final = 7
_JSON: Final = 245
_SAYS_JSON: Final = b"\x01\x04json"


def offered(rest: bytes) -> bool:
    """Whether a greeting, from the connection's number on, is one of MariaDB that can say more of its columns."""
    return not rest[13] & _IS_MYSQL and bool(rest[27] & _ASK)


def asking(payload: bytes) -> bytes:
    """The client's first words (the request for TLS, the sign-in) with the question for it."""
    words = bytearray(payload)
    words[0] &= ~_IS_MYSQL
    words[_ASKED_AT] |= _ASK
    return bytes(words)


@dataclass(slots=True)
class Columns:
    """Follows a conversation to find the descriptions in it, and turns each into one that MySQL would send.

    `expects` is what comes next: the answer to a query ("result") or a PREPARE ("prepared"), a "description", the
    "end" of a list of them, or "rows". `left` has how many descriptions each list still has.
    """

    expects: str = ""
    left: list[int] = field(default_factory=list)
    then: str = ""

    def asked(self, command: int) -> None:
        self.expects = {_QUERY: "result", _PREPARE: "prepared"}.get(command, "")

    def taken(self, payload: bytes) -> bytes:
        """The packet as `mysql.connector` should see it."""
        if self.expects == "description":
            self.left[0] -= 1
            self.expects = "description" if self.left[0] else "end"
            return _plain(payload)
        if self.expects == "end":
            self._lists(self.left[1:], self.then)
        elif self.expects == "prepared":
            columns, params = payload[5:7], payload[7:9]
            self._lists([int.from_bytes(count, "little") for count in (params, columns)] if not payload[0] else [], "")
        elif self.expects == "result":
            self._result(payload)
        elif self.expects == "rows" and (_is_end(payload) or payload[:1] == b"\xff"):
            self.expects = "result" if _is_end(payload) and payload[3] & _MORE_RESULTS else ""
        return payload

    def _result(self, payload: bytes) -> None:
        if payload[:1] in (b"\x00", b"\xff", b"\xfb"):
            self.expects = ""  # nothing that a query of ours can have follows an answer without columns
        else:
            self._lists([_integer(payload, 0)[0]], "rows")

    def _lists(self, counts: list[int], then: str) -> None:
        self.left, self.then = [count for count in counts if count], then
        self.expects = "description" if self.left else then


def _is_end(payload: bytes) -> bool:
    return payload[:1] == b"\xfe" and len(payload) < 9


def _plain(payload: bytes) -> bytes:
    at = 0
    for _ in range(6):  # catalog, database, table, the table's own name, name, the column's own name
        length, at = _integer(payload, at)
        at += length
    fixed = bytearray(payload[-_FIXED:])
    if _SAYS_JSON in payload[at:-_FIXED]:
        fixed[_TYPE_AT] = _JSON
    return payload[:at] + bytes(fixed)


def _integer(payload: bytes, at: int) -> tuple[int, int]:
    """A length-encoded integer and where it ends."""
    first = payload[at]
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}.get(first, 0)
    return (int.from_bytes(payload[at + 1 : at + 1 + size], "little") if size else first), at + 1 + size
