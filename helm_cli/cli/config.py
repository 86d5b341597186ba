"""`helm config`: what a home has goes to another machine without its secrets, and is taken over there."""

from typing import Annotated

import typer

from helm_cli.cli import group
from helm_cli.cli.here import here

app = group(
    "Take profiles to another machine, without their secrets.",
    "What export writes can be read and handed on. import shows what it would take over, and asks for the secrets.",
    ("helm config export helm.toml", "helm config import helm.toml"),
)


@app.command()
def export(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Where to write it, readable for you alone; - is standard output.")
    ] = "-",
    without: Annotated[
        list[str] | None,
        typer.Option("--without", metavar="GROUP/NAME", help="A profile to leave out, such as db/shop; repeatable."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Write all profiles as one text, without any secret.

    It is TOML, as the profiles themselves, so it can be read and shortened before it is handed on. It holds the
    settings of config.toml, and the digests of what is approved, which say what to review on the other machine. A
    profile in which something looks like a secret is refused. The same home gives the same bytes.

    \b
    Examples:
      helm config export
      helm config export helm.toml
      helm config export --without mcp/notes | ssh build 'cat > helm.toml'
    """
    from helm_cli.cli import config_export

    config_export.run(here(), file, without or [], force=force)


@app.command("import")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What helm config export wrote; - is standard input.")],
    all_: Annotated[bool, typer.Option("--all", help="Take all of it without asking which.")] = False,
    secrets_stdin: Annotated[
        bool, typer.Option("--secrets-stdin", help="Read the secrets from standard input, as one JSON object.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace profiles of the same names.")] = False,
) -> None:
    """Take profiles over that another machine exported.

    Nothing is taken while anything in the file is wrong. A person chooses, and types each secret unseen; an empty one
    is entered later, and until then calls say so. Without a person, as in a CI job, --all takes everything, and
    --secrets-stdin reads {"db/shop": "the password"}. Settings are shown and left to you, for helm only reads
    config.toml; what was approved must be reviewed here.

    \b
    Examples:
      helm config import helm.toml
      helm config import helm.toml --all --secrets-stdin < secrets.json
      helm config import - --all < helm.toml
    """
    from helm_cli.cli import config_import

    config_import.run(here(), file, everything=all_, piped=secrets_stdin, force=force)
