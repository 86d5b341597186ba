"""How a database profile is put together from options, and from questions where a person can be asked."""

import os
import sys
from typing import Final, NamedTuple

from helm_cli.cli.here import Here, answered
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import ENGINES, PORTS, Database, Engine
from helm_cli.store import profiles
from helm_cli.view.streams import person_present

# Longer than any password a server takes; a larger input is a wrong file.
MOST_BYTES: Final = 64 * 1024


class Given(NamedTuple):
    """What the options said, None where they said nothing."""

    name: str | None
    engine: str | None
    path: str | None
    host: str | None
    port: int | None
    database: str | None
    user: str | None


def complete(place: Here, given: Given, *, password_stdin: bool) -> tuple[Database, str | None]:
    """A whole profile and its password, None where it has none.

    On a terminal what is missing is asked for; without one it is a usage error that names the option.
    Raises HelmError "usage", and "declined" where the person stops answering.
    """
    asking = person_present(place.streams) and sys.stdin.isatty()
    name = given.name or _asked(place, asking, "NAME", "Name of the profile")
    profiles.check_name(name)
    engine = _engine(given.engine or _asked(place, asking, "--engine", "Engine", list(ENGINES)))
    if engine == "sqlite":
        _unused(given, "host", "port", "database", "user", engine=engine)
        if password_stdin:
            raise HelmError("usage", "a SQLite file has no password; leave --password-stdin out")
        return Database(name, engine, path=_file(given.path or _asked(place, asking, "--path", "SQLite file"))), None
    _unused(given, "path", engine=engine)
    profile = Database(
        name,
        engine,
        host=given.host or _asked(place, asking, "--host", "Host"),
        port=given.port or PORTS[engine],
        database=given.database or _asked(place, asking, "--database", "Database"),
        user=given.user or _asked(place, asking, "--user", "User"),
    )
    return profile, _password(place, name, asking=asking, stdin=password_stdin)


def changed(place: Here, old: Database, given: Given, *, password_stdin: bool) -> tuple[Database, str | None]:
    """A profile with what was given in place of what it had, and its new password, None where none was given."""
    if old.engine == "sqlite":
        _unused(given, "host", "port", "database", "user", engine=old.engine)
        if password_stdin:
            raise HelmError("usage", "a SQLite file has no password; leave --password-stdin out")
        if given.path is None:
            raise HelmError("usage", "nothing to change; give --path")
        return old._replace(path=_file(given.path)), None
    _unused(given, "path", engine=old.engine)
    fields = ("host", "port", "database", "user")
    new = {field: getattr(given, field) for field in fields if getattr(given, field) is not None}
    if not new and not password_stdin:
        raise HelmError("usage", "nothing to change; give --host, --port, --database, --user or --password-stdin")
    return old._replace(**new), _password(place, old.name, asking=False, stdin=password_stdin)


def _engine(name: str) -> Engine:
    for engine in ENGINES:
        if engine == name:
            return engine
    raise HelmError("usage", f"--engine {name} is none of sqlite, postgres and mysql")


def _file(path: str) -> str:
    if not path or "\0" in path:
        raise HelmError("usage", "--path takes the path of a SQLite file")
    return os.path.realpath(os.path.expanduser(path))


def _unused(given: Given, *fields: str, engine: str) -> None:
    for field in fields:
        if getattr(given, field) is not None:
            raise HelmError("usage", f"--{field} does not go with the engine {engine}; leave it out")


def _asked(place: Here, asking: bool, option: str, label: str, choices: list[str] | None = None) -> str:
    if not asking:
        raise HelmError("usage", f"{option} is missing; give it, or run this in a terminal to be asked")
    from helm_cli.cli import wizard

    answer = wizard.ask(label, choices)
    answered(place)
    return answer


def _password(place: Here, name: str, *, asking: bool, stdin: bool) -> str | None:
    if stdin:
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise HelmError("usage", f"the password on standard input is over {MOST_BYTES} bytes")
        return _decoded(data.removesuffix(b"\n").removesuffix(b"\r"))
    if not asking:
        return None
    from helm_cli.cli import wizard

    answer = wizard.hidden(f"Password of {name} (empty for none)")
    answered(place)
    return answer or None


def _decoded(data: bytes) -> str:
    if not data:
        raise HelmError("usage", "the password on standard input is empty; leave --password-stdin out for none")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise HelmError("usage", "the password on standard input is not UTF-8") from None
