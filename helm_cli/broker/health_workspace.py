"""What can be wrong in a workspace: extensions that calls are refused of, and what waits there for a person."""

import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Final

from helm_cli.broker import authorization, drafts, plugin, targets, workspace
from helm_cli.broker import review as reviewing
from helm_cli.broker.health import Subject, command, failed, guarded
from helm_cli.broker.plugin import Team
from helm_cli.broker.workspace import Workspace
from helm_cli.grammar import cron
from helm_cli.kinds import tools
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection
from helm_cli.model.health import Check
from helm_cli.model.review import Profiled, Review
from helm_cli.store import approvals, confirmations, profiles, schedules
from helm_cli.store import drafts as kept
from helm_cli.store.approvals import Approval

AREA: Final = "workspace"
# How late a schedule may be: whoever asks for what is due does so every few minutes.
LATE_SECONDS: Final = 3_600.0


def find(subject: Subject, named: str | None) -> Workspace | HelmError:
    """The workspace, or why there is none."""
    try:
        return workspace.find(subject.stores, named)
    except HelmError as error:
        return error


def checks(subject: Subject, where: Workspace | HelmError) -> Iterator[Check]:
    """All about the workspace. Raises HelmError "state"."""
    if subject.trouble is not None:
        yield Check(AREA, "workspace", "warning", "not looked at, for state.db cannot be read", "see state.db above")
        return
    yield from guarded(AREA, "waiting", lambda: _waiting(subject))
    if isinstance(where, HelmError):
        yield _none(where)
        return
    yield Check(AREA, "folder", "ok", f"{where.path} ({where.found})")
    found = approvals.listed(subject.stores.db, where.path)
    if not found:
        yield Check(AREA, "extensions", "ok", "none is approved here yet")
    lines = [
        line
        for approval in found
        for line in guarded(AREA, approval.extension, partial(_extension, subject, where, approval))
    ]
    yield from lines
    # Else these would say the same once more.
    if all(line.well for line in lines):
        yield from guarded(AREA, "drafts", lambda: _drafts(subject, where))
        yield from guarded(AREA, "schedules", lambda: _schedules(subject, where))


def _none(error: HelmError) -> Check:
    # To stand in the home folder is no mistake, to name a folder that is none is.
    named = "HELM_CLI_WORKSPACE" in os.environ
    line = failed(AREA, "folder", error, "warning" if named else "ok")
    return line._replace(next="unset HELM_CLI_WORKSPACE") if named else line._replace(next=None)


def _extension(subject: Subject, where: Workspace, approval: Approval) -> Iterator[Check]:
    name = approval.extension
    again = f"helm plugin review {quote(approval.folder)}"
    if not approval.enabled:
        yield Check(AREA, name, "ok", "approved, but disabled")
        return
    try:
        found = reviewing.approved(subject.stores, approval)
    except HelmError as error:
        yield failed(AREA, name, error)._replace(next=again)
        return
    told = list(_problems(subject, where, found))
    if not os.path.isdir(approval.folder):
        yield Check(AREA, name, "warning", "its folder is gone, so its calls are refused", f"helm plugin forget {name}")
    elif found.status == "changed":
        yield Check(AREA, name, "warning", "it changed since it was approved, so its calls are refused", again)
    elif not told:
        number = sum(len(connection.operations) for connection in found.extension.connections)
        yield Check(AREA, name, "ok", f"approved and unchanged, {number} operation{'' if number == 1 else 's'}")
    yield from told


def _problems(subject: Subject, where: Workspace, found: Review) -> Iterator[Check]:
    """What its calls lack, each thing once."""
    lines: dict[Check, None] = {}
    for profiled in found.connections:
        connection = profiled.connection
        if connection.kind == "tools":
            lines.update(dict.fromkeys(_named_tools(subject, found, connection)))
        else:
            lines.update(dict.fromkeys(_connection(subject, where, found, profiled)))
    yield from lines


