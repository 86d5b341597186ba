"""A real Postgres server for the tests: its own folder, a free port, TLS and a Unix socket, gone when they end."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from helm_cli.model.profile import Database

OWNER: Final = "zq_owner"
PASSWORD: Final = "pass word's \\ end"
STARTS_WITHIN: Final = 30.0

# Who may sign in and how; the first line that fits decides.
HBA: Final = """
host    all  zq_clear  127.0.0.1/32  password
hostssl all  zq_tls    127.0.0.1/32  scram-sha-256
host    all  zq_tls    127.0.0.1/32  reject
host    all  zq_md5    127.0.0.1/32  md5
host    all  zq_trust  127.0.0.1/32  trust
host    all  all       127.0.0.1/32  scram-sha-256
local   all  all                     scram-sha-256
"""


class Postgres(NamedTuple):
    """A running server. `folder` holds its socket and `ca.pem`, the authority of its certificate for localhost.

    `open` are the tests' own sessions by database, kept from one question to the next.
    """

    folder: Path
    port: int
    pid: int
    open: dict[str, Any]

    def profile(self, **changes: Any) -> Database:
        """The owner's profile, over TCP, with these changes."""
        whole = Database(
            "local-app", "postgres", host="127.0.0.1", port=self.port, database="zq_main", user=OWNER, tls="disable"
        )
        return whole._replace(**changes)

    @contextmanager
    def session(self, database: str = "zq_main") -> Iterator[Any]:
        """A new session of the owner's, through psycopg, each statement on its own."""
        with self._connect(database) as connection:
            yield connection

    def _connect(self, database: str) -> Any:
        import psycopg

        return psycopg.connect(
            host="127.0.0.1", port=self.port, dbname=database, user=OWNER, password=PASSWORD, autocommit=True
        )

    def outside(self, sql: str, database: str = "zq_main") -> list[tuple[Any, ...]]:
        """The rows of a statement that helm has nothing to do with."""
        if database not in self.open:
            self.open[database] = self._connect(database)
        cursor = self.open[database].execute(sql)
        return list(cursor.fetchall()) if cursor.description else []

    def running(self) -> list[tuple[Any, ...]]:
        """What sessions of helm's do at this moment: pid, state and statement."""
        return self.outside(
            "SELECT pid, state, query FROM pg_stat_activity WHERE application_name = 'helm' ORDER BY pid"
        )

    def quiet(self, seconds: float = 2.0) -> bool:
        """Whether no session of helm's is left, or none soon: a server notices that one went away a little later."""
        ends = time.monotonic() + seconds
        while self.running():
            if time.monotonic() > ends:
                return False
            time.sleep(0.01)
        return True

    def fresh(self, *statements: str) -> None:
        """An empty schema, and then these statements."""
        for statement in ("DROP SCHEMA IF EXISTS public CASCADE", "CREATE SCHEMA public", *statements):
            self.outside(statement)


