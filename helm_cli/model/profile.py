"""What the user configured: where a connection goes, never with what secret."""

from typing import Final, Literal, NamedTuple

from helm_cli.model.jsontext import digest

Engine = Literal["sqlite", "postgres", "mysql"]
ENGINES: Final[tuple[Engine, ...]] = ("sqlite", "postgres", "mysql")
PORTS: Final[dict[str, int]] = {"postgres": 5432, "mysql": 3306}
Tls = Literal["disable", "require", "verify-full"]
Place = Literal["keychain", "file"]
NAME: Final = r"[a-z0-9][a-z0-9._-]{0,63}"


class Database(NamedTuple):
    """A database profile: the absolute path of a SQLite file, or where a server is and who signs in.

    `tls` is None where it was not chosen: then it is "require" off loopback and "disable" on it. `tls_ca` is the
    absolute path of a file of PEM certificates. `socket` is the absolute path of a Unix socket (Postgres: of its
    folder), in place of `host`. `credential` is the store that has the password, None where there is none.
    """

    name: str
    engine: Engine
    path: str | None = None
    host: str | None = None
    port: int | None = None
    socket: str | None = None
    database: str | None = None
    user: str | None = None
    tls: Tls | None = None
    tls_ca: str | None = None
    credential: Place | None = None

    @property
    def group(self) -> str:
        return "db"

    @property
    def account(self) -> str:
        """The account of its secret in the credential store (design, section 3)."""
        return f"db/{self.name}/password"

    def where(self) -> str:
        """The place in words, for the person who configured it and nobody else."""
        if self.engine == "sqlite":
            return self.path or ""
        if self.socket is not None:
            return f"{self.socket}:{self.database}"
        host = f"[{self.host}]" if ":" in (self.host or "") else self.host
        return f"{host}:{self.port}/{self.database}"

    def target_digest(self) -> str:
        """Where a call goes, whole: what a write token is bound to."""
        return digest({**self._asdict(), "credential": None})

    def secret_target_digest(self) -> str:
        """What the secret was entered for: when any of it changes, the secret is not used (design, section 3)."""
        return digest([self.engine, self.host, self.port, self.socket, self.user, self.tls, self.tls_ca])


# The union grows with each group: Database | Service | Server.
Profile = Database
