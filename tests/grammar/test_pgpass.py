"""Which password .pgpass has for a connection is what libpq itself finds there."""

from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import pq

from helm_cli.grammar import pgpass
from helm_cli.grammar.database_url import Parts
from helm_cli.grammar.found import FoundDatabase
from helm_cli.grammar.pgpass import Entry

SECRET: Final = "canary-3c90"


def libpq(file: Path, text: str, host: str, port: str, database: str, user: str) -> str | None:
    """The password that libpq finds, None for none; what it would connect to is not there."""
    file.write_bytes(text.encode())
    file.chmod(0o600)
    values = {"host": host, "hostaddr": "127.0.0.1", "port": port, "dbname": database, "user": user}
    if host.startswith("/"):
        del values["hostaddr"]
    values["passfile"] = str(file)
    told = " ".join(f"{name}='{_escaped(value)}'" for name, value in values.items())
    found = pq.PGconn.connect_start(told.encode())
    try:
        return found.password.decode() or None
    finally:
        found.finish()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def ours(text: str, host: str, port: str, database: str, user: str) -> str | None:
    parts = Parts("postgres", port=int(port), database=database, user=user)
    parts = parts._replace(socket=host) if host.startswith("/") else parts._replace(host=host)
    return pgpass.password(pgpass.read(text), parts)


FILES: Final = [
    "h:1:d:u:p",
    "h:1:d:u:p\r\n",
    "h:1:d:u:p:rest",
    "h:1:d:u:p\\:rest\\\\",
    "h:1:d:u:p\\",
    "h:1:d:u:",
    "h:1:d:u",
    "*:*:*:*:p",
    "*:*:*:*",
    "h:1:d:u:a\nh:1:d:u:b",
    "x:1:d:u:a\n*:1:d:u:b",
    "#h:1:d:u:a\nh:1:d:u:b",
    " #h:1:d:u:a\nh:1:d:u:b",
    " h:1:d:u:a",
    "h :1:d:u:a",
    "\\*:1:d:u:a",
    "h:1:d:u: p ",
    "h:1:d:u:*",
    "h*:1:d:u:a",
    "\\h:1:\\d:u:a",
    "h:01:d:u:a",
    "h:1:d:u:é",
    "",
    "\n\n",
    "h:1:d\\:u:u:p",
]


@pytest.mark.parametrize("text", FILES)
def test_a_file_has_the_password_that_libpq_finds(tmp_path: Path, text: str) -> None:
    for asked in (("h", "1", "d", "u"), ("*", "1", "d", "u"), ("h", "1", "d:u", "u")):
        assert ours(text, *asked) == libpq(tmp_path / "file", text, *asked), asked


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=250)
@given(st.lists(st.text("hd1u*\\:# p\r", max_size=14), max_size=3).map("\n".join))
def test_made_up_files_have_the_same_passwords(tmp_path: Path, text: str) -> None:
    asked = ("h", "1", "d", "u")
    assert ours(text, *asked) == libpq(tmp_path / "file", text, *asked)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["h", "*", "i", "\\h"]),
            st.sampled_from(["1", "*", "2"]),
            st.sampled_from(["d", "*", "e"]),
            st.sampled_from(["u", "*", "v"]),
            st.text("ab\\:* ", max_size=5),
        ).map(":".join),
        max_size=4,
    ).map("\n".join)
)
def test_the_first_line_that_fits_counts(tmp_path: Path, text: str) -> None:
    asked = ("h", "1", "d", "u")
    assert ours(text, *asked) == libpq(tmp_path / "file", text, *asked)


