"""What Postgres's own errors mean in the codes and words of helm, which tell nothing of where the server is."""

import re
from typing import Final

from helm_cli.drivers import Limits
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.outcome import AS_WRITE, timed_out
from helm_cli.drivers.postgres_wire import ServerError
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.profile import Database

# query_canceled: at the deadline, or because somebody else wanted it.
_CANCELED: Final = "57014"
# The server's own timer ends a statement a little before the deadline.
_ENDS_EARLY: Final = 0.2
_SYNTAX: Final = "42601"
_READ_ONLY: Final = "25006"

# What libpq or the server says when there is no connection -> what helm says. Only the text tells them apart.
_UNREACHABLE: Final = (
    (("received invalid response", "expected authentication request", "unsupported frontend protocol",
      "unexpected message from server", "wrong version number", "unencrypted data after SSL response",
      "unexpected eof while reading"),
     "no Postgres server answered at the profile's host and port; check them"),
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


def unreachable(text: str, profile: Database, *, wants_password: bool = False) -> HelmError:
    """The error of a connection that could not be made, from what libpq says of it."""
    for own in (profile.user, profile.database, profile.host, profile.socket):  # a name may hold any of the marks
        text = text.replace(f'"{own}"', '""') if own else text
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


def flooded(effect: Effect, *, noticed: bool) -> HelmError:
    """The error of an answer that was not read to its end, and before any COMMIT was sent."""
    what = "sends more notices" if noticed else "answers with more text"
    ending = "; the write was rolled back" if effect == "write" else ""
    return HelmError("query_failed", f"the database {what} than helm reads{ending}; correct what the query calls")


def translated(error: ServerError, effect: Effect, limits: Limits, clock: Deadline, profile: Database) -> HelmError:
    """The error to report for one of the server's, which ended a transaction that was not committed."""
    if error.sqlstate == _CANCELED and clock.remaining() < _ENDS_EARLY:
        return timed_out(effect, limits)
    if error.sqlstate == _SYNTAX and error.parsing and not error.placed:
        return HelmError("refused", f"the query is not one statement: {one_line(error.message)}")
    hint = f"; {AS_WRITE}" if error.sqlstate == _READ_ONLY and effect == "read" else ""
    return HelmError("query_failed", told(error, profile) + hint)


def told(error: ServerError, profile: Database) -> str:
    """The server's message with its detail, in one line, without the places and names that are the profile's."""
    detail = _hidden(one_line(error.detail).rstrip("."), profile)
    return (_hidden(one_line(error.message), profile) or "the database gave no message") + (
        f" ({detail})" if detail else ""
    )


def _hidden(text: str, profile: Database) -> str:
    for place in (profile.socket, profile.host):
        if place and ("." in place or "/" in place or ":" in place):  # else it is a word like any other
            text = text.replace(place, "…")
    for what, name in (("database", profile.database), ("role", profile.user), ("user", profile.user)):
        if name:
            text = re.sub(rf'\b({what}) ("?){re.escape(one_line(name))}\2(?!\w)', r"\1", text)
    return text


def one_line(text: str) -> str:
    return " ".join(text.split())
