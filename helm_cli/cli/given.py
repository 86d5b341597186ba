"""What the options of a database profile said, together with a connection URL from the environment."""

import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from helm_cli.model.errors import HelmError

# Options that only a server's profile has.
SERVER: Final = ("host", "port", "socket", "database", "user", "tls", "tls_ca")


class Given(NamedTuple):
    """What the options said, None where they said nothing."""

    name: str | None
    engine: str | None
    path: str | None
    host: str | None
    port: int | None
    socket: str | None
    database: str | None
    user: str | None
    tls: str | None
    tls_ca: str | None
    from_env: str | None


def with_url(given: Given, *, password_stdin: bool) -> tuple[Given, str | None]:
    """The options with what the URL in the variable of --from-env says, and the password in it, None for none.

    Raises HelmError "usage", without anything of the URL: it cannot be read, or an option contradicts it.
    """
    variable = given.from_env
    if variable is None:
        return given, None
    text = os.environ.get(variable)
    if not text:
        raise HelmError("usage", f"the variable {variable} is not set or empty; it should hold a connection URL")
    from helm_cli.grammar import database_url

    try:
        parts = database_url.parse(text)
    except ValueError as error:
        raise HelmError("usage", f"the URL in {variable} cannot be used: {error}") from None
    if parts.password is not None and password_stdin:
        raise HelmError("usage", f"the URL in {variable} holds a password; leave --password-stdin out")
    _check_relative(variable, parts.path)
    told = {field: value for field, value in parts._asdict().items() if value is not None and field != "password"}
    _check_agreement(given, told, variable)
    return given._replace(**told), parts.password


def _check_agreement(given: Given, told: dict[str, Any], variable: str) -> None:
    # A host and a socket say the same thing in two ways.
    where = {"host", "socket"} if told.keys() & {"host", "socket"} else set()
    for field in sorted(told.keys() | where):
        said = getattr(given, field)
        if said is not None and said != told.get(field):
            raise HelmError("usage", f"{option(field)} contradicts the URL in {variable}; give one of them")


def check_filled(given: Mapping[str, object]) -> None:
    """Raises HelmError "usage" where an option was given an empty value, which no field of a profile can have."""
    for field, value in given.items():
        if value == "":
            raise HelmError("usage", f"{option(field)} is empty; give it a value, or leave it out")


def option(field: str) -> str:
    """The option that fills a field."""
    return "NAME" if field == "name" else "--" + field.replace("_", "-")


def _check_relative(variable: str, path: str | None) -> None:
    if path is None or os.path.isabs(path) or os.path.exists(path) or not os.path.exists(f"/{path}"):
        return
    raise HelmError(
        "usage",
        f"the URL in {variable} names a file relative to this folder, and there is none; an absolute path has four"
        " slashes, as in sqlite:////srv/app.db",
    )
