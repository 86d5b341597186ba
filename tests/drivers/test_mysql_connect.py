"""A profile's own values say where a call goes and how; nothing else does, and no password is sent in clear."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helm_cli.drivers import Limits, mysql
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database
from tests.rig.mariadb import PASSWORD, USER, MariaDb
from tests.rig.mysql8 import FAST, FULL, NONCE, OK, Mysql8, error, mysql8
from tests.suites.driver import BRIEF, plan_of

CIPHER = "SHOW SESSION STATUS LIKE 'Ssl_cipher'"


def call(profile: Database, secret: str | None = PASSWORD, sql: str = "SELECT 1", limits: Limits | None = None) -> Any:
    return mysql.run(plan_of(sql, engine="mysql"), profile, secret, limits or Limits())


def refusal(profile: Database, secret: str | None = PASSWORD, limits: Limits | None = None) -> str:
    """The message of a call that must be `unavailable` and tell nothing."""
    with pytest.raises(HelmError) as caught:
        call(profile, secret, limits=limits)
    error = caught.value
    assert (error.code, error.members) == ("unavailable", {}), error.message
    assert "\n" not in error.message
    for told in (
        profile.host,
        profile.user,
        profile.socket,
        profile.tls_ca,
        str(profile.port),
        secret,
    ):
        assert not told or told not in error.message, error.message
    return error.message


SERVER = "the database server of the profile local-app "


def test_tls_is_off_on_the_loopback_unless_it_is_asked_for(mariadb: MariaDb) -> None:
    assert call(mariadb.profile(), sql=CIPHER)["rows"] == [["Ssl_cipher", ""]]
    for tls in ("require", "verify-full"):
        profile = mariadb.profile(tls=tls, host="localhost", tls_ca=str(mariadb.folder / "ca.pem"))
        assert call(profile, sql=CIPHER)["rows"][0][1].startswith("TLS_")
    assert call(mariadb.profile(tls="require"), sql=CIPHER)["rows"][0][1].startswith("TLS_")


def test_tls_is_required_off_the_loopback_unless_it_is_turned_off(mariadb: MariaDb) -> None:
    # It resolves to 127.0.0.1, but is not one of the names that surely do.
    assert call(mariadb.profile(host="127.1"), sql=CIPHER)["rows"][0][1].startswith("TLS_")
    assert call(mariadb.profile(host="127.1", tls="disable"), sql=CIPHER)["rows"] == [["Ssl_cipher", ""]]
    with mysql8(Mysql8(sign_in=(FAST, OK))) as server:
        assert refusal(_profile(server, host="127.1")) == (
            "the database server does not offer TLS, which the profile requires"
        )
    assert server.in_clear == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tls": "verify-full", "ca": "other"}, "could not be trusted: self-signed certificate in certificate chain"),
        ({"tls": "require", "ca": "other"}, "could not be trusted: self-signed certificate in certificate chain"),
        ({"tls": "verify-full"}, "could not be trusted: self-signed certificate in certificate chain"),
        ({"tls": "verify-full", "ca": "ca", "host": "127.0.0.1"}, "could not be trusted: ip address mismatch"),
    ],
)
def test_a_certificate_that_does_not_fit(mariadb: MariaDb, changes: dict[str, str], reason: str) -> None:
    ca = changes.pop("ca", None)
    profile = mariadb.profile(**{"host": "localhost", "tls_ca": ca and str(mariadb.folder / f"{ca}.pem"), **changes})
    assert refusal(profile) == SERVER + reason


def test_a_ca_file_that_is_none(mariadb: MariaDb) -> None:
    profile = mariadb.profile(tls="verify-full", tls_ca=str(mariadb.folder / "names"))
    assert refusal(profile) == "the CA file of the profile local-app cannot be read as PEM certificates"


def test_a_ca_file_that_never_ends_holds_nobody(mariadb: MariaDb, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for tls in ("require", "verify-full"):
        profile = mariadb.profile(tls=tls, tls_ca=str(tmp_path / "fifo"))
        told = "the CA file of the profile local-app is not a regular file; name another with --tls-ca"
        assert refusal(profile) == told


def test_a_unix_socket(mariadb: MariaDb, tmp_path: Path) -> None:
    profile = mariadb.profile(socket=mariadb.socket, host=None, port=None)
    assert call(profile, sql="SELECT CURRENT_USER(), DATABASE()")["rows"] == [[f"{USER}@%", "app"]]
    missing = mariadb.profile(socket=str(tmp_path / "none.sock"), host=None, port=None)
    assert refusal(missing) == SERVER + "is not there: its Unix socket does not exist"


@pytest.mark.parametrize(
    ("changes", "secret", "reason"),
    [
        ({}, "wrong", "refused the sign-in; check the user and the password"),
        ({}, None, "refused the sign-in; check the user and the password"),
        ({"user": "stranger"}, PASSWORD, "refused the sign-in; check the user and the password"),
        ({"database": "nosuchdb"}, PASSWORD, "has no such database, or the user may not use it; check its name"),
        ({"host": "nosuchhost.invalid"}, PASSWORD, "has a host name that cannot be resolved; check the name"),
        ({"host": "a" * 70}, PASSWORD, "has a host name that cannot be resolved; check the name"),
        ({"port": 1}, PASSWORD, "is not there: the connection was refused; check the host and the port"),
    ],
)
def test_no_connection_is_one_line(mariadb: MariaDb, changes: dict[str, Any], secret: str | None, reason: str) -> None:
    assert refusal(mariadb.profile(**changes), secret) == SERVER + reason


def test_files_and_variables_of_mysql_change_nothing(
    mariadb: MariaDb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".my.cnf").write_text("[client]\nhost=203.0.113.1\nport=1\nuser=x\npassword=x\ndatabase=mysql\n")
    for name, value in {
        "HOME": str(tmp_path),
        "MYSQL_HOME": str(tmp_path),
        "MYSQL_HOST": "203.0.113.1",
        "MYSQL_TCP_PORT": "1",
        "MYSQL_UNIX_PORT": "/nowhere",
        "MYSQL_PWD": "x",
        "USER": "x",
    }.items():
        monkeypatch.setenv(name, value)
    assert call(mariadb.profile(), sql="SELECT DATABASE(), CURRENT_USER()")["rows"] == [["app", f"{USER}@%"]]


def test_the_server_learns_nothing_of_this_machine(mariadb: MariaDb) -> None:
    with mysql8(Mysql8(sign_in=(FAST, OK))) as server, pytest.raises(HelmError):
        call(_profile(server))
    assert not any(word in b"".join(server.in_clear) for word in (b"_pid", b"_os", socket.gethostname().encode()))


def _profile(server: Mysql8, **changes: Any) -> Database:
    values: dict[str, Any] = {"host": "127.0.0.1", "port": server.port, "database": "app", "user": USER}
    return Database("local-app", "mysql", **{**values, **changes})


@pytest.mark.parametrize(
    "fake",
    [
        Mysql8(),
        Mysql8(sign_in=(b"\xfecaching_sha2_password\0" + NONCE + b"\0", FULL, OK)),
        Mysql8(method="mysql_native_password", sign_in=(b"\xfecaching_sha2_password\0" + NONCE + b"\0", FULL, OK)),
        Mysql8(method="mysql_native_password", sign_in=(b"\xfemysql_clear_password\0", OK)),
        Mysql8(method="mysql_clear_password", sign_in=(OK,)),
        Mysql8(method="sha256_password", sign_in=(OK,)),
        Mysql8(method="mysql_native_password", sign_in=(b"\xfesha256_password\0" + NONCE + b"\0", OK)),
    ],
    ids=["full", "switch to full", "native to full", "switch to clear", "clear", "sha256", "switch to sha256"],
)
@pytest.mark.parametrize("tls", ["disable", "require", None])
def test_a_server_that_wants_the_password_in_clear_does_not_get_it(fake: Mysql8, tls: Any) -> None:
    with mysql8(Mysql8(method=fake.method, sign_in=fake.sign_in)) as server:
        message = refusal(_profile(server, tls=tls))
    assert server.greeted
    assert not any(PASSWORD.encode() in packet for packet in server.in_clear)
    if tls == "require":
        assert message == "the database server does not offer TLS, which the profile requires"
        assert not any(USER.encode() in packet for packet in server.in_clear)


@pytest.mark.parametrize("method", ["authentication_oci_client", "authentication_webauthn_client", "../x", "dialog"])
def test_other_ways_to_sign_in_are_refused(method: str) -> None:
    for fake in (
        Mysql8(method=method),
        Mysql8(method="mysql_native_password", sign_in=(b"\xfe" + method.encode() + b"\0" + NONCE, OK)),
    ):
        with mysql8(fake) as server:
            assert refusal(_profile(server)) == (
                "the database server asks for a way to sign in that helm does not have"
            )


@pytest.fixture
def over_tls(mariadb: MariaDb) -> Iterator[Mysql8]:
    pair = (mariadb.folder / "cert.pem", mariadb.folder / "key.pem")
    with mysql8(Mysql8(certificate=pair, answers=PREPARED)) as server:
        yield server


def column(name: str, kind: int, charset: int = 255) -> bytes:
    """A column definition: catalog, schema, table, its own name, name, its own name, and the fixed part."""
    texts = [b"def", b"app", b"t", b"t", name.encode(), name.encode()]
    fixed = b"\x0c" + charset.to_bytes(2, "little") + b"\0\4\0\0" + bytes([kind]) + b"\0\0\0\0\0"
    return b"".join(bytes([len(text)]) + text for text in texts) + fixed


EOF = b"\xfe\0\0\2\0"
DOCUMENT = b'{"a": [1, 2.5, null], "b": 12345678901234567890}'
ROW = b"\x01" + b"1" + bytes([len(DOCUMENT)]) + DOCUMENT
COLUMNS = (column("n", 8, 63), column("j", 245, 63))
PREPARED = {
    "SELECT": (b"\0\1\0\0\0\2\0\0\0\0\0\0", *COLUMNS, EOF),
    "EXECUTE": (b"\2", *COLUMNS, EOF, ROW, EOF),
}


@pytest.mark.parametrize("tls", [None, "require"])
def test_over_tls_mysql_gets_the_password_it_asks_for(over_tls: Mysql8, tls: Any) -> None:
    data = call(_profile(over_tls, tls=tls), sql="SELECT n, j FROM t")
    assert data == {"columns": ["n", "j"], "rows": [["1", {"a": [1, 2.5, None], "b": 12345678901234567890}]]}
    assert not any(PASSWORD.encode() in packet for packet in over_tls.in_clear)
    assert PASSWORD.encode() + b"\0" in over_tls.in_tls
    assert over_tls.statements[-1] == "ROLLBACK"


WANTS_IT = [
    Mysql8(),
    Mysql8(sign_in=(b"\xfecaching_sha2_password\0" + NONCE + b"\0", FULL, OK)),
    Mysql8(sign_in=(b"\xfecaching_sha2_password\0\x04", OK)),
    Mysql8(sign_in=(b"\xfecaching_sha2_password\0\x04\0", OK)),
    Mysql8(method="mysql_native_password", sign_in=(b"\xfemysql_clear_password\0", OK)),
    Mysql8(method="mysql_clear_password", sign_in=(OK,)),
    Mysql8(method="sha256_password", sign_in=(OK,)),
    Mysql8(method="mysql_native_password", sign_in=(b"\xfesha256_password\0" + NONCE + b"\0", OK)),
]


@pytest.mark.parametrize("fake", WANTS_IT)
@pytest.mark.parametrize(("tls", "ca"), [(None, None), ("require", None), ("require", "ca.pem")])
def test_a_man_in_the_middle_of_unproved_tls_does_not_get_the_password(
    mariadb: MariaDb, fake: Mysql8, tls: Any, ca: str | None
) -> None:
    pair = (mariadb.folder / "cert.pem", mariadb.folder / "key.pem")
    # It resolves to 127.0.0.1, but is not one of the names that surely do.
    with mysql8(Mysql8(method=fake.method, sign_in=fake.sign_in, certificate=pair, answers=PREPARED)) as server:
        message = refusal(_profile(server, host="127.1", tls=tls, tls_ca=ca and str(mariadb.folder / ca)))
    assert not any(PASSWORD.encode() in packet for packet in server.in_clear + server.in_tls)
    assert server.statements == []
    if b"\x04" in b"".join(fake.sign_in[:1])[-2:] and fake.sign_in[0] != FULL:
        assert message.startswith(SERVER)
    else:
        assert message == SERVER + "wants the password itself; use --tls verify-full"


@pytest.mark.parametrize("short", [b"\x04", b"\x04\0", b""])
def test_a_challenge_that_the_connector_takes_for_a_demand(short: bytes) -> None:
    with mysql8(Mysql8(sign_in=(b"\xfecaching_sha2_password\0" + short, OK))) as server:
        refusal(_profile(server, tls="disable"))
    assert not any(PASSWORD.encode() in packet for packet in server.in_clear)


def test_a_server_that_proved_its_name_gets_the_password_it_asks_for(over_tls: Mysql8, mariadb: MariaDb) -> None:
    profile = _profile(over_tls, host="127.1", tls="verify-full", tls_ca=str(mariadb.folder / "ca.pem"))
    assert call(profile, sql="SELECT n, j FROM t")["columns"] == ["n", "j"]
    assert PASSWORD.encode() + b"\0" in over_tls.in_tls
    assert not any(PASSWORD.encode() in packet for packet in over_tls.in_clear)


def test_the_environment_does_not_choose_whom_to_trust(mariadb: MariaDb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(mariadb.folder / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(mariadb.folder))
    assert refusal(mariadb.profile(host="localhost", tls="verify-full")) == (
        SERVER + "could not be trusted: self-signed certificate in certificate chain"
    )


@pytest.mark.contract("C98")
def test_mysqls_own_clock_and_session(over_tls: Mysql8) -> None:
    call(_profile(over_tls), sql="SELECT n, j FROM t", limits=Limits(seconds=3))
    clocks = next(sql for sql in over_tls.statements if "lock_wait_timeout" in sql)
    assert clocks.startswith(
        "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci, SESSION autocommit = 1, SESSION lock_wait_timeout = 4,"
        " SESSION innodb_lock_wait_timeout = 4, SESSION max_execution_time = 30"
    )
    assert clocks.endswith(", SESSION transaction_read_only = 1")
    assert over_tls.statements[:2] == [clocks, "START TRANSACTION READ ONLY"]
    assert over_tls.statements[2].startswith("SET @helm_statement = ")
    assert over_tls.statements[3:] == [
        "PREPARE helm_statement FROM @helm_statement",
        "EXECUTE helm_statement",
        "ROLLBACK",
    ]


def test_a_server_that_does_not_know_the_clocks(over_tls: Mysql8) -> None:
    names = "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci, SESSION autocommit = 1"
    over_tls.answers[f"{names}, "] = (error(1193, "Unknown system variable"),)
    assert call(_profile(over_tls), sql="SELECT n, j FROM t")["columns"] == ["n", "j"]
    assert over_tls.statements[1:3] == [names, "SET SESSION TRANSACTION READ ONLY"]


def test_bytes_before_tls_begins_are_not_taken_for_an_answer(over_tls: Mysql8) -> None:
    whole = over_tls.greeting()
    injected = b"\x07\0\0\x02" + OK

    class Injecting(Mysql8):
        def greeting(self) -> bytes:
            return whole

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        import threading

        def serve() -> None:
            peer, _ = listener.accept()
            with peer:
                peer.sendall(len(whole).to_bytes(3, "little") + b"\0" + whole + injected)
                peer.recv(4096)
                peer.recv(4096)

        thread = threading.Thread(target=serve)
        thread.start()
        profile = Database(
            "local-app", "mysql", host="127.0.0.1", port=listener.getsockname()[1], user=USER, tls="require"
        )
        assert refusal(profile) == "the database server sent more than its greeting before TLS began"
        thread.join()


@pytest.mark.contract("C99")
@pytest.mark.parametrize(
    "says", [b"", b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\5\0\0\0\x0aabcd", b"\xff" * 9000]
)
@pytest.mark.parametrize("hangs", [True, False])
def test_what_answers_is_no_mysql_server(says: bytes, hangs: bool) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        peers: list[socket.socket] = []
        import threading

        def serve() -> None:
            peer, _ = listener.accept()
            peer.sendall(says)
            peers.append(peer)
            if not hangs:
                peer.close()

        thread = threading.Thread(target=serve)
        thread.start()
        begun = time.monotonic()
        profile = Database("local-app", "mysql", host="127.0.0.1", port=listener.getsockname()[1], user=USER)
        assert refusal(profile, limits=BRIEF).startswith(SERVER)
        assert time.monotonic() - begun < 1.4
        thread.join()
        for peer in peers:
            peer.close()


@pytest.mark.contract("C99")
def test_a_black_hole_ends_in_time() -> None:
    with closing(socket.create_server(("127.0.0.1", 0), backlog=0)) as listener:
        port = listener.getsockname()[1]
        full = [socket.socket() for _ in range(4)]
        for one in full:  # the queue of the listener is full then, and a new connection is not answered
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        begun = time.monotonic()
        assert refusal(Database("local-app", "mysql", host="127.0.0.1", port=port, user=USER), limits=BRIEF) == (
            SERVER + "did not answer in time"
        )
        assert time.monotonic() - begun < 1.4
        for one in full:
            one.close()


def test_prepare_runs_nothing_and_says_what_would_fail(mariadb: MariaDb) -> None:
    bench = mariadb.bench()
    good = [
        "SELECT id FROM tickets WHERE id = ?",
        "UPDATE tickets SET id = ? + 1",
        "INSERT INTO tickets VALUES (?, 1, 2)",
    ]
    for sql in good:
        effect: Any = "read" if sql.startswith("SELECT") else "write"
        mysql.prepare(plan_of(sql, 1, engine="mysql", effect=effect), bench.profile, PASSWORD, Limits())
    bad = {
        "SELECT * FROM nosuchtable": "query_failed",
        "SELECT ?": "refused",
        "CALL nothing()": "refused",
        "SELECT 1 INTO OUTFILE '/nowhere'": "refused",
        "SELEC": "refused",
        "SELECT FROM": "query_failed",
    }
    for sql, code in bad.items():
        with pytest.raises(HelmError) as caught:
            mysql.prepare(plan_of(sql, engine="mysql"), bench.profile, PASSWORD, Limits())
        assert caught.value.code == code, sql
    assert bench.outside("SELECT id FROM tickets") == [(1,), (2,), (3,)]


def test_the_probe_names_the_product(mariadb: MariaDb, over_tls: Mysql8) -> None:
    line = mysql.probe(mariadb.profile(), PASSWORD, Limits())
    assert line.startswith("MariaDB 10.") and line.endswith((" tables", " table"))
    over_tls.version = "8.0.36\x1b[31m"
    assert mysql.probe(_profile(over_tls), PASSWORD, Limits()).startswith("MySQL 8.0.36[31m, 1 table")
