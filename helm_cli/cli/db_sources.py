"""Where other programs keep their databases, and what of each place is found as databases that helm could keep."""

import os
import pwd
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeVar

from helm_cli.cli import taking
from helm_cli.cli.taking import Source
from helm_cli.grammar import database_url, env_file, my_cnf, pg_defaults, pg_service, pgpass, profile_name
from helm_cli.grammar import found as numbers
from helm_cli.grammar.database_url import Parts
from helm_cli.grammar.found import FoundDatabase
from helm_cli.grammar.pg_defaults import Surroundings
from helm_cli.grammar.pgpass import Entry
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import PORTS

Read = TypeVar("Read")

VARIABLE: Final = "DATABASE_URL"
_SERVICES: Final = "~/.pg_service.conf"
_PASSWORDS: Final = "~/.pgpass"
_OPTIONS: Final = "~/.my.cnf"
_LOGIN_PATHS: Final = "~/.mylogin.cnf"
_AUTHORITIES: Final = "~/.postgresql/root.crt"
# The names that such files usually have, in the order in which they are tried.
_NAMES: Final = (
    ("pgpass", re.compile(r"\.?pgpass(?:\..*)?")),
    ("pg-service", re.compile(r"\.?pg_service.*")),
    ("my.cnf", re.compile(r".*my\.cnf|.*\.cnf")),
    ("env-file", re.compile(r"\.env(?:\..*)?|.*\.env|\.envrc")),
)
# The first line that is no comment, where the name says nothing.
_CONTENT: Final = (
    ("my.cnf", re.compile(r"!|\[(?:client|mysql|mariadb)")),
    ("pg-service", re.compile(r"\[")),
    ("env-file", re.compile(r"(?:export[ \t]+)?[A-Za-z_][A-Za-z0-9_.]*[ \t]*=")),
    ("pgpass", re.compile(r"(?:(?:\\.|[^:\\])*:){4}")),
)


class Held(NamedTuple):
    """What one place holds: how it is called, its databases, and remarks on the whole of it.

    `entries` are the lines of a password file, of which the first that fits counts once a database's name is known.
    """

    label: str
    found: tuple[FoundDatabase, ...] = ()
    remarks: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()


def everything() -> Iterator[Held]:
    """What is in the usual places, those that are not there left out; of one that cannot be used, a remark says why."""
    if os.environ.get(VARIABLE):
        yield variable(VARIABLE)
    for path, reader in (
        *((path, _services) for path in _service_files()),
        (os.environ.get("PGPASSFILE") or _PASSWORDS, _passwords),
        (_OPTIONS, _options),
    ):
        if os.path.lexists(os.path.expanduser(path)):
            try:
                yield reader(path)
            except HelmError as error:
                yield Held(taking.shortened(path), remarks=(error.message,))
    if os.path.lexists(os.path.expanduser(_LOGIN_PATHS)):
        yield Held(_LOGIN_PATHS, remarks=(f"{_LOGIN_PATHS} is obfuscated and not read; add what it holds by hand",))


def named(source: str) -> list[Held]:
    """What is in the place that a person named: "env", "pg-service", "pgpass", "my.cnf", or a file.

    Raises HelmError "usage" where it is not there, or cannot be understood.
    """
    if source == "env":
        return [variable(VARIABLE)]
    if source == "pg-service":
        return [_services(path) for path in _service_files() or [_SERVICES]]
    if source in _READERS:
        usual = os.environ.get("PGPASSFILE") or _PASSWORDS if source == "pgpass" else _OPTIONS
        return [_READERS[source](usual)]
    if os.path.basename(source) == os.path.basename(_LOGIN_PATHS):
        raise HelmError("usage", f"{source} is obfuscated and not read; add what it holds by hand")
    return [_READERS[_sort(source)](source)]


def variable(name: str) -> Held:
    """The database of the connection URL in a variable of the environment. Raises HelmError "usage" without one."""
    value = os.environ.get(name)
    if not value:
        raise HelmError("usage", f"the variable {name} is not set or empty; it should hold a connection URL")
    return Held(name, (_url(name, name, value, os.getcwd()),))


def variables(path: str) -> Held:
    """The databases of a .env file. Raises HelmError "usage" where it cannot be read."""
    source = taking.read(path, ".env file")
    folder = os.path.dirname(os.path.abspath(os.path.expanduser(path)))
    found = [_of_variable(one, folder) for one in env_file.read(source.text) if env_file.names_database(one)]
    return Held(source.label, tuple(found), _exposed(source, found))


def _of_variable(one: env_file.Variable, folder: str) -> FoundDatabase:
    if one.fault:
        return FoundDatabase(profile_name.made(env_file.short(one.name)), one.name, fault=one.fault)
    return _url(one.name, one.name, one.value, folder)


def _url(origin: str, name: str, value: str, folder: str) -> FoundDatabase:
    made = FoundDatabase(profile_name.made(env_file.short(name)), origin)
    try:
        parts = database_url.parse(value)
    except ValueError as error:
        return made._replace(fault=f"its URL cannot be used: {error}")
    if parts.path is not None:
        return _file(made, parts, os.path.join(folder, parts.path))
    named = made.name or profile_name.made(parts.database or parts.host or "")
    if parts.host is None and parts.socket is None:
        return made._replace(name=named, fault="its URL names no host")
    if parts.user is None:
        return made._replace(name=named, fault="its URL names no user")
    if not named:
        return made._replace(fault="no name of a profile can be made from it")
    return pg_defaults.completed(made._replace(name=named, parts=parts), _around())