def _connection(subject: Subject, where: Workspace, found: Review, profiled: Profiled) -> Iterator[Check]:
    name, connection = found.extension.id, profiled.connection
    group, profile = connection.group, connection.profile
    if profiled.state == "missing":
        told = f"{connection.id} is not configured: there is no {group} profile {profile}"
        yield Check(AREA, name, "warning", told, f"helm {group} add {profile}")
    elif profiled.state in ("engine differs", "sign-in differs"):
        told = f"{connection.id} cannot use the {group} profile {profile}: {profiled.detail}"
        yield Check(AREA, name, "warning", told, f"helm {group} show {profile}")
    elif connection.kind in ("http", "tdt-mcp") and profiled.state != "broken":
        yield from _authorized(subject, where, name, connection)


def _authorized(subject: Subject, where: Workspace, name: str, connection: Connection) -> Iterator[Check]:
    try:
        target = targets.find(subject.stores, where, connection, {})
        authorization.check(subject.stores, connection, target)
    except HelmError as error:
        # A sign-in that serves no call at all stands in the line of its profile.
        if error.code == "refused" or connection.kind == "tdt-mcp":
            yield failed(AREA, name, error, "warning")


def _named_tools(subject: Subject, found: Review, connection: Connection) -> Iterator[Check]:
    """What the named tools of a plugin lack: a binding, or the service that they are bound to."""
    name, home = found.extension.id, subject.stores.home
    for operation in connection.operations:
        wrong = tools.problem(name, operation)
        # A builtin tool is nothing that the person could bind.
        if wrong is not None and operation.spec.get("kind") == "http":
            what, _, step = wrong.rpartition("; ")
            yield Check(AREA, name, "warning", what, command(step))
        elif wrong is None and not profiles.exists(home, "service", str(operation.spec["service"])):
            service = operation.spec["service"]
            told = f"{operation.name} is not configured: there is no service profile {service}"
            yield Check(AREA, name, "warning", told, f"helm service add {service}")


def _waiting(subject: Subject) -> Iterator[Check]:
    """Of every workspace: `helm confirm` asks about all of them."""
    found = confirmations.waiting(subject.stores.db, subject.stores.clock())
    for what, noun in (("write", "write"), ("approval", "approval")):
        number = sum(one.what == what for one in found)
        if number:
            told = f"{number} {noun}{' waits' if number == 1 else 's wait'} for a person"
            yield Check(AREA, "waiting", "warning", told, "helm confirm")
    if not found:
        yield Check(AREA, "waiting", "ok", "nothing waits for a person")


def _drafts(subject: Subject, where: Workspace) -> Iterator[Check]:
    stores = subject.stores
    folder = Path(stores.config.drafts_dir or "")
    if folder == stores.home / kept.NAME and not folder.exists():
        return
    del subject.notices[:]
    queue = drafts.every(stores, where)
    for state, told in (("waiting", "waits for approval"), ("approved", "is approved and not published")):
        number = sum(queued.state == state for queued in queue)
        if number:
            plural = told.replace("waits", "wait").replace("is ", "are ", 1)
            words = f"1 draft {told}" if number == 1 else f"{number} drafts {plural}"
            yield Check(AREA, "drafts", "warning", words, "helm draft list")
    for notice in subject.notices:
        yield Check(AREA, "drafts", "warning", notice, f"ls -l {quote(str(folder))}")


def _schedules(subject: Subject, where: Workspace) -> Iterator[Check]:
    for team in plugin.teams(subject.stores, where):
        told = _schedule(subject, where, team)
        if told:
            yield Check(AREA, "schedules", "warning", f"{team.extension.id} {told}", "helm plugin due")


def _schedule(subject: Subject, where: Workspace, team: Team) -> str:
    """Why the schedules of a plugin seem to be nobody's to ask for, "" where they are asked for or it has none."""
    crons = {trigger.cron for trigger in team.plugin.triggers if trigger.on == "schedule"}
    marks = schedules.marks(subject.stores.db, where.path, team.extension.id)
    if crons - marks.keys():
        return "has a schedule, and nobody asks here what is due"
    late = subject.stores.clock() - LATE_SECONDS
    overdue = [text for text in crons if cron.next_after(cron.parse(text), marks[text], _offset) <= late]
    return "has a schedule that came due over an hour ago, and nobody asked" if overdue else ""


def _offset(at: float) -> int:
    return time.localtime(at).tm_gmtoff
