"""What libpq's variables fill in is what libpq itself connects with, and no profile is less strict for them."""

import os
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import pq

from helm_cli.grammar import pg_defaults, pg_service
from helm_cli.grammar.database_url import Parts, parse
from helm_cli.grammar.found import FoundDatabase
from helm_cli.grammar.pg_defaults import Surroundings
from helm_cli.grammar.pg_service import Service

SECRET: Final = "canary-9d1c"
PLACE: Final = {"host": "db.test", "dbname": "d", "user": "me"}


def libpq(told: str, variables: dict[str, str]) -> dict[str, str]:
    """With what libpq would connect; what it tries is this machine, where nothing listens."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        found = pq.PGconn.connect_start(told.encode())
        return {option.keyword.decode(): (option.val or b"").decode() for option in found.info}
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def service(values: dict[str, str], variables: dict[str, str], root: str | None = None) -> FoundDatabase:
    return pg_service.found(Service("a", values), "login", Surroundings(variables, root))


def url(text: str, variables: dict[str, str], root: str | None = None) -> FoundDatabase:
    return pg_defaults.completed(FoundDatabase("a", "A", parse(text)), Surroundings(variables, root))


VARIABLES: Final = st.fixed_dictionaries(
    {},
    optional={
        "PGPORT": st.sampled_from(["1", "2"]),
        "PGSSLMODE": st.sampled_from(["disable", "prefer", "require", "verify-ca", "verify-full"]),
        "PGSSLROOTCERT": st.just("/ca"),
        "PGUSER": st.just("other"),
        "PGDATABASE": st.just("e"),
        "PGPASSWORD": st.just(SECRET),
        "PGREQUIRESSL": st.sampled_from(["0", "1"]),
    },
)
SAID: Final = st.fixed_dictionaries(
    {},
    optional={
        "port": st.just("3"),
        "sslmode": st.sampled_from(["disable", "require", "verify-full"]),
        "sslrootcert": st.just("/own"),
        "user": st.just("me"),
        "dbname": st.just("d"),
    },
)


@settings(max_examples=150)
@given(SAID, VARIABLES)
def test_a_service_leads_where_libpq_goes(said: dict[str, str], variables: dict[str, str]) -> None:
    wanted = libpq(" ".join(["hostaddr=127.0.0.1", *(f"{key}={value}" for key, value in said.items())]), variables)
    found = service({"hostaddr": "127.0.0.1", **said}, variables)
    assert found.parts is not None, found.fault
    parts = found.parts
    there = {key: value for key, value in wanted.items() if value}
    assert str(parts.port) == there.get("port", "5432")
    # Without either, the account's name, which is another one here, is that of the user and of the database.
    if "user" in said or "PGUSER" in variables:
        assert (parts.user, parts.database) == (there["user"], there["dbname"])
    assert (parts.password or "") == wanted["password"]
    assert _tls(there.get("sslmode", "prefer"), there.get("sslrootcert")) == (parts.tls, parts.tls_ca)
    assert SECRET not in repr(found)


def _tls(mode: str, authority: str | None) -> tuple[str | None, str | None]:
    """What libpq checks for an sslmode, in helm's words."""
    if mode in ("disable", "prefer"):
        return ("disable" if mode == "disable" else None), None
    if mode == "verify-ca":
        return ("require", authority) if authority else ("verify-full", None)
    return mode, authority


@settings(max_examples=100)
@given(SAID, VARIABLES)
def test_a_url_leads_where_libpq_goes(said: dict[str, str], variables: dict[str, str]) -> None:
    """But that who signs in is what the URL says, and nothing that is for another goes with it."""
    kept = {key: value for key, value in said.items() if key in ("port", "sslmode", "sslrootcert")}
    text = "postgres://me@127.0.0.1/d?" + "&".join(f"{key}={value}" for key, value in kept.items())
    wanted = libpq(text, variables)
    parts = url(text, variables).parts
    assert parts is not None
    assert str(parts.port or 5432) == (wanted["port"] or "5432")
    assert (parts.user, parts.database, parts.password) == ("me", "d", None)
    tls, authority = _tls(wanted["sslmode"] or "prefer", wanted["sslrootcert"] or None)
    # Where nothing says how strict, what the URL says stays.
    assert (parts.tls, parts.tls_ca) == (tls, authority if tls else kept.get("sslrootcert"))


