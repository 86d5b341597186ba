"""How a database profile is put together from options, and from questions where a person can be asked."""

import os
from functools import partial
from typing import Any, get_args

from helm_cli.cli import one_of
from helm_cli.cli.entry import asked, can_ask, check_new, piped_secret, typed_secret
from helm_cli.cli.given import SERVER, Given, check_filled, option, with_url
from helm_cli.cli.here import Here
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import ENGINES, PORTS, Database, Engine, Tls
from helm_cli.store.groups import GROUPS


def complete(place: Here, given: Given, *, password_stdin: bool, force: bool) -> tuple[Database, str | None]:
    """A whole profile and its password, None where it has none; with `force` it may replace another.

    On a terminal what is missing is asked for; without one it is a usage error that names the option.
    Raises HelmError "usage" and "conflict", and "declined" where the person stops answering.
    """
    check_filled(given._asdict())
    given, password = with_url(given, password_stdin=password_stdin)
    asking = can_ask(place)
    new = partial(check_new, place, "db", force=force)
    name = given.name or asked(place, asking, "NAME", "Name of the profile", check=new)
    new(name)
    engine = _engine(given.engine or asked(place, asking, "--engine", "Engine", list(ENGINES)))
    if engine == "sqlite":
        _check_file_options(given, password_stdin=password_stdin)
        path = given.path or asked(place, asking, "--path", "SQLite file", check=_file)
        return Database(name, engine, path=_file(path)), None
    _unused(given, "path", engine=engine)
    values = _server(given)
    if "socket" not in values and given.host is None:
        values["host"] = asked(place, asking, "--host", "Host", check=partial(_check_host, engine))
        if given.port is None:
            text = asked(place, asking, "--port", "Port", check=_port, default=str(PORTS[engine]))
            given = given._replace(port=_port(text))
    if "socket" not in values or engine == "postgres":
        # The name of Postgres' socket in its folder ends with the port.
        values["port"] = given.port or PORTS[engine]
    values["database"] = given.database or asked(place, asking, "--database", "Database")
    values["user"] = given.user or asked(place, asking, "--user", "User")
    profile = _checked(Database(name, engine, **values))
    return profile, password or _password(place, name, asking=asking, stdin=password_stdin)


def changed(
    place: Here, old: Database, given: Given, *, password_stdin: bool, ask_password: bool
) -> tuple[Database, str | None]:
    """A profile with what was given in place of what it had, and its new password, None where none was given."""
    check_filled(given._asdict())
    given, password = with_url(given, password_stdin=password_stdin)
    if given.engine not in (None, old.engine):
        raise HelmError("usage", f"{old.name} is a {old.engine} profile, and the URL is of {given.engine}; add another")
    if old.engine == "sqlite":
        _check_file_options(given, password_stdin=password_stdin or ask_password)
        if given.path is None:
            raise HelmError("usage", "nothing to change; give --path or --from-env")
        return old._replace(path=_file(given.path)), None
    _unused(given, "path", engine=old.engine)
    new = _server(given)
    if not new and not password_stdin and not ask_password and password is None:
        options = ", ".join(option(field) for field in SERVER)
        raise HelmError("usage", f"nothing to change; give {options}, --from-env, --password-stdin or --ask-password")
    profile = _checked(old._replace(**_consequences(old, new)))
    moved = old.credential is not None and profile.secret_target_digest() != old.secret_target_digest()
    asking = ask_password or (moved and can_ask(place))
    if ask_password and not can_ask(place):
        raise HelmError("usage", "--ask-password needs a terminal; give --password-stdin")
    if password or password_stdin or not asking:
        return profile, password or _password(place, old.name, asking=False, stdin=password_stdin)
    if not ask_password:
        hint = "for its new target; empty to enter it later"
        return profile, typed_secret(place, f"Password of {old.name} ({hint})") or None
    hint = "empty takes it away" if old.credential is not None else "empty for none"
    return profile, typed_secret(place, f"Password of {old.name} ({hint})")


def _server(given: Given) -> dict[str, Any]:
    """The fields of a server's profile that were given."""
    values = {field: getattr(given, field) for field in SERVER if getattr(given, field) is not None}
    if given.host is not None and given.socket is not None:
        raise HelmError("usage", "--host and --socket exclude each other; give one of them")
    if given.tls is not None:
        one_of("--tls", given.tls, get_args(Tls))
    for field in ("socket", "tls_ca"):
        if field in values:
            values[field] = _absolute(option(field), values[field])
    return values


def _consequences(old: Database, new: dict[str, Any]) -> dict[str, Any]:
    """What a change takes along: a socket in place of a host, TLS that is off without its authority."""
    if "socket" in new:
        port = old.port if old.engine == "postgres" else None
        return {"host": None, "port": port, "tls": None, "tls_ca": None, **new}
    if "host" in new and old.socket is not None:
        new = {"socket": None, "port": old.port or PORTS[old.engine], **new}
    if new.get("tls") == "disable":
        new = {"tls_ca": None, **new}
    return new


def _checked(profile: Database) -> Database:
    if profile.socket is not None and (profile.tls is not None or profile.tls_ca is not None):
        raise HelmError("usage", "TLS does not go with --socket: what a Unix socket carries stays on this machine")
    if profile.tls_ca is not None and profile.tls in (None, "disable"):
        raise HelmError("usage", "--tls-ca goes with --tls require or --tls verify-full; give one of them")
    return profile


def _check_host(engine: Engine, host: str) -> None:
    wrong = GROUPS["db"].fault(Database("a", engine, host=host, port=1, database="a", user="a"))
    if wrong:
        raise HelmError("usage", wrong)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= 65_535):
        raise HelmError("usage", "a port is a number from 1 to 65535")
    return int(text)


def _engine(name: str) -> Engine:
    return one_of("--engine", name, ENGINES)


def _file(path: str) -> str:
    if not path or "\0" in path:
        raise HelmError("usage", "--path takes the path of a SQLite file")
    return os.path.realpath(os.path.expanduser(path))


def _absolute(name: str, path: str) -> str:
    if not path or "\0" in path:
        raise HelmError("usage", f"{name} takes a path")
    return os.path.abspath(os.path.expanduser(path))


def _check_file_options(given: Given, *, password_stdin: bool) -> None:
    _unused(given, *SERVER, engine="sqlite")
    if password_stdin:
        raise HelmError("usage", "a SQLite file has no password; leave the option for one out")


def _unused(given: Given, *fields: str, engine: str) -> None:
    for field in fields:
        if getattr(given, field) is not None:
            raise HelmError("usage", f"{option(field)} does not go with the engine {engine}; leave it out")


def _password(place: Here, name: str, *, asking: bool, stdin: bool) -> str | None:
    if stdin:
        password = piped_secret("the password", "--password-stdin")
        if not password:
            raise HelmError("usage", "the password on standard input is empty; leave --password-stdin out for none")
        return password
    return typed_secret(place, f"Password of {name} (empty for none)") or None if asking else None
