"""Where a call goes: the profiles that the user configured, and the folders of a workspace; never with what secret."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from helm_cli.model.jsontext import Json, digest

Engine = Literal["sqlite", "postgres", "mysql"]
ENGINES: Final[tuple[Engine, ...]] = ("sqlite", "postgres", "mysql")
PORTS: Final[dict[str, int]] = {"postgres": 5432, "mysql": 3306}
Tls = Literal["disable", "require", "verify-full"]
Place = Literal["keychain", "file"]
Format = Literal["bearer", "raw"]
SignIn = Literal["oauth2", "token", "none"]
TdtProfile = Literal["read-only", "everyday"]
NAME: Final = r"[a-z0-9][a-z0-9._-]{0,63}"
# The name of an environment variable; and those that every server's command gets of helm's own, and no others of it
# (contract, MCP).
VARIABLE: Final = r"[A-Za-z_][A-Za-z0-9_]*"
SAFE_VARIABLES: Final = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
# Those that the loader, a shell, an interpreter or a library acts on before the server does: a token in them would be
# run, opened or looked up, and repeated in what they say of it. Matched in upper case; what ends as a secret's name
# does is a service's own, such as LD_API_KEY (sudo(8) and glibc list most of them).
ACTED_ON: Final = (
    r"(?!\w*_(?:KEY|TOKEN|SECRET|PASSWORD)S?\Z)(?:"
    r"(?:LD|DYLD|_RLD|BASH|PERL5?|RUBY|GIT|LC|MALLOC|GCONV|COREPACK|BUN|DENO|JAVA|DOTNET|CORECLR|COMPLUS|NPM_CONFIG|PIP"
    r"|UV|OPENSSL|GLIBC|NIX|TERMINFO)_\w*"
    r"|PERL5?LIB|PERL5OPT|PERL5DB|RUBYLIB|RUBYOPT|RUBYPATH|LUA_\w*PATH\w*|PYTHON[A-Z0-9]*|PYTHON_[A-Z]*"
    r"|NODE_(?:OPTIONS|PATH|DEBUG\w*|EXTRA_CA_CERTS|REPL_\w*|V8_COVERAGE|ICU_DATA|PENDING_\w*|REDIRECT_WARNINGS"
    r"|TLS_REJECT_UNAUTHORIZED|DISABLE_\w*|ENV|NO_WARNINGS)"
    r"|ENV|IFS|PS[0-4]|CDPATH|FPATH|ZDOTDIR|SHELLOPTS|BASHOPTS|GLOBIGNORE|PROMPT_COMMAND|SHLVL|PWD|OLDPWD"
    r"|TERMCAP|TERMPATH|TERMINFO|LANG|LANGUAGE|LOCPATH|NLSPATH|TZ|TZDIR|TMP|TEMP|TMPDIR|HOSTALIASES|LOCALDOMAIN"
    r"|RES_OPTIONS|RESOLV_HOST_CONF|GETCONF_DIR|NIS_PATH|SHLIB_PATH|LIBPATH|LIBRARY_PATH"
    r"|_?JAVA_\w*|JDK_JAVA_OPTIONS|CLASSPATH|GODEBUG|GOFLAGS|GOTRACEBACK|RUST_(?:LOG|BACKTRACE)"
    r"|SSL_CERT_\w*|SSLKEYLOGFILE|REQUESTS_CA_BUNDLE|CURL_(?:HOME|CA_BUNDLE)|(?:HTTPS?|ALL|FTP|NO)_PROXY"
    r"|DOCKER_(?:HOST|CONFIG|CONTEXT)|XDG_\w*|EDITOR|VISUAL|PAGER|BROWSER)"
)


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


class Service(NamedTuple):
    """A service profile: a base URL, and how its calls are authorized.

    With a `client_id` it signs in by OAuth2, else it sends a token (`header`, `format`), or none where `credential` is
    None. `redirect_port` is the port of the OAuth2 callback. `authorize_url` and `token_url` are only for extensions
    whose dialect declares none. `credential` is the store that has the token or the client secret; a public client
    has none. Where the tokens of a sign-in are, the sign-in itself records.
    """

    name: str
    base_url: str
    header: str = "Authorization"
    format: Format = "bearer"
    client_id: str | None = None
    redirect_port: int | None = None
    authorize_url: str | None = None
    token_url: str | None = None
    credential: Place | None = None

    @property
    def group(self) -> str:
        return "service"

    @property
    def oauth2(self) -> bool:
        return self.client_id is not None

    @property
    def sign_in(self) -> SignIn:
        """How its calls are authorized."""
        if self.oauth2:
            return "oauth2"
        return "none" if self.credential is None else "token"

    @property
    def account(self) -> str:
        return self.item("client-secret" if self.oauth2 else "token")

    def addresses(self, declared: Mapping[str, Any]) -> tuple[str, str]:
        """Where a sign-in goes: the authorizeUrl and the tokenUrl of a declared oauth2, else the profile's, else ""."""
        return (
            declared.get("authorizeUrl", self.authorize_url) or "",
            declared.get("tokenUrl", self.token_url) or "",
        )

    def item(self, field: str) -> str:
        """The account of one of its secrets: "token", "client-secret", "access-token" or "refresh-token"."""
        return f"service/{self.name}/{field}"

    def where(self) -> str:
        return self.base_url

    def target_digest(self) -> str:
        return digest({**self._asdict(), "credential": None})

    def secret_target_digest(self) -> str:
        return digest(["service", self.base_url, self.client_id, self.token_url])


class Server(NamedTuple):
    """An MCP server's profile: a command with its arguments, or the URL of a streamable HTTP server.

    `token_env` is the one variable that gives the command its token; a URL gets it as a bearer header.
    `start_seconds` is what starting it may take. `folder` is set for a call and never kept: the workspace, in which
    a command is started.
    """

    name: str
    command: tuple[str, ...] | None = None
    url: str | None = None
    token_env: str | None = None
    start_seconds: int = 30
    credential: Place | None = None
    folder: str | None = None

    @property
    def group(self) -> str:
        return "mcp"

    @property
    def account(self) -> str:
        return f"mcp/{self.name}/token"

    def where(self) -> str:
        from shlex import join

        return self.url if self.url is not None else join(self.command or ())

    def target_digest(self) -> str:
        return digest({**self._asdict(), "command": _json(self.command), "credential": None})

    def secret_target_digest(self) -> str:
        return digest(["mcp", _json(self.command), self.url])


class Root(NamedTuple):
    """The folder that a files connection works in: the workspace, or a registered project, by its resolved path.

    `private` is helm's own home, which no call gets into even where it lies in that folder.
    """

    name: str
    path: str
    project: bool = False
    private: str = ""

    @property
    def credential(self) -> None:
        return None

    def where(self) -> str:
        return self.path

    def target_digest(self) -> str:
        return digest(["root", self.name, self.path, self.project])


class Brain(NamedTuple):
    """The TDT workspace of a tdt-mcp connection, by its resolved path, and which of TDT's profiles is enabled in it.

    `locks` is the folder of helm's own in which it is noted who has started its server.
    """

    folder: str
    profile: TdtProfile
    locks: str

    @property
    def name(self) -> str:
        return "tdt"

    @property
    def credential(self) -> None:
        return None

    def where(self) -> str:
        return self.folder

    def target_digest(self) -> str:
        return digest(["tdt", self.folder, self.profile])


# What the user configured, each kept in the group of its name; and everything that a call may go to.
Profile = Database | Service | Server
Target = Profile | Root | Brain


def _json(command: tuple[str, ...] | None) -> Json:
    return None if command is None else [*command]
