"""`helm db`: database profiles, added and kept without their secrets."""

import os
from typing import Annotated

import typer

from helm_cli import drivers
from helm_cli.broker import profiles as broker
from helm_cli.broker import secrets
from helm_cli.cli import OutputOption, database, group, listing_format
from helm_cli.cli.database import Given
from helm_cli.cli.here import here, tell
from helm_cli.cli.listing import show_members, show_rows
from helm_cli.model.profile import Profile
from helm_cli.store import profiles

app = group("Keep database profiles.")

NameArgument = Annotated[str, typer.Argument(help="The profile's name.")]
EngineOption = Annotated[str | None, typer.Option("--engine", metavar="ENGINE", help="sqlite, postgres or mysql.")]
PathOption = Annotated[str | None, typer.Option("--path", metavar="FILE", help="The SQLite file.")]
HostOption = Annotated[str | None, typer.Option("--host", metavar="HOST", help="The server.")]
PortOption = Annotated[int | None, typer.Option("--port", metavar="PORT", min=1, max=65535, help="Its port.")]
DatabaseOption = Annotated[str | None, typer.Option("--database", metavar="NAME", help="The database on it.")]
UserOption = Annotated[str | None, typer.Option("--user", metavar="USER", help="Who signs in.")]
PasswordOption = Annotated[bool, typer.Option("--password-stdin", help="Read the password from standard input.")]


@app.command()
def add(
    name: Annotated[str | None, typer.Argument(help="The profile's name.")] = None,
    engine: EngineOption = None,
    path: PathOption = None,
    host: HostOption = None,
    port: PortOption = None,
    database_name: DatabaseOption = None,
    user: UserOption = None,
    password_stdin: PasswordOption = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a profile of this name.")] = False,
) -> None:
    """Add a database profile; nothing is contacted, and a password goes to the credential store.

    \b
    Examples:
      helm db add local-app --engine sqlite --path ./app.db
      helm db add shop --engine postgres --host localhost --database shop --user me --password-stdin < password
    """
    place = here()
    given = Given(name, engine, path, host, port, database_name, user)
    profile, secret = database.complete(place, given, password_stdin=password_stdin)
    recorded = broker.add(place.stores, profile, secret, force=force)
    where = f", its password in the {recorded.credential}" if recorded.credential else ""
    tell(place.streams, f"added the {recorded.engine} profile {recorded.name}{where}")
    if recorded.path is not None and not os.path.exists(recorded.path):
        tell(place.streams, f"there is no file {recorded.path} yet; helm never creates it")


@app.command()
def edit(
    name: NameArgument,
    path: PathOption = None,
    host: HostOption = None,
    port: PortOption = None,
    database_name: DatabaseOption = None,
    user: UserOption = None,
    password_stdin: PasswordOption = False,
) -> None:
    """Change a database profile; what is not given stays, and so do the comments in its file.

    \b
    Examples:
      helm db edit local-app --path /srv/app.db
      helm db edit shop --host db.internal --password-stdin < password
    """
    place = here()
    old = profiles.load(place.stores.home, "db", name)
    given = Given(name, old.engine, path, host, port, database_name, user)
    new, secret = database.changed(place, old, given, password_stdin=password_stdin)
    broker.change(place.stores, old, new, secret)
    tell(place.streams, f"changed the {new.engine} profile {name}")


@app.command("list")
def list_(output: OutputOption = "auto") -> None:
    """List the database profiles.

    \b
    Examples:
      helm db list
      helm db list -o json
    """
    place = here()
    rows = [_members(profiles.load(place.stores.home, "db", name)) for name in profiles.names(place.stores.home, "db")]
    show_rows(place, listing_format(output), ("name", "engine", "where", "user", "credential"), rows)


@app.command()
def show(name: NameArgument, output: OutputOption = "auto") -> None:
    """Show a database profile, never its secret.

    \b
    Examples:
      helm db show local-app
      helm db show local-app -o json
    """
    place = here()
    profile = profiles.load(place.stores.home, "db", name)
    members = {name: value for name, value in profile._asdict().items() if value is not None}
    show_members(place, listing_format(output), members)


@app.command()
def remove(name: NameArgument) -> None:
    """Remove a database profile and its password.

    \b
    Examples:
      helm db remove local-app
      helm db remove shop
    """
    place = here()
    broker.remove(place.stores, "db", name)
    tell(place.streams, f"removed the database profile {name}")


@app.command()
def test(name: NameArgument) -> None:
    """Try a database profile: open it, and say what answered.

    \b
    Examples:
      helm db test local-app
      helm db test shop && echo reachable
    """
    place = here()
    profile = profiles.load(place.stores.home, "db", name)
    secret = secrets.read(place.stores, profile)
    answer = drivers.driver(profile.engine).probe(profile, secret, drivers.Limits())
    place.streams.out.write(f"{name}: {answer}\n")


def _members(profile: Profile) -> dict[str, object]:
    where = profile.path if profile.engine == "sqlite" else f"{profile.host}:{profile.port}/{profile.database}"
    return {
        "name": profile.name,
        "engine": profile.engine,
        "where": where,
        "user": profile.user,
        "credential": profile.credential,
    }
