"""What pg_service.conf says is what libpq itself makes of it, and no profile is less strict than the service was."""

import os
import string
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import pq

from helm_cli.grammar import pg_defaults, pg_service
from helm_cli.grammar.database_url import Parts
from helm_cli.grammar.found import FoundDatabase
from helm_cli.grammar.pg_defaults import Surroundings
from helm_cli.grammar.pg_service import Service

SECRET: Final = "canary-71d0"
HOST: Final = "host=db.test"


def one(*lines: str, root: str | None = None) -> FoundDatabase:
    """What is found of a service of these lines."""
    (service,) = pg_service.read("\n".join(["[shop]", *lines]))
    found = pg_service.found(service, "login", Surroundings(root=root))
    assert SECRET not in repr((service, found))
    return found


def libpq(file: Path, text: str, name: str) -> dict[str, str] | None:
    """What libpq takes of a service, None where it refuses it; nothing is connected to."""
    file.write_text(text)
    os.environ.update(PGSERVICEFILE=str(file), PGSERVICE=name)
    try:
        refused = pq.PGconn.connect_start(b"hostaddr=127.0.0.1 port=1")
        if b"service file" in refused.error_message or b"not found" in refused.error_message:
            return None
        defaults = pq.Conninfo.get_defaults()
    finally:
        del os.environ["PGSERVICEFILE"], os.environ["PGSERVICE"]
    wanted = (b"host", b"port", b"dbname", b"password", b"sslmode", b"application_name")
    return {option.keyword.decode(): (option.val or b"").decode() for option in defaults if option.keyword in wanted}


FILES: Final = [
    "[a]\nhost=x\n",
    "[a]\n  host=x  \n\tport=6\n",
    "[a]\nhost=x\nhost=y\n",
    "[a]\nhost = x\n",
    "[a]\nhost=\n",
    "[a]\nHOST=x\n",
    "[a]\nport\n",
    "[a]\npassword=a=b=#c ;d\n",
    "[a]\npassword= lead\n",
    "[a] # tail\nhost=x\n",
    "[ a]\nhost=x\n[a]\nhost=y\n",
    "[b]\nnonsense\n[a]\nhost=x\n",
    "[a]\nhost=x\n[b]\nnonsense\n",
    "[a]\nhost=x\n[a]\nport=7\n",
    "[a\nhost=x\n",
    "[a]]\nhost=x\n",
    "# [a]\n[a]\n#host=y\n\n\nhost=x\r\n",
    "host=y\n[a]\nhost=x\n",
    "[a]\nservice=b\n[b]\nhost=x\n",
    "[a]\nservicefile=/x\n",
    "[a]\nfoo=bar\n",
    "[a]\nhost=x\x0b\n",
    "[a]\nhost=x\u00a0\n",
]


@pytest.mark.parametrize("text", FILES)
def test_a_file_means_what_it_means_to_libpq(tmp_path: Path, text: str) -> None:
    assert _agrees(tmp_path / "file", text)


def _agrees(file: Path, text: str) -> bool:
    wanted = libpq(file, text, "a")
    ours = next((service for service in pg_service.read(text) if service.name == "a"), None)
    if ours is None or ours.fault:
        return wanted is None
    usual = {"host": "", "port": "5432", "dbname": "", "password": "", "sslmode": "prefer", "application_name": ""}
    return wanted is not None and {**wanted, "dbname": ""} == {
        **usual,
        **{key: value for key, value in ours.values.items() if key in usual},
        "dbname": "",
    }


LINES: Final = st.lists(
    st.one_of(
        st.sampled_from(
            ["[a]", "[b]", " [a]x", "[a", "#", "", "host=x", "host=y z", "port=6", "x=1", "sslmode=prefer"]
        ),
        st.text(string.ascii_letters + " =[]#\t\\'", max_size=12).map("password=".__add__),
    ),
    max_size=7,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(LINES)
def test_made_up_files_mean_the_same(tmp_path: Path, lines: list[str]) -> None:
    assert _agrees(tmp_path / "file", "\n".join(lines))


@given(st.text() | LINES.map("\n".join))
def test_no_text_trips_the_reader(text: str) -> None:
    try:
        services = pg_service.read(text)
    except (ValueError, UnicodeEncodeError):
        return
    for service in services:
        pg_service.found(service, "login")


def test_a_line_that_libpq_would_cut_is_refused(tmp_path: Path) -> None:
    longest = "[a]\nhost=x\npassword=" + "p" * 1013
    assert _agrees(tmp_path / "file", longest)
    assert libpq(tmp_path / "file", f"{longest}p", "a") is None
    with pytest.raises(ValueError, match=r"^line 3 is longer than libpq reads \(1,022 bytes\)$"):
        pg_service.read(f"{longest}p")


def test_a_whole_service() -> None:
    whole = one(HOST, "port=6432", "dbname=orders", "user=me", f"password={SECRET}", "sslmode=require")
    parts = Parts("postgres", host="db.test", port=6432, database="orders", user="me", password=SECRET, tls="require")
    assert whole == FoundDatabase("shop", "shop", parts)


def test_what_libpq_takes_of_the_account_is_said() -> None:
    user = "it names no user, so libpq takes your own name, login"
    database = "it names no database, so libpq takes that of the user's name, login"
    assert one(HOST).notes == (user, database)
    found = one(HOST, "user=me").parts
    assert found is not None and (found.user, found.database) == ("me", "me")
    assert pg_service.found(Service("a", {"host": "x"}), "").fault == (
        "it names no user, and your account here has no name"
    )


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["host=db.test"], {"host": "db.test", "port": 5432}),
        (["hostaddr=10.0.0.1"], {"host": "10.0.0.1", "port": 5432}),
        (["host=/run/pg", "port=5433"], {"socket": "/run/pg", "port": 5433}),
        (["host=/run/pg", "sslmode=verify-full"], {"socket": "/run/pg", "port": 5432}),
    ],
)
def test_where_a_service_is(lines: list[str], place: dict[str, Any]) -> None:
    assert one(*lines, "user=me", "dbname=d").parts == Parts("postgres", database="d", user="me", **place)


