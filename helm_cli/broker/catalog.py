"""How each engine is asked what tables and columns a database has."""

from typing import Final, NamedTuple

from helm_cli.model.jsontext import Json


class Question(NamedTuple):
    """A read of the explorer's own, and what is bound to its placeholders."""

    sql: str
    values: tuple[Json, ...] = ()


_EXACT: Final = 2**53 - 1
_OWN: Final = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp_)'"
_RELATIONS: Final = (
    "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    f" WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {_OWN}"
)

# schema, name, type, number of columns, estimate of rows: null where the engine does not know.
_TABLES: Final = {
    "sqlite": (
        # Whether SQLite knows how many columns a view has depends on what it was asked before.
        "SELECT schema, name, type, CASE type WHEN 'view' THEN NULL ELSE ncol END AS columns, NULL AS rows"
        " FROM pragma_table_list"
        " WHERE schema = 'main' AND type <> 'shadow' AND name NOT GLOB 'sqlite_*' ORDER BY name"
    ),
    "postgres": (
        "SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN"
        " 'partitioned table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'foreign table' END AS type,"
        " (SELECT count(*)::int4 FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0"
        ' AND NOT a.attisdropped) AS "columns",'
        " CASE WHEN c.relkind IN ('r', 'p', 'm') AND c.reltuples >= 0 THEN c.reltuples::int8 END AS rows "
        f"{_RELATIONS} ORDER BY 1, 2"
    ),
    "mysql": (
        "SELECT t.table_schema AS `schema`, t.table_name AS `name`, CASE t.table_type WHEN 'BASE TABLE' THEN 'table'"
        " ELSE LOWER(t.table_type) END AS `type`, (SELECT COUNT(*) FROM information_schema.columns c WHERE"
        " c.table_schema = t.table_schema AND c.table_name = t.table_name) AS `columns`, t.table_rows AS `rows`"
        " FROM information_schema.tables t WHERE t.table_schema = DATABASE() ORDER BY 2"
    ),
}

# schema (null where a name alone is enough), table, column.
_SQLITE_COLUMNS: Final = (
    "SELECT NULL, t.name, i.name FROM pragma_table_list t JOIN pragma_table_info(t.name) i"
    " WHERE t.schema = 'main' AND t.type {types} AND t.name NOT GLOB 'sqlite_*' ORDER BY t.name, i.cid"
)
_COLUMNS: Final = {
    # Apart, because one view on a table that is gone fails them all.
    "sqlite": (_SQLITE_COLUMNS.format(types="IN ('table', 'virtual')"), _SQLITE_COLUMNS.format(types="= 'view'")),
    "postgres": (
        "SELECT CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN NULL ELSE n.nspname END, c.relname, a.attname"
        + _RELATIONS.replace("FROM", " FROM", 1).replace(
            " WHERE",
            " JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid WHERE a.attnum > 0 AND NOT a.attisdropped AND",
        )
        + " ORDER BY n.nspname, c.relname, a.attnum",
    ),
    "mysql": (
        "SELECT NULL, table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE()"
        " ORDER BY table_name, ordinal_position",
    ),
}

# column, type, nullable, default, key.
_DESCRIBE: Final = {
    "sqlite": (
        "SELECT name AS \"column\", type, CASE WHEN \"notnull\" OR pk THEN 'no' ELSE 'yes' END AS nullable,"
        " dflt_value AS \"default\", CASE WHEN pk THEN 'primary' END AS key FROM pragma_table_xinfo(?)"
        " WHERE hidden <> 1"
    ),
    "postgres": (
        'SELECT a.attname AS "column", pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,'
        " CASE WHEN a.attnotnull THEN 'no' ELSE 'yes' END AS nullable,"
        ' pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS "default",'
        " CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary"
        " AND a.attnum = ANY (i.indkey)) THEN 'primary' END AS key"
        " FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_attrdef d"
        " ON d.adrelid = a.attrelid AND d.adnum = a.attnum"
        " WHERE a.attrelid = pg_catalog.to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
    ),
    "mysql": (
        "SELECT column_name AS `column`, column_type AS `type`, LOWER(is_nullable) AS `nullable`,"
        " column_default AS `default`, CASE column_key WHEN 'PRI' THEN 'primary' WHEN 'UNI' THEN 'unique' END AS `key`"
        " FROM information_schema.columns WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?"
        " ORDER BY ordinal_position"
    ),
}


def tables(engine: str) -> Question:
    """The tables and views that are the user's own: schema, name, type, columns, rows."""
    return Question(_TABLES[engine])


def columns(engine: str) -> tuple[Question, ...]:
    """Every column of every table: schema (null where a name alone is enough), table, column."""
    return tuple(Question(sql) for sql in _COLUMNS[engine])


def describe(engine: str, word: str) -> Question:
    """The columns of one table, called as SQL calls it: column, type, nullable, default, key; no rows for none."""
    if engine == "postgres":
        return Question(_DESCRIBE[engine], (word,))
    schema, _, table = word.rpartition(".")
    if engine == "sqlite":
        return Question(_DESCRIBE[engine], (_unquoted(table),))
    return Question(_DESCRIBE[engine], (_unquoted(schema) or None, _unquoted(table)))


def count(value: Json) -> Json:
    """A count that `tables` asked for, as a number where a double holds it: 64-bit integers come as text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and int(value) <= _EXACT:
        return int(value)
    return value


def _unquoted(name: str) -> str:
    if len(name) > 1 and name[0] == name[-1] and name[0] in '"`':
        return name[1:-1].replace(name[0] * 2, name[0])
    return name
