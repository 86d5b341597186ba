"""What a connection URL of a database says, in the forms that programs and hosting services write."""

import re
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from helm_cli.model.profile import Engine, Tls

_SCHEMES: Final[dict[str, Engine]] = {
    "postgres": "postgres",
    "postgresql": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlite",
}
# What follows "+" in a scheme names a driver of another program, as in postgresql+psycopg.
_URL: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9]*)(?:\+[A-Za-z0-9_]+)?://(?P<authority>[^/?#]*)(?P<path>/[^?#]*)?(?:\?(?P<query>[^#]*))?"
)
_AUTHORITY: Final = re.compile(
    r"(?:(?P<user>[^:@]*)(?::(?P<password>.*))?@)?(?P<host>\[[0-9A-Fa-f:.%]+\]|[^:@\[\]]*)(?::(?P<port>[0-9]*))?"
)
_HOST: Final = re.compile(r"[\w.-]*|[0-9A-Fa-f:.]+(?:%[\w.-]+)?")
_AT: Final = "an @ stands after the host; write / ? # and @ in a password as %2F %3F %23 and %40"
_OPTION: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")

# Option of a URL -> the field it fills.
_OPTIONS: Final[dict[Engine, dict[str, str]]] = {
    "sqlite": {},
    "postgres": {
        "sslmode": "tls",
        "sslrootcert": "tls_ca",
        "host": "host",
        "port": "port",
        "user": "user",
        "password": "password",
        "dbname": "database",
    },
    "mysql": {
        **dict.fromkeys(("ssl-mode", "ssl_mode", "sslmode"), "tls"),
        **dict.fromkeys(("ssl-ca", "ssl_ca"), "tls_ca"),
        **dict.fromkeys(("socket", "unix_socket"), "socket"),
    },
}
_TLS: Final[dict[str, Tls]] = {
    "disable": "disable",
    "disabled": "disable",
    "require": "require",
    "required": "require",
    "verify-full": "verify-full",
    "verify_identity": "verify-full",
}


class Parts(NamedTuple):
    """What a URL says, None where it says nothing. `path` is that of a SQLite file as written, maybe relative."""

    engine: Engine
    path: str | None = None
    host: str | None = None
    port: int | None = None
    socket: str | None = None
    database: str | None = None
    user: str | None = None
    password: str | None = None
    tls: Tls | None = None
    tls_ca: str | None = None


def parse(text: str) -> Parts:
    """The parts of a connection URL; percent-escapes are decoded, a host that is a path is a socket.

    `sqlite:///app.db` is relative and `sqlite:////srv/app.db` absolute, as SQLAlchemy and Django have it. An option
    that helm has no setting for is refused by name, never ignored. ValueError, one lower-case clause without
    anything of the URL but the names of its options.
    """
    url = _URL.fullmatch(text.strip())
    if url is None:
        raise ValueError("it is no connection URL, such as postgres://user:password@host:5432/database")
    engine = _SCHEMES.get(url["scheme"].lower())
    if engine is None:
        raise ValueError("its scheme is none of postgres, postgresql, mysql, mariadb and sqlite")
    if engine == "sqlite":
        return _file(url)
    if "@" in (url["path"] or "") + (url["query"] or ""):
        # It would be the rest of a password that went on in the path or in an option's name.
        raise ValueError(_AT)
    found = _authority(url["authority"])
    database = _decoded((url["path"] or "/")[1:])
    if "/" in database:
        raise ValueError("its path is more than the name of a database")
    found["database"] = database or None
    for field, value in _query(url["query"], engine).items():
        if found.get(field) not in (None, value):
            raise ValueError(f"it says {field} twice, and differently")
        found[field] = value
    _check(found)
    return _parts(engine, found)


def _check(found: dict[str, str | None]) -> None:
    """That no password went on in what is shown, as where its : or @ is written as %3A or %40."""
    if ":" in (found.get("user") or ""):
        raise ValueError("its user has a colon; write the one before the password as it is, not as %3A")
    host = found.get("host") or ""
    if not host.startswith("/") and not _HOST.fullmatch(host):
        raise ValueError("its host is none; write the @ before it as it is, not as %40")
    if "@" in (found.get("database") or ""):
        raise ValueError(_AT)


def _file(url: re.Match[str]) -> Parts:
    if url["authority"] or url["query"]:
        raise ValueError("a sqlite URL holds a path and nothing else: sqlite:///app.db or sqlite:////srv/app.db")
    path = _decoded((url["path"] or "/")[1:])
    if path in ("", ":memory:"):
        raise ValueError("it names no file")
    return Parts("sqlite", path=path)


def _authority(text: str) -> dict[str, str | None]:
    if "," in text:
        raise ValueError("it names several hosts; name one")
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        raise ValueError(
            "what stands between // and the path is not user:password@host:port; escape with %40 and so on"
        )
    values = {name: _decoded(value) if value else None for name, value in found.groupdict().items()}
    host = values["host"]
    return {**values, "host": host.strip("[]") if host else None}


def _query(text: str | None, engine: Engine) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in (text or "").split("&"):
        if not pair:
            continue
        name, assigned, value = pair.partition("=")
        option = _decoded(name)
        field = _OPTIONS[engine].get(option.lower())
        if field is None:
            # What is no option may be the rest of a password.
            called = f"its option {option}" if assigned and value and _OPTION.fullmatch(option) else "an option of it"
            known = ", ".join(_OPTIONS[engine])
            raise ValueError(f"helm has no setting for {called}; take it out (known are {known})")
        if field in found:
            raise ValueError(f"it says {field} twice")
        found[field] = _decoded(value)
        if field == "tls":
            found[field] = _tls(option, found[field])
    return found


def _tls(option: str, value: str) -> Tls:
    mode = _TLS.get(value.lower())
    if mode is None:
        raise ValueError(f"its {option} is none that helm has; take disable, require or verify-full")
    return mode


def _parts(engine: Engine, found: dict[str, str | None]) -> Parts:
    host, port = found.pop("host", None), found.pop("port", None)
    if host is not None and host.startswith("/"):
        if found.get("socket") not in (None, host):
            raise ValueError("it names two sockets")
        found["socket"], host = host, None
    if found.get("socket") is not None and host in ("", "localhost"):
        host = None
    number = None
    if port:
        if not (port.isascii() and port.isdigit() and len(port) < 6 and 1 <= int(port) <= 65_535):
            raise ValueError("its port is none from 1 to 65535")
        number = int(port)
    values = {field: value for field, value in found.items() if value}
    tls = _TLS.get(values.pop("tls", ""))
    return Parts(engine, host=host or None, port=number, tls=tls, **values)


def _decoded(text: str) -> str:
    try:
        decoded = unquote_to_bytes(text).decode()
    except UnicodeError:
        raise ValueError("its percent-escapes are not UTF-8") from None
    if "\0" in decoded:
        raise ValueError("it holds a NUL character")
    return decoded