PREFER: Final = "its sslmode prefer may go without TLS; helm is stricter and requires it off this machine"
BECOMES: Final = "becomes the stricter verify-full, with this machine's authorities"


@pytest.mark.parametrize(
    ("lines", "root", "tls", "authority", "notes"),
    [
        ([], None, None, None, []),
        ([], "/root.crt", None, None, []),
        (["sslmode=prefer"], None, None, None, [PREFER]),
        (["sslmode=allow", "sslrootcert=/ca"], None, None, None, [PREFER.replace("prefer", "allow")]),
        (["sslmode=disable", "sslrootcert=/ca"], None, "disable", None, []),
        (["sslmode=require"], None, "require", None, []),
        (["sslmode=require"], "/root.crt", "require", "/root.crt", []),
        (["sslmode=require", "sslrootcert=/ca"], "/root.crt", "require", "/ca", []),
        (["sslmode=verify-ca", "sslrootcert=/ca"], None, "require", "/ca", []),
        (["sslmode=verify-ca"], None, "verify-full", None, [f"its sslmode verify-ca {BECOMES}"]),
        (["sslmode=require", "sslrootcert=system"], None, "verify-full", None, [f"its sslmode require {BECOMES}"]),
        (["sslrootcert=system"], None, "verify-full", None, []),
        (["sslmode=verify-full"], None, "verify-full", None, []),
        (["sslmode=verify-full", "sslrootcert=system"], "/root.crt", "verify-full", None, []),
        (["sslmode=verify-full", "sslrootcert=/ca"], None, "verify-full", "/ca", []),
    ],
)
def test_tls_is_never_less_strict(
    lines: list[str], root: str | None, tls: str | None, authority: str | None, notes: list[str]
) -> None:
    found = one(HOST, "user=me", "dbname=d", *lines, root=root)
    assert found.parts is not None
    assert (found.parts.tls, found.parts.tls_ca, [*found.notes]) == (tls, authority, notes)


LESS: Final = "and without it the connection would be another, or less protected; add it by hand to go without"


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["host=a,b"], "it names several hosts, and a profile has one"),
        (["host=a", "port=1,2"], "it names several hosts, and a profile has one"),
        (["dbname=d"], "it names no host, and helm guesses no socket; add it by hand with --host or --socket"),
        (["host=@x"], "it names an abstract socket; add it by hand with --host or --socket"),
        (["host=a", "port=0"], "its port is none from 1 to 65535"),
        (["host=a", "port=x"], "its port is none from 1 to 65535"),
        (["host=a", "port=٣"], "its port is none from 1 to 65535"),
        (["host=a", "sslmode=maybe"], "its sslmode is none that libpq knows"),
        (["host=a", "options=-csearch_path=x"], f"helm has no setting for its options, {LESS}"),
        (["host=a", "channel_binding=require"], f"helm has no setting for its channel_binding, {LESS}"),
        (["host=a", f"requirepeer={SECRET}"], f"helm has no setting for its requirepeer, {LESS}"),
        (["ldap://x"], "line 2 would have it looked up in LDAP, which helm does not do"),
        (["host=a", "service=b"], "line 3 names another service, which libpq refuses too"),
        ([SECRET], "line 2 is no setting that libpq knows; it is written key=value without blanks"),
        ([f"{SECRET}=="], "line 2 is no setting that libpq knows; it is written key=value without blanks"),
    ],
)
def test_what_is_refused_says_why(lines: list[str], fault: str) -> None:
    found = one(*lines)
    assert (found.parts is None, found.fault) == (True, fault) or found.fault == fault


def test_what_is_left_out_is_named() -> None:
    assert one("host=a", "user=u", "dbname=d", "connect_timeout=3", "channel_binding=prefer").notes == (
        "connect_timeout and channel_binding are left out: helm has no such setting",
    )
    assert one("host=a", "hostaddr=10.0.0.1", "user=u", "dbname=d", "sslcert=/x").notes == (
        "its client certificate is left out: a server that wants one does not let helm in",
        "hostaddr is left out: helm looks its host up",
    )


def test_a_name_that_makes_none_is_refused() -> None:
    (service,) = pg_service.read("[???]\nhost=a")
    assert pg_service.found(service, "me").fault == "no name of a profile can be made from its name"


def test_every_keyword_that_libpq_knows_is_known_here() -> None:
    """One that a later libpq learns has to be thought about: kept, left out or refused."""
    known = pg_service._KEPT | pg_defaults.NEEDED | pg_service._LEFT_OUT
    theirs = {option.keyword.decode() for option in pq.Conninfo.get_defaults()} - {"service", "servicefile"}
    assert theirs <= known
