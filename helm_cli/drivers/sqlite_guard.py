"""What a declared SQLite statement may do besides reading and writing rows: the authorizer."""

import sqlite3
from typing import Final

from helm_cli.model.extension import Effect

# The read-only open mode alone still lets these through: they reach other files, hold locks, or change how
# the connection behaves.
_NEVER: Final = {
    sqlite3.SQLITE_ATTACH: "ATTACH",
    sqlite3.SQLITE_DETACH: "DETACH",
    sqlite3.SQLITE_TRANSACTION: "BEGIN, COMMIT or ROLLBACK",
    sqlite3.SQLITE_SAVEPOINT: "a savepoint",
}
_NEVER_IN_A_READ: Final = {
    sqlite3.SQLITE_CREATE_TEMP_INDEX: "a temporary index",
    sqlite3.SQLITE_CREATE_TEMP_TABLE: "a temporary table",
    sqlite3.SQLITE_CREATE_TEMP_TRIGGER: "a temporary trigger",
    sqlite3.SQLITE_CREATE_TEMP_VIEW: "a temporary view",
    sqlite3.SQLITE_DROP_TEMP_INDEX: "a temporary index",
    sqlite3.SQLITE_DROP_TEMP_TABLE: "a temporary table",
    sqlite3.SQLITE_DROP_TEMP_TRIGGER: "a temporary trigger",
    sqlite3.SQLITE_DROP_TEMP_VIEW: "a temporary view",
    sqlite3.SQLITE_CREATE_VTABLE: "a new virtual table",
    sqlite3.SQLITE_DROP_VTABLE: "DROP TABLE",
}
# What a write is, where it is declared as a read.
NO_READ: Final = "anything but SELECT, VALUES, EXPLAIN and reading PRAGMAs"
# Everything else could follow within a read too: declaring a virtual table (FTS, R-Tree, json_each) fires
# UPDATE, INSERT and DELETE within a SELECT. So what a read is shows in how it begins.
_READS_BEGIN_WITH: Final = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_PRAGMA)
_SAY_NOTHING: Final = (sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)  # an UPDATE may begin with them

# FTS5 asks for data_version, FTS4 for page_size, in writes too. database_list is missing: it tells the path.
_PRAGMAS: Final = frozenset({
    "application_id", "auto_vacuum", "collation_list", "compile_options", "data_version", "encoding",
    "foreign_keys", "freelist_count", "function_list", "journal_mode", "max_page_count", "module_list",
    "page_count", "page_size", "pragma_list", "schema_version", "user_version",
})  # fmt: skip
_PRAGMAS_WITH_ARGUMENT: Final = frozenset({
    "foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo", "integrity_check",
    "quick_check", "table_info", "table_list", "table_xinfo",
})  # fmt: skip
_FUNCTIONS: Final = frozenset(("load_extension", "fts3_tokenizer"))


class Guard:
    """An authorizer for `Connection.set_authorizer`, for one statement; `denied` says what it refused last."""

    __slots__ = ("begun", "denied", "effect")

    def __init__(self, effect: Effect) -> None:
        self.effect = effect
        self.begun = False
        self.denied: str | None = None

    def __call__(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        denied = self._fault(action, first, second)
        self.begun = self.begun or action in _READS_BEGIN_WITH
        if denied is None:
            return sqlite3.SQLITE_OK
        self.denied = denied
        return sqlite3.SQLITE_DENY

    def _fault(self, action: int, first: str | None, second: str | None) -> str | None:
        if action == sqlite3.SQLITE_PRAGMA:
            return _pragma_fault((first or "").lower(), second)
        if action == sqlite3.SQLITE_FUNCTION:
            return f"the function {second}" if (second or "").lower() in _FUNCTIONS else None
        if action in _NEVER:
            return _NEVER[action]
        if self.effect == "write" or action in _SAY_NOTHING:
            return None
        if not self.begun and action not in _READS_BEGIN_WITH:
            return _NEVER_IN_A_READ.get(action, NO_READ)
        return _NEVER_IN_A_READ.get(action)


def _pragma_fault(name: str, argument: str | None) -> str | None:
    if name in _PRAGMAS_WITH_ARGUMENT or (name in _PRAGMAS and argument is None):
        return None
    return f"PRAGMA {name}" if name not in _PRAGMAS else f"PRAGMA {name} with a value"
