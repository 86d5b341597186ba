"""`helm mcp`: MCP server profiles, kept without their tokens, and what those servers offer."""

from typing import Annotated

import typer

from helm_cli.broker import profiles as broker
from helm_cli.cli import (
    OutputOption,
    ProfileArgument,
    TokenOption,
    WorkspaceOption,
    broken,
    group,
    listing_format,
    mcp_profile,
    trying,
)
from helm_cli.cli.entry import gone, kept
from helm_cli.cli.here import Here, here, note
from helm_cli.cli.listing import show_members, show_rows
from helm_cli.cli.mcp_profile import Given
from helm_cli.model.profile import Server
from helm_cli.store import profiles

app = group(
    "Keep MCP server profiles, and serve approved operations to MCP clients.",
    "A profile says how an MCP server is started or reached; calls of approved extensions use its tools. helm mcp serve"
    " is itself such a server: what it offers is what you approved.",
    (
        "helm mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/docs",
        "helm mcp tools files",
        "helm mcp serve --workspace ~/code/app",
    ),
)

CommandArgument = Annotated[
    list[str] | None, typer.Argument(metavar="-- COMMAND ARG…", help="The program that is the server.")
]
UrlOption = Annotated[str | None, typer.Option("--url", metavar="URL", help="Where its streamable HTTP is.")]
VariableOption = Annotated[
    str | None, typer.Option("--token-env", metavar="VAR", help="The one variable that gives a command its token.")
]
StartOption = Annotated[
    int | None, typer.Option("--start-seconds", metavar="N", min=1, max=600, help="What starting it may take; else 30.")
]


@app.command()
def add(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The profile's name.")] = None,
    command: CommandArgument = None,
    url: UrlOption = None,
    token_env: VariableOption = None,
    token_stdin: TokenOption = False,
    start_seconds: StartOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a profile of this name.")] = False,
) -> None:
    """Add an MCP server profile; nothing is started, and a token goes to the credential store.

    A command gets PATH, HOME, LOGNAME, SHELL, TERM and USER, and the one variable of --token-env.

    \b
    Examples:
      helm mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/docs
      helm mcp add github --token-env GITHUB_TOKEN --token-stdin -- github-mcp-server stdio < token
      helm mcp add linear --url https://mcp.linear.app/mcp --token-stdin < token
    """
    place = here()
    given = Given(name, command or [], url, token_env, start_seconds)
    profile = mcp_profile.complete(place, given, force=force)
    broker.check(place.stores, profile, force=force)
    token = mcp_profile.token(place, profile, stdin=token_stdin)
    recorded = broker.add(place.stores, profile, token, force=force)
    kept(place)
    where = f", its token in the {recorded.credential}" if recorded.credential else ""
    note(place.streams, f"added the MCP server profile {recorded.name}{where}")
    mcp_profile.warn(place, recorded)


@app.command()
def edit(
    name: ProfileArgument,
    command: CommandArgument = None,
    url: UrlOption = None,
    token_env: VariableOption = None,
    token_stdin: TokenOption = False,
    ask_token: Annotated[bool, typer.Option("--ask-token", help="Ask for a new token.")] = False,
    start_seconds: StartOption = None,
) -> None:
    """Change an MCP server profile; what is not given stays, and so do the comments in its file.

    \b
    Examples:
      helm mcp edit files -- npx -y @modelcontextprotocol/server-filesystem /srv/other
      helm mcp edit github --token-stdin < token
    """
    place = here()
    with broken.to_change(place, "mcp", name):
        old = profiles.load(place.stores.home, "mcp", name)
    given = Given(name, command or [], url, token_env, start_seconds)
    new = mcp_profile.changed(old, given)
    broker.check(place.stores, new, force=True)
    token = mcp_profile.new_token(place, old, new, stdin=token_stdin, ask=ask_token)
    recorded = broker.change(place.stores, old, new, token)
    kept(place)
    note(place.streams, f"changed the MCP server profile {name}{gone(old, recorded, 'token')}")
    mcp_profile.warn(place, recorded)


@app.command("list")
def list_(output: OutputOption = "auto") -> None:
    """List the MCP server profiles.

    \b
    Examples:
      helm mcp list
      helm mcp list -o json
    """
    place = here()
    listing_format(output)
    columns = ("name", "transport", "where", "token_env", "credential")
    rows = broken.rows(place, "mcp", columns, lambda name: _listed(place, name))
    show_rows(place, output, columns, rows, "no MCP server profiles yet; add one with helm mcp add")


@app.command()
def show(name: ProfileArgument, output: OutputOption = "auto") -> None:
    """Show an MCP server profile, never its token.

    \b
    Examples:
      helm mcp show github
      helm mcp show github -o json
    """
    place = here()
    profile = profiles.load(place.stores.home, "mcp", name)
    members = {field: value for field, value in profile._asdict().items() if value is not None}
    if profile.command is not None:
        members["command"] = list(profile.command) if output == "json" else profile.where()
    show_members(place, listing_format(output), members)


@app.command()
def remove(name: ProfileArgument) -> None:
    """Remove an MCP server profile and its token.

    \b
    Examples:
      helm mcp remove github
      helm mcp remove files
    """
    place = here()
    broker.remove(place.stores, "mcp", name)
    note(place.streams, f"removed the MCP server profile {name}")


@app.command()
def test(name: ProfileArgument, output: OutputOption = "auto", workspace: WorkspaceOption = None) -> int:
    """Try an MCP server profile: start it or reach it, and say what answered.

    \b
    Examples:
      helm mcp test github
      helm mcp test files --workspace ./app -o json
    """
    place = here()
    return trying.report(place, "mcp", name, listing_format(output), lambda: _reached(place, name, workspace))


@app.command()
def tools(name: ProfileArgument, output: OutputOption = "auto", workspace: WorkspaceOption = None) -> None:
    """List what an MCP server says of its tools; its hints are claims and prove nothing.

    \b
    Examples:
      helm mcp tools github
      helm mcp tools github -o json
    """
    from helm_cli.cli import mcp_tools

    place = here()
    listing_format(output)
    mcp_tools.show(place, _reached(place, name, workspace), output)


@app.command()
def serve(
    wait: Annotated[bool, typer.Option("--wait", help="Let a write wait until a person confirmed it.")] = False,
    run: Annotated[str | None, typer.Option("--run", metavar="ID", help="Serve the tools of one run alone.")] = None,
    workspace: WorkspaceOption = None,
) -> int:
    """Serve the approved operations of a workspace to an MCP client, on standard input and output.

    Each is a tool. A write answers confirmation_required with the id for helm confirm; with --wait it waits.

    \b
    Examples:
      helm mcp serve
      helm mcp serve --wait --workspace ~/code/app
      helm mcp serve --run k3v7q2ab
    """
    from helm_cli.cli import mcp_serve

    return mcp_serve.run(here(), workspace, run, wait=wait)


@app.command("import")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The configuration file of another MCP client.")],
    force: Annotated[bool, typer.Option("--force", help="Replace profiles of the same names.")] = False,
) -> int:
    """Take MCP servers over from the configuration of Claude, Cursor or VS Code.

    For a person at the terminal, who chooses. Tokens found there go to the credential store; the file stays as it is.

    \b
    Examples:
      helm mcp import ~/.claude.json
      helm mcp import .vscode/mcp.json
    """
    from helm_cli.cli import mcp_import

    return mcp_import.run(here(), file, force=force)


def _reached(place: Here, name: str, workspace: str | None) -> Server:
    """A profile as a call in this workspace would use it."""
    profile = profiles.load(place.stores.home, "mcp", name)
    return profile._replace(folder=mcp_profile.folder(place, workspace))


def _listed(place: Here, name: str) -> dict[str, object]:
    profile = profiles.load(place.stores.home, "mcp", name)
    return {
        "name": profile.name,
        "transport": "http" if profile.command is None else "stdio",
        "where": profile.where(),
        "token_env": profile.token_env,
        "credential": profile.credential,
    }
