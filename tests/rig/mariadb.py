"""A real MariaDB for the tests: on a free port and a Unix socket, with TLS, as a user without rights, and then gone."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from mysql.connector.connection import MySQLConnection

from helm_cli.model.profile import Database
from tests.suites.driver import TICKETS, Bench

STARTS_WITHIN: Final = 30.0
NOBODY: Final = 65534
USER: Final = "helm_tester"
PASSWORD: Final = "s3cret 'of\" tests\\é"
LEAN: Final = (
    "--innodb-log-file-size=8M",
    "--innodb-buffer-pool-size=16M",
    "--innodb-flush-method=nosync",
    "--innodb-flush-log-at-trx-commit=0",
    "--skip-log-bin",
)


class MariaDb(NamedTuple):
    """`folder` holds its data, `ca.pem` and `other.pem` (a CA that did not sign it).

    Its names in TLS are localhost and 127.1.
    """

    folder: Path
    port: int
    process: int

    @property
    def socket(self) -> str:
        return str(self.folder / "db.sock")

    def profile(self, **changes: Any) -> Database:
        """A profile of the user that the tests call as; `changes` to it by name."""
        values: dict[str, Any] = {"host": "127.0.0.1", "port": self.port, "database": "app", "user": USER}
        return Database("local-app", "mysql", **{**values, **changes})

    def outside(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a statement that is run past helm, as the administrator."""
        with closing(
            MySQLConnection(unix_socket=self.socket, user="root", database="app", autocommit=True, charset="utf8mb4")
        ) as db:
            cursor = db.cursor()
            cursor.execute(sql)
            return [tuple(row) for row in cursor.fetchall()] if cursor.with_rows else []

    def idle(self) -> bool:
        """Whether nothing runs for the tests' user, a moment after it was told to end."""
        return soon(lambda: not self.running(), within=1.0)

    def running(self) -> list[str]:
        """What the server is running, not only preparing, for the tests' user right now."""
        rows = self.outside(
            "SELECT coalesce(info, command) FROM information_schema.processlist"
            f" WHERE user = '{USER}' AND command NOT IN ('Sleep', 'Prepare')"
        )
        return [str(row[0]) for row in rows]

    def bench(self) -> Bench:
        """A Bench with a fresh table `tickets`."""
        self.outside(
            "CREATE OR REPLACE TABLE tickets (id INT PRIMARY KEY, title VARCHAR(200), status VARCHAR(20))"
            f" AS SELECT {TICKETS[0][0]} AS id, '{TICKETS[0][1]}' AS title, '{TICKETS[0][2]}' AS status"
        )
        self.outside("INSERT INTO tickets VALUES " + ", ".join(str(row) for row in TICKETS[1:]))
        return Bench(
            profile=self.profile(),
            secret=PASSWORD,
            nowhere=self.profile(port=free_port()),
            outside=self.outside,
            endless="SELECT seq FROM seq_1_to_100000000",
            slow="SELECT a.seq FROM seq_1_to_1000000 a, seq_1_to_1000000 b WHERE a.seq + b.seq < 0",
            slow_write="DELETE FROM tickets WHERE id = 1 OR SLEEP(30)",
        )


def soon(true: Callable[[], object], within: float = 20.0) -> bool:
    """Whether `true` becomes so in time; asked again and again."""
    give_up = time.monotonic() + within
    while not true():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.01)
    return True


def free_port() -> int:
    """A port of the loopback that nothing listens on."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def running() -> Iterator[MariaDb]:
    """A server of its own, with the database `app`; stopped and removed at the end, and when the tests are killed."""
    folder = Path(tempfile.mkdtemp(prefix="helm-mariadb-"))
    folder.chmod(0o755)
    try:
        certificates(folder)
        _own(folder)
        _run(*_as_nobody(), "mariadb-install-db", "--no-defaults", *_where(folder), *_INSTALL)
        port = free_port()
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*_as_nobody(), _mariadbd(), "--no-defaults", *_where(folder), *_serve(folder, port)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        try:
            server = MariaDb(folder, port, process.pid)
            _prepare(server, process)
            yield server
        finally:
            process.kill()
            process.wait()
    finally:
        shutil.rmtree(folder)


_INSTALL: Final = ("--auth-root-authentication-method=normal", "--skip-test-db", *LEAN)


def _serve(folder: Path, port: int) -> tuple[str, ...]:
    return (
        f"--socket={folder}/db.sock",
        f"--port={port}",
        "--bind-address=127.0.0.1",
        "--skip-name-resolve",
        f"--pid-file={folder}/pid",
        f"--ssl-ca={folder}/ca.pem",
        f"--ssl-cert={folder}/cert.pem",
        f"--ssl-key={folder}/key.pem",
        "--max-allowed-packet=1G",
        "--secure-file-priv=",
        "--local-infile=1",
        "--event-scheduler=OFF",
        *LEAN,
    )


def _where(folder: Path) -> tuple[str, ...]:
    return f"--datadir={folder}/data", f"--tmpdir={folder}"


def _mariadbd() -> str:
    found = shutil.which("mariadbd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    assert found, "the tests need mariadbd (Debian: apt-get install mariadb-server)"
    return found


def _as_nobody() -> tuple[str, ...]:
    """The beginning of a command that ends with the tests, and has no rights of root."""
    rights = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups") if os.geteuid() == 0 else ()
    return ("setpriv", *rights, "--pdeathsig=KILL", "--") if shutil.which("setpriv") else ()


def _own(folder: Path) -> None:
    (folder / "data").mkdir()
    if os.geteuid() == 0:
        for path in (folder, *folder.iterdir()):
            os.chown(path, NOBODY, NOBODY)


def _prepare(server: MariaDb, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + STARTS_WITHIN
    while not os.path.exists(server.socket):
        assert process.poll() is None and time.monotonic() < give_up, (server.folder / "log").read_text()
        time.sleep(0.02)
    with closing(MySQLConnection(unix_socket=server.socket, user="root", autocommit=True, charset="utf8mb4")) as db:
        cursor = db.cursor()
        cursor.execute("CREATE DATABASE app CHARACTER SET utf8mb4")
        cursor.execute(f"CREATE USER {USER} IDENTIFIED BY %s", (PASSWORD,))
        cursor.execute(f"GRANT ALL ON *.* TO {USER}")


def certificates(folder: Path) -> None:
    """A CA, a certificate of it for localhost and 127.1, and another CA."""
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    for name in ("ca", "other"):
        _run(
            *("openssl", "req", "-x509", *curve, "-days", "2", "-subj", f"/CN=The {name} of tests"),
            *("-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.pem"),
        )
    _run(
        *("openssl", "req", "-new", *curve, "-subj", "/CN=localhost"),
        *("-keyout", f"{folder}/key.pem", "-out", f"{folder}/request.pem"),
    )
    (folder / "names").write_text("subjectAltName=DNS:localhost,DNS:127.1\n")
    _run(
        *("openssl", "x509", "-req", "-days", "2", "-in", f"{folder}/request.pem", "-extfile", f"{folder}/names"),
        *("-CA", f"{folder}/ca.pem", "-CAkey", f"{folder}/ca.key", "-set_serial", "1", "-out", f"{folder}/cert.pem"),
    )


def _run(*command: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
