"""`helm db`: database profiles, kept without their secrets, and a person's own look into the databases."""

import os
from functools import partial
from typing import Annotated

import typer

from helm_cli.broker import profiles as broker
from helm_cli.cli import OutputOption, ProfileArgument, broken, database, group, listing_format, trying
from helm_cli.cli.entry import gone, kept
from helm_cli.cli.given import Given
from helm_cli.cli.here import Here, here, note
from helm_cli.cli.listing import show_members, show_rows
from helm_cli.model.profile import Database
from helm_cli.store import profiles
from helm_cli.view import result

app = group(
    "Keep database profiles, and look into databases.",
    "A profile says where a database is and who signs in; calls of approved extensions use it. What shows tables, runs"
    " a query or opens a shell is for a person at the terminal.",
    ("helm db add local-app --engine sqlite --path ./app.db", "helm db test local-app", "helm db tables local-app"),
)

EngineOption = Annotated[str | None, typer.Option("--engine", metavar="ENGINE", help="sqlite, postgres or mysql.")]
PathOption = Annotated[str | None, typer.Option("--path", metavar="FILE", help="The SQLite file.")]
HostOption = Annotated[str | None, typer.Option("--host", metavar="HOST", help="The server.")]
PortOption = Annotated[int | None, typer.Option("--port", metavar="PORT", min=1, max=65535, help="Its port.")]
DatabaseOption = Annotated[str | None, typer.Option("--database", metavar="NAME", help="The database on it.")]
UserOption = Annotated[str | None, typer.Option("--user", metavar="USER", help="Who signs in.")]
SocketOption = Annotated[
    str | None,
    typer.Option("--socket", metavar="PATH", help="Its Unix socket, in place of --host (Postgres: the folder of it)."),
]
TlsOption = Annotated[
    str | None,
    typer.Option("--tls", metavar="MODE", help="disable, require or verify-full; else require off this machine."),
]
TlsCaOption = Annotated[
    str | None, typer.Option("--tls-ca", metavar="FILE", help="PEM certificates of who may vouch for the server.")
]
UrlOption = Annotated[
    str | None, typer.Option("--from-env", metavar="VAR", help="Take what a connection URL in this variable says.")
]
PasswordOption = Annotated[bool, typer.Option("--password-stdin", help="Read the password from standard input.")]


@app.command()
def add(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The profile's name.")] = None,
    engine: EngineOption = None,
    path: PathOption = None,
    host: HostOption = None,
    port: PortOption = None,
    socket: SocketOption = None,
    database_name: DatabaseOption = None,
    user: UserOption = None,
    tls: TlsOption = None,
    tls_ca: TlsCaOption = None,
    from_env: UrlOption = None,
    password_stdin: PasswordOption = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a profile of this name.")] = False,
) -> None:
    """Add a database profile; nothing is contacted, and a password goes to the credential store.

    \b
    Examples:
      helm db add local-app --engine sqlite --path ./app.db
      helm db add shop --engine postgres --host localhost --database shop --user me --password-stdin < password
      helm db add shop --from-env DATABASE_URL
    """
    place = here()
    given = Given(name, engine, path, host, port, socket, database_name, user, tls, tls_ca, from_env)
    profile, secret = database.complete(place, given, password_stdin=password_stdin, force=force)
    recorded = broker.add(place.stores, profile, secret, force=force)
    kept(place)
    where = f", its password in the {recorded.credential}" if recorded.credential else ""
    note(place.streams, f"added the {recorded.engine} profile {recorded.name}{where}")
    if recorded.path is not None and not os.path.exists(recorded.path):
        note(place.streams, f"there is no file {recorded.path} yet; helm never creates it")


@app.command()
def edit(
    name: ProfileArgument,
    path: PathOption = None,
    host: HostOption = None,
    port: PortOption = None,
    socket: SocketOption = None,
    database_name: DatabaseOption = None,
    user: UserOption = None,
    tls: TlsOption = None,
    tls_ca: TlsCaOption = None,
    from_env: UrlOption = None,
    password_stdin: PasswordOption = False,
    ask_password: Annotated[bool, typer.Option("--ask-password", help="Ask for a new password.")] = False,
) -> None:
    """Change a database profile; what is not given stays, and so do the comments in its file.

    \b
    Examples:
      helm db edit local-app --path /srv/app.db
      helm db edit shop --host db.internal --password-stdin < password
    """
    place = here()
    with broken.to_change(place, "db", name):
        old = profiles.load(place.stores.home, "db", name)
    given = Given(name, None, path, host, port, socket, database_name, user, tls, tls_ca, from_env)
    new, secret = database.changed(place, old, given, password_stdin=password_stdin, ask_password=ask_password)
    recorded = broker.change(place.stores, old, new, secret)
    kept(place)
    note(place.streams, f"changed the {new.engine} profile {name}{gone(old, recorded, 'password')}")