@contextmanager
def running() -> Iterator[Postgres]:
    """A new server, started and stopped. It ends too when whoever runs the tests is killed."""
    folder = Path(tempfile.mkdtemp(prefix="helm-postgres-"))
    process: subprocess.Popen[bytes] | None = None
    try:
        _own(folder)
        folder.chmod(0o755)
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        _as_server(
            [_program("initdb"), "-D", f"{folder}/data", "-U", OWNER, "-A", "scram-sha-256", "--no-sync",
             "--pwfile", f"{folder}/password", "--encoding", "UTF8", "--locale", "C.UTF-8"],
        )  # fmt: skip
        (folder / "data" / "pg_hba.conf").write_text(HBA)
        _certificates(folder)
        port = free_port()
        process = subprocess.Popen(_command(folder, port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server = Postgres(folder, port, process.pid, {})
        _wait_for(server, process)
        _populate(server)
        yield server
        for connection in server.open.values():
            connection.close()
    finally:
        if process is not None:
            process.send_signal(signal.SIGQUIT)
            process.wait(10)
        shutil.rmtree(folder)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def silent() -> Iterator[int]:
    """A port at which everything is taken and nothing answered."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(8)
        yield listening.getsockname()[1]


# What becomes of some bytes of a client: they pass; the line is cut before them; they pass and the line is cut in
# place of their answer; they are held back for as long as the client waits.
Verdict = Literal["pass", "cut", "unanswered", "held"]


@contextmanager
def relay(port: int, mark: bytes, verdict: Verdict) -> Iterator[int]:
    """A port that passes bytes to and from `port`, but for those of the client that hold `mark`."""
    listening = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                server = socket.create_connection(("127.0.0.1", port))
                line = _Line(client, server, threading.Event(), threading.Event())
                for work in (partial(_answers, line), partial(_questions, line, mark, verdict)):
                    threads.append(threading.Thread(target=work, daemon=True))
                    threads[-1].start()

    threads.append(threading.Thread(target=serve, daemon=True))
    threads[0].start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for thread in threads:
            thread.join(5)


class _Line(NamedTuple):
    client: socket.socket
    server: socket.socket
    muted: threading.Event
    answered: threading.Event


def _questions(line: _Line, mark: bytes, verdict: Verdict) -> None:
    with suppress(OSError):
        while data := line.client.recv(65536):
            if mark in data and verdict != "pass":
                if verdict == "unanswered":
                    line.muted.set()
                    line.server.sendall(data)
                    assert line.answered.wait(5)
                elif verdict == "held":
                    while line.client.recv(65536):
                        pass
                break
            line.server.sendall(data)
    for end in (line.client, line.server):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
    line.client.close()


def _answers(line: _Line) -> None:
    with suppress(OSError):
        while data := line.server.recv(65536):
            if line.muted.is_set():
                line.answered.set()
            else:
                line.client.sendall(data)
    with suppress(OSError):
        line.client.shutdown(socket.SHUT_RDWR)
    line.server.close()


def _command(folder: Path, port: int) -> list[str]:
    settings = {
        "port": port,
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": folder,
        "fsync": "off",
        "synchronous_commit": "off",
        "full_page_writes": "off",
        "autovacuum": "off",
        "shared_buffers": "32MB",
        "max_connections": 60,
        "max_prepared_transactions": 4,
        "ssl": "on",
        "ssl_cert_file": folder / "server.pem",
        "ssl_key_file": folder / "server.key",
        "restart_after_crash": "off",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return [*_unprivileged("INT"), _program("postgres"), "-D", f"{folder}/data", *options]


def _wait_for(server: Postgres, process: subprocess.Popen[bytes]) -> None:
    from psycopg import OperationalError

    give_up = time.monotonic() + STARTS_WITHIN
    while True:
        assert process.poll() is None, "the server did not start"
        try:
            with server.session("postgres"):
                return
        except OperationalError:
            assert time.monotonic() < give_up, "the server does not answer"
            time.sleep(0.02)


def _populate(server: Postgres) -> None:
    server.outside("CREATE DATABASE zq_main", "postgres")
    for user in ("zq_clear", "zq_tls", "zq_md5", "zq_trust"):
        method = "md5" if user == "zq_md5" else "scram-sha-256"
        with server.session() as connection:
            connection.execute(f"SET password_encryption = '{method}'")
            connection.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{PASSWORD.replace(chr(39), chr(39) * 2)}'")
    for encoding in ("LATIN1", "SQL_ASCII"):
        server.outside(
            f"CREATE DATABASE zq_{encoding.lower()} TEMPLATE template0 ENCODING {encoding} LOCALE 'C'", "postgres"
        )


def _certificates(folder: Path) -> None:
    """An authority, and the server's certificate for the name localhost that it signed."""
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    (folder / "names").write_text("subjectAltName = DNS:localhost\n")
    for command in (
        ["req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=tests"],
        ["req", *new[:-2], "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost"],
        ["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
         "-extfile", "names", "-out", "server.pem"],
    ):  # fmt: skip
        subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True)
    _own(folder / "server.key")
    (folder / "server.key").chmod(0o600)


def _program(name: str) -> str:
    """The path of one of Postgres's programs, which Debian keeps out of PATH."""
    kept = [str(path) for path in Path("/usr/lib/postgresql").glob(f"*/bin/{name}")]
    found = max(kept, default=None) or shutil.which(name)
    assert found, f"there is no {name}; install the Postgres server"
    return found


def _server_user() -> pwd.struct_passwd | None:
    """Whom the server runs as: Postgres refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise AssertionError("there is no user to run Postgres as")


def _own(path: Path) -> None:
    if user := _server_user():
        os.chown(path, user.pw_uid, user.pw_gid)


def _unprivileged(at_death: str) -> list[str]:
    user = _server_user()
    change = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"] if user else []
    return ["setpriv", f"--pdeathsig={at_death}", *change]


def _as_server(command: list[str]) -> None:
    done = subprocess.run([*_unprivileged("KILL"), *command], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr
