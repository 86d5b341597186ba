"""`helm doctor`: everything that helm needs, looked at once, with what to do about what is not well."""

import os
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import typer

from helm_cli.broker import health, health_home, health_profiles, health_secrets, health_state, health_workspace
from helm_cli.broker.health import Subject, guarded
from helm_cli.broker.workspace import Workspace
from helm_cli.cli import OutputOption, WorkspaceOption, doctor_here, group, listing_format
from helm_cli.cli.here import here
from helm_cli.model.errors import HelmError
from helm_cli.model.health import Check, exit_status
from helm_cli.view import health as view
from helm_cli.view.progress import progress
from helm_cli.view.streams import Streams

app = group("")


class Asked(NamedTuple):
    """The options of one look."""

    offline: bool
    seconds: float | None
    workspace: str | None


@app.command("doctor")
def command(
    offline: Annotated[bool, typer.Option("--offline", help="Contact nothing and start no MCP server.")] = False,
    seconds: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", min=0.1, max=600, help="What trying one profile may take."),
    ] = None,
    output: OutputOption = "auto",
    workspace: WorkspaceOption = None,
) -> int:
    """Check that everything helm needs is there and reachable.

    It changes nothing. Each profile is tried as `test` does: databases and services are asked with their secrets, MCP
    servers are started; a keychain asks nobody to unlock it, and no sign-in is renewed. It ends with 0 where all is
    well, 10 where something is not reachable, and 1 where helm's own state is broken.

    \b
    Examples:
      helm doctor
      helm doctor --offline -o json
    """
    listing_format(output)
    streams = Streams.here()
    checks = _checks(streams, Asked(offline, seconds, workspace))
    streams.write(view.as_json(checks, streams) if output == "json" else view.page(checks, streams))
    return exit_status(checks)


def _checks(streams: Streams, asked: Asked) -> list[Check]:
    found = guarded("helm", "version", doctor_here.installation)
    try:
        home = here().stores.home
    except HelmError as error:
        found.append(health.failed("home", "folder", error)._replace(next="export HELM_CLI_HOME=FOLDER"))
        return [*found, *guarded("terminal", "terminal", lambda: doctor_here.terminal(streams))]
    found += health_home.checks(home)
    around = guarded("terminal", "terminal", lambda: doctor_here.terminal(streams))
    if not health_home.is_own(home):
        return found + around
    subject = health.subject(home)
    where = health_workspace.find(subject, asked.workspace)
    if isinstance(where, HelmError) and asked.workspace is not None:
        raise where
    found += guarded("state", "state.db", lambda: health_state.checks(subject))
    vault = health_secrets.vault(subject)
    found += guarded("secrets", "store", lambda: health_secrets.checks(subject, vault))
    found += around + guarded("agent", "agent", lambda: doctor_here.agent(home))
    found += guarded("workspace", "workspace", lambda: health_workspace.checks(subject, where))
    return found + guarded("profiles", "profiles", lambda: _profiles(streams, subject, vault, asked, where))


def _profiles(
    streams: Streams,
    subject: Subject,
    vault: health_secrets.Vault,
    asked: Asked,
    where: Workspace | HelmError,
) -> Iterator[Check]:
    count = len(health_profiles.every(subject))
    with progress(streams, "profiles", count) as bar:
        trial = health_profiles.Trial(subject, vault, asked.offline, asked.seconds, _folder(where), bar.advance)
        yield from health_profiles.checks(trial)


def _folder(where: Workspace | HelmError) -> str:
    """Where MCP servers are started: in the workspace, else in the current folder, if that is still there."""
    if isinstance(where, Workspace):
        return where.path
    try:
        return os.getcwd()
    except OSError:
        return "/"