@pytest.mark.parametrize(
    ("values", "variables", "fields", "notes"),
    [
        (
            PLACE,
            {"PGSSLMODE": "verify-full", "PGPORT": "6432"},
            {"port": 6432, "tls": "verify-full"},
            ["its port is that of PGPORT, as libpq has it", "its sslmode is that of PGSSLMODE, as libpq has it"],
        ),
        ({**PLACE, "port": "1", "sslmode": "require"}, {"PGSSLMODE": "disable", "PGPORT": "6432"},
         {"port": 1, "tls": "require"}, []),
        (PLACE, {"PGREQUIRESSL": "1"}, {"tls": "require"}, ["its sslmode is that of PGREQUIRESSL, as libpq has it"]),
        ({**PLACE, "port": ""}, {"PGPORT": "6432", "PGSSLMODE": ""}, {"port": 5432}, []),
        (PLACE, {"PGPASSWORD": SECRET}, {"password": SECRET}, ["its password is that of PGPASSWORD, as libpq has it"]),
        (PLACE, {"PGHOSTADDR": "10.0.0.1"}, {}, ["its hostaddr is that of PGHOSTADDR, as libpq has it",
         "hostaddr is left out: helm looks its host up"]),
    ],
)  # fmt: skip
def test_what_a_variable_fills_in_is_told(
    values: dict[str, str], variables: dict[str, str], fields: dict[str, Any], notes: list[str]
) -> None:
    found = service(values, variables)
    whole = Parts("postgres", host="db.test", port=5432, database="d", user="me")
    assert found.parts == whole._replace(**fields)
    assert [*found.notes] == notes


@pytest.mark.parametrize(
    ("text", "variables", "tls", "authority"),
    [
        ("?sslmode=require", {}, "require", "/root.crt"),
        ("?sslmode=verify-full", {}, "verify-full", "/root.crt"),
        ("?sslmode=require&sslrootcert=/own", {"PGSSLROOTCERT": "/ca"}, "require", "/own"),
        ("?sslmode=require", {"PGSSLROOTCERT": "/ca"}, "require", "/ca"),
        ("?sslmode=verify-full&sslrootcert=system", {}, "verify-full", None),
        ("?sslrootcert=system", {}, "verify-full", None),
        ("?sslmode=disable", {"PGSSLMODE": "verify-full"}, "disable", None),
        ("", {}, None, None),
        ("", {"PGSSLMODE": "verify-ca"}, "require", "/root.crt"),
    ],
)
def test_a_url_has_libpqs_authorities(
    text: str, variables: dict[str, str], tls: str | None, authority: str | None
) -> None:
    parts = url(f"postgres://me@db.test/d{text}", variables, "/root.crt").parts
    assert parts is not None and (parts.tls, parts.tls_ca) == (tls, authority)


def test_another_engine_has_nothing_of_it() -> None:
    assert url("mysql://me@db.test/d", {"PGPORT": "1", "PGSSLMODE": "require"}, "/r").parts == parse(
        "mysql://me@db.test/d"
    )


@pytest.mark.parametrize("name", ["PGOPTIONS", "PGREQUIREAUTH", "PGSSLCRL", "PGREQUIREPEER", "PGCHANNELBINDING"])
def test_a_variable_that_protects_and_helm_has_not_hinders(name: str) -> None:
    variables = {name: "require" if name == "PGCHANNELBINDING" else SECRET}
    told = "and without it the connection would be another, or less protected; add it by hand to go without"
    for found in (service(PLACE, variables), url("postgres://me@db.test/d", variables)):
        assert (found.parts, found.fault) == (None, f"helm has no setting for {name}, {told}")


@pytest.mark.parametrize(
    ("variables", "fault"),
    [
        ({"PGPORT": SECRET}, "its port, that of PGPORT, is none from 1 to 65535"),
        ({"PGSSLMODE": SECRET}, "its sslmode is none that libpq knows"),
    ],
)
def test_a_variable_that_libpq_refuses_is_refused(variables: dict[str, str], fault: str) -> None:
    found = url("postgres://me@db.test/d", variables)
    assert (found.parts, found.fault) == (None, fault)
    assert SECRET not in repr((found, Surroundings(variables)))


def test_every_variable_is_the_one_that_libpq_looks_at() -> None:
    theirs = {option.keyword.decode(): (option.envvar or b"").decode() for option in pq.Conninfo.get_defaults()}
    assert {key: theirs[key] for key in pg_defaults.VARIABLES} == pg_defaults.VARIABLES
