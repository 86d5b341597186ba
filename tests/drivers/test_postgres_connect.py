"""A profile's connection goes where the profile says, with its secret, and tells nobody where that is."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from helm_cli.drivers import Limits, driver
from helm_cli.drivers.postgres_connect import conninfo
from helm_cli.drivers.postgres_library import PGconn
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database
from tests.rig.postgres import PASSWORD, Postgres, free_port
from tests.suites.driver import Bench, plan_of
from tests.suites.postgres import bench_of

# An address of this machine that does not look like one, so that helm takes its server for a distant one.
DISTANT = "127.1"


@pytest.fixture
def bench(postgres: Postgres) -> Bench:
    return bench_of(postgres)


def asked(profile: Database, sql: str = "SELECT current_user", secret: str | None = PASSWORD) -> Any:
    data: Any = driver("postgres").run(plan_of(sql, engine="postgres"), profile, secret, Limits())
    return data["rows"][0][0]


def refused(profile: Database, secret: str | None = PASSWORD) -> HelmError:
    with pytest.raises(HelmError) as caught:
        asked(profile, secret=secret)
    for told in (profile.host, str(profile.port), profile.user, profile.database, secret, profile.socket):
        assert not told or told not in caught.value.message
    assert "\n" not in caught.value.message
    return caught.value


SIGN_IN = "the server refused the sign-in; check the profile's user and password"
NOBODY = "nothing answers at the profile's host and port; check that the server runs"
CERTIFICATE = "the server's TLS certificate was not accepted; check the profile's TLS settings"


@pytest.mark.contract("C103")
@pytest.mark.parametrize(
    ("changes", "secret", "message"),
    [
        ({}, "wrong", SIGN_IN),
        ({"user": "zq_nobody"}, PASSWORD, SIGN_IN),
        ({}, None, "the server asks for a password and the profile has none; add it with helm db edit"),
        ({"database": "zq_missing"}, PASSWORD, "the server has no database of that name; check the profile's database"),
        ({"host": "nowhere.invalid"}, PASSWORD,
         "the host name of the database cannot be resolved; check the profile's host"),
        ({"port": 1}, PASSWORD, NOBODY),
        ({"socket": "/nonexistent", "host": None}, PASSWORD, NOBODY),
        ({"user": "zq_tls"}, PASSWORD,
         "the server refused the sign-in; it may accept only TLS, or not this user from here"),
        ({"host": "localhost", "tls": "verify-full"}, PASSWORD, CERTIFICATE),
        ({"host": DISTANT, "tls": "disable", "user": "zq_clear"}, PASSWORD,
         "the server asks for the password in clear text, which helm sends off this machine only with"
         " --tls verify-full"),
        ({"host": DISTANT, "tls": "require", "user": "zq_clear"}, PASSWORD,
         "the server asks for the password in clear text, which helm sends off this machine only with"
         " --tls verify-full"),
    ],
)  # fmt: skip
def test_no_connection_is_one_line(
    postgres: Postgres, changes: dict[str, Any], secret: str | None, message: str
) -> None:
    error = refused(postgres.profile(**changes), secret)
    assert (error.code, error.message, error.members) == ("unavailable", message, {})


@pytest.mark.parametrize("host", ["localhost,evil.example", "/tmp", "@abstract", "", "a b"])
def test_a_host_is_one_host(postgres: Postgres, host: str) -> None:
    error = refused(postgres.profile(host=host))
    assert (error.code, error.message) == (
        "not_configured",
        "the host of the profile local-app is none; edit the profile",
    )


@pytest.mark.parametrize("user", ["zq_clear", "zq_md5", "zq_owner"])
def test_passwords_by_every_method_on_this_machine(postgres: Postgres, user: str) -> None:
    assert asked(postgres.profile(user=user)) == user


def test_a_unix_socket(postgres: Postgres) -> None:
    profile = postgres.profile(host=None, socket=str(postgres.folder), tls=None)
    assert asked(profile, "SELECT inet_client_addr() IS NULL") is True


@pytest.mark.parametrize(
    ("changes", "secured"),
    [
        ({"tls": None}, False),
        ({"tls": None, "host": "localhost"}, False),
        ({"tls": None, "host": DISTANT}, True),
        ({"tls": "require"}, True),
        ({"tls": "require", "tls_ca": "ca.pem", "host": DISTANT}, True),
        ({"tls": "verify-full", "tls_ca": "ca.pem", "host": "localhost"}, True),
        ({"tls": "verify-full", "tls_ca": "ca.pem", "host": "localhost", "user": "zq_clear"}, True),
        ({"tls": "disable", "host": DISTANT}, False),
        ({"tls": "require", "user": "zq_tls"}, True),
    ],
)
def test_tls(postgres: Postgres, changes: dict[str, Any], secured: bool) -> None:
    if "tls_ca" in changes:
        changes = {**changes, "tls_ca": str(postgres.folder / changes["tls_ca"])}
    sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    assert asked(postgres.profile(**changes), sql) is secured


def test_a_certificate_of_another_name_or_authority(postgres: Postgres, tmp_path: Path) -> None:
    authority = str(postgres.folder / "ca.pem")
    for host in (DISTANT, "127.0.0.1"):
        error = refused(postgres.profile(tls="verify-full", tls_ca=authority, host=host))
        assert (error.code, error.message) == ("unavailable", CERTIFICATE)
    for mode in ("require", "verify-full"):
        other = str(postgres.folder / "server.pem")
        error = refused(postgres.profile(tls=mode, tls_ca=other, host="localhost"))
        assert (error.code, error.message) == ("unavailable", CERTIFICATE)
        error = refused(postgres.profile(tls=mode, tls_ca=str(tmp_path / "missing.pem"), host="localhost"))
        assert (error.code, error.message) == ("unavailable", CERTIFICATE)


@pytest.mark.parametrize("mode", ["require", "verify-full"])
def test_a_ca_file_that_never_ends_holds_nobody(postgres: Postgres, tmp_path: Path, mode: str) -> None:
    """libpq reads it deaf to the time and to Ctrl-C, so it is looked at first."""
    os.mkfifo(tmp_path / "fifo")
    with open(tmp_path / "large", "wb") as file:
        file.truncate(64 * 1024 * 1024)
    for path, what in {
        str(tmp_path / "fifo"): "is not a regular file",
        "/dev/zero": "is not a regular file",
        str(tmp_path): "is not a regular file",
        str(tmp_path / "large"): "is over 4 MiB, which no file of certificates is",
    }.items():
        error = refused(postgres.profile(tls=mode, tls_ca=path, host="localhost"))
        told = f"the CA file of the profile local-app {what}; name another with --tls-ca"
        assert (error.code, error.message) == ("unavailable", told)
    # Without TLS nobody reads it.
    assert asked(postgres.profile(tls="disable", tls_ca=str(tmp_path / "fifo"))) == "zq_owner"


def test_each_address_of_a_host_is_tried(postgres: Postgres) -> None:
    """They are looked up before, for libpq would do so deaf to the time and to Ctrl-C."""
    told = conninfo(postgres.profile(host="db.test", tls="require"), PASSWORD, ["127.0.0.9", "127.0.0.1"])
    assert told.startswith(b"host='db.test,db.test' hostaddr='127.0.0.9,127.0.0.1' port=")
    conn = PGconn.connect(told)
    assert (conn.status, conn.host, conn.hostaddr) == (0, b"db.test", b"127.0.0.1")
    conn.finish()
    error = refused(postgres.profile(host="nosuchhost.invalid"))
    told_ = "the host name of the database cannot be resolved; check the profile's host"
    assert (error.code, error.message) == ("unavailable", told_)


def test_the_surroundings_lead_nowhere_else(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    home = Path(os.environ["HOME"])
    service = home / "services.conf"
    service.write_text("[other]\nhost=127.0.0.9\nuser=other\n")
    passwords = home / ".pgpass"
    passwords.write_text(f"*:*:*:*:{PASSWORD}\n")
    passwords.chmod(0o600)
    (home / ".postgresql").mkdir()
    for name in ("root.crt", "postgresql.crt", "root.crl"):
        (home / ".postgresql" / name).write_text("not a certificate\n")
    for name, value in {
        "PGHOST": "127.0.0.9",
        "PGHOSTADDR": "127.0.0.9",
        "PGPORT": "1",
        "PGUSER": "other",
        "PGDATABASE": "other",
        "PGPASSWORD": PASSWORD,
        "PGPASSFILE": str(passwords),
        "PGSERVICE": "other",
        "PGSERVICEFILE": str(service),
        "PGOPTIONS": "-c search_path=pg_temp",
        "PGAPPNAME": "other",
        "PGSSLMODE": "verify-full",
        "PGSSLROOTCERT": "/nowhere",
        "PGREQUIREAUTH": "none",
        "PGTARGETSESSIONATTRS": "standby",
        "PGCLIENTENCODING": "LATIN1",
        "PGCONNECT_TIMEOUT": "1",
        "PGDATESTYLE": "German",
        "PGTZ": "Asia/Tokyo",
        "PGGEQO": "off",
        "PGCHANNELBINDING": "require",
        "PGMINPROTOCOLVERSION": "3.2",
    }.items():
        monkeypatch.setenv(name, value)
    sql = (
        "SELECT ARRAY[current_user, current_database(), current_setting('application_name'),"
        " current_setting('TimeZone'), current_setting('geqo'), current_setting('client_encoding'),"
        " current_setting('search_path')]"
    )
    told = ["zq_owner", "zq_main", "helm", "Etc/UTC", "on", "UTF8", '"$user", public']
    for tls in ("disable", "require"):
        assert asked(postgres.profile(tls=tls), sql)[:3] == told[:3]
        assert asked(postgres.profile(tls=tls), sql)[4:] == told[4:]
    assert asked(postgres.profile(), sql)[3] != "Asia/Tokyo"
    assert refused(postgres.profile(), None).code == "unavailable"
    assert capfd.readouterr() == ("", "")


def test_a_value_is_one_value_whatever_it_holds(postgres: Postgres) -> None:
    port = free_port()
    for text in ("x' host='127.0.0.9", "a\\' port=1 ", "é '\\", "o'br", "no certificate"):
        assert refused(postgres.profile(database=text)).message.startswith("the server has no database")
        assert refused(postgres.profile(user=text)).message == SIGN_IN
        assert refused(postgres.profile(), text).message == SIGN_IN
        assert refused(postgres.profile(port=port), text).message == NOBODY
    assert refused(postgres.profile(database="a\0b")).code == "not_configured"


def test_notices_go_nowhere(bench: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    bench.outside("CREATE FUNCTION loud() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'x'; RETURN 1; END $$")
    assert bench.call("SELECT loud()")["rows"] == [[1]]
    assert capfd.readouterr() == ("", "")


def test_many_threads_at_once_clear_the_surroundings(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(20):
        for number in range(200):
            monkeypatch.setenv(f"PGX{number}", "x")
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(lambda _: asked(postgres.profile(user="zq_trust")), range(4))) == ["zq_trust"] * 4
        assert not [name for name in os.environ if name.startswith("PG")]