@app.command("list")
def list_(output: OutputOption = "auto") -> None:
    """List the database profiles.

    \b
    Examples:
      helm db list
      helm db list -o json
    """
    place = here()
    listing_format(output)
    columns = ("name", "engine", "where", "user", "tls", "credential")
    rows = broken.rows(place, "db", columns, lambda name: _listed(place, name))
    show_rows(place, output, columns, rows, "no database profiles yet; add one with helm db add")


@app.command()
def show(name: ProfileArgument, output: OutputOption = "auto") -> None:
    """Show a database profile, never its secret.

    \b
    Examples:
      helm db show local-app
      helm db show local-app -o json
    """
    place = here()
    profile = profiles.load(place.stores.home, "db", name)
    members = {name: value for name, value in {**profile._asdict(), "tls": _tls(profile)}.items() if value is not None}
    show_members(place, listing_format(output), members)


@app.command()
def remove(name: ProfileArgument) -> None:
    """Remove a database profile and its password.

    \b
    Examples:
      helm db remove local-app
      helm db remove shop
    """
    place = here()
    broker.remove(place.stores, "db", name)
    note(place.streams, f"removed the database profile {name}")


@app.command()
def test(name: ProfileArgument, output: OutputOption = "auto") -> int:
    """Try a database profile: open it, and say what answered.

    \b
    Examples:
      helm db test local-app
      helm db test shop && echo reachable
    """
    place = here()
    load = partial(profiles.load, place.stores.home, "db", name)
    return trying.report(place, "db", name, listing_format(output), load)


@app.command()
def tables(
    name: ProfileArgument,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FORMAT", help="auto, json, table, csv, tsv or ndjson.")
    ] = "auto",
) -> int:
    """List the tables and views of a database.

    For a person at the terminal. The number of rows is the engine's own estimate, where it has one.

    \b
    Examples:
      helm db tables local-app
      helm db tables shop -o csv
    """
    from helm_cli.cli import explore

    return explore.tables(here(), name, output)


@app.command()
def query(
    name: ProfileArgument,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One statement, with the engine's own placeholders.")],
    arg: Annotated[
        list[str] | None,
        typer.Option("--arg", metavar="VALUE", help="The next placeholder's value; 20, true, null are typed."),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FORMAT", help=", ".join(result.FORMATS) + ".")
    ] = "auto",
) -> int:
    """Run one statement, read-only.

    For a person at the terminal.

    \b
    Examples:
      helm db query local-app "SELECT * FROM tickets LIMIT 10"
      helm db query shop 'SELECT id FROM orders WHERE status = $1' --arg open -o csv
    """
    from helm_cli.cli import explore

    return explore.query(here(), name, sql, arg or [], output)


@app.command("shell")
def shell(name: ProfileArgument) -> int:
    """Look into a database by hand.

    For a person at the terminal. It is read-only until writes are turned on with \\w, and then asks about each of them.

    \b
    Examples:
      helm db shell local-app
      helm db shell shop
    """
    from helm_cli.cli import shell as typed

    return typed.run(here(), name)


@app.command("import")
def import_(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE", help="env, pg-service, pgpass, my.cnf, or such a file; else all that is there."
        ),
    ] = None,
    from_env: Annotated[
        list[str] | None,
        typer.Option("--from-env", metavar="VAR", help="Take the connection URL in this variable; may be repeated."),
    ] = None,
    env_file: Annotated[
        list[str] | None,
        typer.Option("--env-file", metavar="FILE", help="Take the connection URLs in this .env file; may be repeated."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace profiles of the same names.")] = False,
) -> int:
    """Take databases over from DATABASE_URL, pg_service.conf, .pgpass and .my.cnf.

    For a person at the terminal, who chooses. Passwords found there go to the credential store; files stay as they are.

    \b
    Examples:
      helm db import
      helm db import pg-service
      helm db import --env-file .env
    """
    from helm_cli.cli import db_import

    return db_import.run(here(), source, from_env or [], env_file or [], force=force)


def _tls(profile: Database) -> str | None:
    """The mode that a connection is made with; None where there is no connection over a network."""
    from helm_cli.drivers import trust

    if profile.host is None:
        return None
    return profile.tls or ("disable" if trust.loopback(profile.host) else "require")


def _listed(place: Here, name: str) -> dict[str, object]:
    profile = profiles.load(place.stores.home, "db", name)
    return {
        "name": profile.name,
        "engine": profile.engine,
        "where": profile.where(),
        "user": profile.user,
        "tls": _tls(profile),
        "credential": profile.credential,
    }