def _file(made: FoundDatabase, parts: Parts, path: str) -> FoundDatabase:
    """With the file of SQLite's that a URL names: relative to the folder of what named it."""
    stem, _ = os.path.splitext(os.path.basename(path))
    named = made.name or profile_name.made(stem)
    if not os.path.exists(path) and not os.path.isabs(parts.path or "") and os.path.exists(f"/{parts.path}"):
        told = "its file is relative and not there; an absolute path has four slashes, as in sqlite:////srv/app.db"
        return made._replace(name=named, fault=told)
    fault = "" if named else "no name of a profile can be made from it"
    return made._replace(name=named, parts=parts._replace(path=os.path.realpath(path)), fault=fault)


def _service_files() -> list[str]:
    """The files in which libpq looks services up, in its order; those of the person that are not there left out."""
    files = [os.environ.get("PGSERVICEFILE") or _SERVICES]
    if folder := os.environ.get("PGSYSCONFDIR"):
        files.append(os.path.join(folder, "pg_service.conf"))
    return [path for path in files if os.path.lexists(os.path.expanduser(path))]


def _services(path: str) -> Held:
    source = taking.read(path, "pg_service.conf")
    services = _understood(source, pg_service.read)
    found = [pg_service.found(service, _login(), _around()) for service in services]
    remarks = list(_exposed(source, found))
    there: dict[str, list[Entry]] = {}
    for at, service in enumerate(services):
        parts = found[at].parts
        if parts is not None and parts.password is None:
            file = service.values.get("passfile") or os.environ.get("PGPASSFILE") or _PASSWORDS
            if file not in there:
                there[file], told = _entries(file)
                remarks.extend(told)
            password = pgpass.password(there[file], parts)
            note = (f"its password is that of {taking.shortened(file)}",) if password else ()
            found[at] = found[at].noted(*note)._replace(parts=parts._replace(password=password))
    return Held(source.label, tuple(found), tuple(remarks))


def _entries(path: str) -> tuple[list[Entry], list[str]]:
    """The lines of a password file, none where it is not there; where libpq would not read it, a remark says so."""
    if not os.path.lexists(os.path.expanduser(path)):
        return [], []
    try:
        return pgpass.read(_private(path).text), []
    except HelmError as error:
        return [], [error.message]


def _passwords(path: str) -> Held:
    source = _private(path)
    entries = pgpass.read(source.text)
    around = _around()
    usual = numbers.port(around.variables.get("PGPORT", "")) or PORTS["postgres"]
    found = (pgpass.ranked(pgpass.found(entry, usual), entries) for entry in entries)
    return Held(source.label, tuple(pg_defaults.completed(one, around) for one in found), entries=tuple(entries))


def _private(path: str) -> Source:
    source = taking.read(path, "password file of libpq's")
    if source.exposed:
        step = f"chmod 600 {taking.pasted(source.label)}"
        told = f"others can read {source.label} or change it, so libpq ignores it, and so does helm; close it: {step}"
        raise HelmError("usage", told)
    return source


def _options(path: str) -> Held:
    source = taking.read(path, "option file of MySQL's")
    if source.mode & 0o002:
        step = f"chmod o-w {taking.pasted(source.label)}"
        told = f"everybody can change {source.label}, so MySQL's clients ignore it, and so does helm; close it: {step}"
        raise HelmError("usage", told)
    file = _understood(source, my_cnf.read)
    found = my_cnf.found(file, _login())
    included = ("what it includes (!include) is not read; name such a file itself",)
    return Held(source.label, tuple(found), (*(included if file.includes else ()), *_exposed(source, found)))


_READERS: Final[dict[str, Callable[[str], Held]]] = {
    "pgpass": _passwords,
    "pg-service": _services,
    "my.cnf": _options,
    "env-file": variables,
}


def _sort(path: str) -> str:
    """Which sort of file this is, by its name, else by what it begins with. Raises HelmError "usage"."""
    name = os.path.basename(path)
    sort = next((sort for sort, pattern in _NAMES if pattern.fullmatch(name)), None)
    if sort is not None:
        return sort
    text = taking.read(path, "file of another program's").text
    lines = (line.strip() for line in text.split("\n"))
    first = next((line for line in lines if line and not line.startswith(("#", ";"))), "")
    sort = next((sort for sort, pattern in _CONTENT if pattern.match(first)), None)
    if sort is None:
        known = "a .env file, or a file such as pg_service.conf, .pgpass or .my.cnf"
        raise HelmError("usage", f"{path} is none that helm knows; name {known}")
    return sort


def _understood(source: Source, reader: Callable[[str], Read]) -> Read:
    try:
        return reader(source.text)
    except ValueError as error:
        raise HelmError("usage", f"{source.label} cannot be used: {error}") from None


def _exposed(source: Source, found: list[FoundDatabase]) -> tuple[str, ...]:
    holds = any(one.parts is not None and one.parts.password for one in found)
    told = f"others on this machine can read {source.label} and the passwords in it; close it: chmod 600"
    return (f"{told} {taking.pasted(source.label)}",) if source.exposed and holds else ()


def _around() -> Surroundings:
    root = os.path.expanduser(_AUTHORITIES)
    return Surroundings(os.environ, root if os.path.isfile(root) else None)


def _login() -> str:
    """The name of the person's account, "" where the system knows none."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return ""
