"""What Postgres's own errors mean in the codes and words of helm, which tell nothing of where the server is."""

from typing import Final

from helm_cli.drivers import Limits
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.outcome import timed_out
from helm_cli.drivers.postgres_wire import ServerError
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect

# query_canceled: at the deadline, or because somebody else wanted it.
_CANCELED: Final = "57014"
# The server's own timer ends a statement a little before the deadline.
_ENDS_EARLY: Final = 0.2
_SYNTAX: Final = "42601"

# What libpq or the server says when there is no connection -> what helm says. Only the text tells them apart.
_UNREACHABLE: Final = (
    (("could not translate host name",), "the host name of the database cannot be resolved; check the profile's host"),
    (('requirement "!password" failed',), "the server asks for the password in clear text, which helm sends off this"
     " machine only with --tls verify-full"),
    (("no password supplied",), "the server asks for a password and the profile has none; add it with helm db edit"),
    (("certificate", "SSL error"), "the server's TLS certificate was not accepted; check the profile's TLS settings"),
    (("does not support SSL", "SSL was required"), "the server does not offer TLS; use a tunnel or --tls disable"),
    (("no encryption",), "the server refused the sign-in; it may accept only TLS, or not this user from here"),
    (("authentication failed", "authentication", "pg_hba.conf", "role ", "permission denied for database"),
     "the server refused the sign-in; check the profile's user and password"),
    (('database "', "does not exist"), "the server has no database of that name; check the profile's database"),
    (("too many", "remaining connection slots"), "the server has no connection left; try again later"),
    (("starting up", "shutting down", "recovery"), "the server is starting or stopping; try again later"),
    (("refused", "No such file", "unreachable", "timed out", "No route"), "nothing answers at the profile's host and"
     " port; check that the server runs"),
)  # fmt: skip


def unreachable(text: str, *, wants_password: bool = False) -> HelmError:
    """The error of a connection that could not be made, from what libpq says of it."""
    if wants_password:
        text = "no password supplied"
    for marks, meaning in _UNREACHABLE:
        if any(mark in text for mark in marks):
            return HelmError("unavailable", meaning)
    return HelmError("unavailable", "the connection to the database cannot be made; check the profile and the server")


def lost(effect: Effect) -> HelmError:
    """The error of a connection that ended before its answer, and before any COMMIT was sent."""
    ending = "and nothing was changed; try again" if effect == "write" else "before its answer was whole; try again"
    return HelmError("unavailable", f"the connection to the database was lost {ending}")


def translated(error: ServerError, effect: Effect, limits: Limits, clock: Deadline) -> HelmError:
    """The error to report for one of the server's, which ended a transaction that was not committed."""
    if error.sqlstate == _CANCELED and clock.remaining() < _ENDS_EARLY:
        return timed_out(effect, limits)
    if error.sqlstate == _SYNTAX and not error.placed:
        return HelmError("refused", f"the query is not one statement: {one_line(error.message)}")
    return HelmError("query_failed", told(error))


def told(error: ServerError) -> str:
    """The server's message with its detail, in one line."""
    detail = one_line(error.detail).rstrip(".")
    return (one_line(error.message) or "the database gave no message") + (f" ({detail})" if detail else "")


def one_line(text: str) -> str:
    return " ".join(text.split())