LINES: Final = st.lists(
    st.tuples(
        st.sampled_from(["h", "*", "i"]),
        st.sampled_from(["1", "*", "5432"]),
        st.sampled_from(["d", "*", "e"]),
        st.sampled_from(["u", "*", "v"]),
        st.sampled_from(["p", "q", "r", ""]),
    ).map(":".join),
    max_size=5,
).map("\n".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(LINES)
def test_a_database_has_the_password_that_libpq_takes_for_it(tmp_path: Path, text: str) -> None:
    """Whichever line it was found in, also where its name is only answered, and where its port is any."""
    entries = pgpass.read(text)
    for entry in entries:
        parts = pgpass.ranked(pgpass.found(entry), entries).parts
        if parts is None:
            continue
        place = (str(parts.host), str(parts.port), parts.database or "d", str(parts.user))
        wanted = libpq(tmp_path / "file", text, *place)
        if parts.database is None:
            whole = parts._replace(database="d")
            assert pgpass.password(entries, whole) == wanted
        else:
            assert parts.password == wanted


@pytest.mark.parametrize(
    ("text", "passwords"),
    [
        ("h:5432:*:u:FIRST\nh:5432:d:u:SECOND", ["FIRST", "FIRST"]),
        ("h:5432:d:u:FIRST\nh:5432:*:u:SECOND", ["FIRST", "SECOND"]),
        ("*:*:*:*:FIRST\nh:5432:d:u:SECOND", [None, "FIRST"]),
        ("h:*:d:u:FIRST\nh:5432:d:u:SECOND\nh:1:d:u:THIRD", ["FIRST", "FIRST", "FIRST"]),
        ("h:5432:d:u:FIRST\nh:*:d:u:SECOND", ["FIRST", "FIRST"]),
        ("h:5432:d:u:\nh:*:d:u:SECOND", [None, None]),
    ],
)
def test_a_line_before_goes_first_and_is_told(text: str, passwords: list[str | None]) -> None:
    entries = pgpass.read(text)
    whole = [pgpass.ranked(pgpass.found(entry), entries) for entry in entries]
    assert [one.parts.password if one.parts else None for one in whole] == passwords
    told = "libpq takes the password of line 1 for it, which comes first, and so does helm"
    moved = [
        one.parts is not None and entry.password != word
        for one, entry, word in zip(whole, entries, passwords, strict=True)
    ]
    assert [told in one.notes for one in whole] == moved


def test_localhost_is_the_usual_socket_too(tmp_path: Path) -> None:
    text = "localhost:5432:d:u:p"
    # Which folder is the usual one, whoever built this libpq chose.
    assert "p" in [libpq(tmp_path / "file", text, host, "5432", "d", "u") for host in pgpass._USUAL_SOCKETS]
    assert {ours(text, host, "5432", "d", "u") for host in pgpass._USUAL_SOCKETS} == {"p"}
    assert (
        ours(text, "/srv/pg", "5432", "d", "u") is libpq(tmp_path / "file", text, "/srv/pg", "5432", "d", "u") is None
    )
    assert ours("/srv/pg:5432:d:u:p", "/srv/pg", "5432", "d", "u") == "p"


@given(st.text())
def test_no_text_trips_the_reader(text: str) -> None:
    for entry in pgpass.read(text):
        pgpass.found(entry)


def test_a_whole_line_is_a_database() -> None:
    (entry,) = pgpass.read(f"db.test:6432:shop:me:{SECRET}\n")
    found = pgpass.found(entry)
    parts = Parts("postgres", host="db.test", port=6432, database="shop", user="me", password=SECRET)
    assert found == FoundDatabase("shop", "line 1", parts)
    assert SECRET not in repr((entry, found))


@pytest.mark.parametrize(
    ("line", "name", "told"),
    [
        ("*:1:d:u:p", "d", "it is for any host (*), and a profile has one"),
        ("h:1:d:*:p", "d", "it is for any user (*), and a profile has one"),
        (":1:d:u:p", "d", "its host, database or user is empty, so it fits no connection"),
        ("h:1:d:u:", "d", "it has no password"),
        ("h:x:d:u:p", "d", "its port is none from 1 to 65535"),
        ("?:1:?:u:p", "", "no name of a profile can be made from it"),
        (SECRET, "", "it is not host:port:database:user:password, so libpq never takes it"),
    ],
)
def test_what_is_no_database_says_why(line: str, name: str, told: str) -> None:
    (entry,) = pgpass.read(f"# first\n{line}")
    assert pgpass.found(entry) == FoundDatabase(name, "line 2", fault=told)


def test_any_database_is_left_to_be_asked_and_any_port_is_the_usual_one() -> None:
    (found,) = map(pgpass.found, pgpass.read("/run/pg:*:*:u:p"))
    parts = Parts("postgres", socket="/run/pg", port=5432, user="u", password="p")
    assert found == FoundDatabase("run-pg", "line 1", parts, ("it is for any port (*), of which helm takes 5432",))


def test_what_stands_for_anything_is_none_of_its_own_name() -> None:
    assert pgpass.read("\\*:*:a\\:b:*:x") == [Entry(1, "*", None, "a:b", None, "x")]
