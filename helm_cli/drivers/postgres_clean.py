"""Whether a session is as it was after a read, as far as DISCARD ALL does not make it so."""

from typing import Final

from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.postgres_wire import Link, answers, send
from helm_cli.grammar.sql import tokens

# A function can set a variable or a seed, load a library and open connections of its own, all of which stays. So
# the statement may name no function, operator or relation in which one could hide: of the server's own only what
# is not volatile, and no view, for its rules are not in the statement. `to_xml` runs the text that it is given.
_CHECK: Final = """
BEGIN READ ONLY; SET LOCAL search_path = pg_catalog; SELECT NOT EXISTS (
    SELECT FROM pg_proc WHERE proname = ANY ({names})
    AND (oid >= 16384 OR provolatile = 'v' OR proname LIKE '%to_xml%' OR proname LIKE 'ts_%'))
  AND NOT EXISTS (SELECT FROM pg_class c WHERE c.relname = ANY ({names}) AND c.oid >= 16384
    AND (c.relkind NOT IN ('r', 'p', 'i', 'I', 'S', 'c', 't') OR c.relrowsecurity OR c.relhassubclass))
  AND NOT EXISTS (SELECT FROM pg_operator WHERE oprname = ANY ({operators}) AND oid >= 16384)
  AND NOT EXISTS (SELECT FROM pg_type WHERE typname = ANY ({names}) AND oid >= 16384 AND typtype IN ('b', 'd'))
  AND NOT EXISTS (SELECT FROM pg_cast WHERE oid >= 16384); ROLLBACK
"""
# A longer name is cut by the server.
_LONGEST: Final = 63


def leaves_nothing(link: Link, sql: str, clock: Deadline) -> bool:
    """Whether a read can have left nothing in its session, by what it names; in doubt it can.

    Between two transactions. Raises what `answers` does.
    """
    names, operators = set[str](), set[str]()
    for token in tokens(sql, "postgres"):
        if token.kind in ("word", "name"):
            name = token.text.lower() if token.kind == "word" else token.text[1:-1].replace('""', '"')
            if len(name) > _LONGEST or not name.isascii() or "\\" in name:
                return False
            names.add(name)
        elif token.kind == "operator":
            operators.add(token.text)
    if "u" in names and "&" in operators:  # U&"…" may write a name in other characters
        return False
    check = _CHECK.format(names=_array(names), operators=_array(operators))
    send(link.conn.send_query, check.encode())
    told = [result.get_value(0, 0) for result in answers(link, clock) if result.ntuples]
    return told == [b"t"]


def _array(texts: set[str]) -> str:
    quoted = ", ".join("'" + text.replace("'", "''") + "'" for text in sorted(texts))  # without any backslash
    return f"ARRAY[{quoted}]::pg_catalog.name[]"
