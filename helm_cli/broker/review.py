"""What there is to know before saying yes to an extension: what it is, what it may do, and what changed."""

import os
from typing import Final, NamedTuple

from helm_cli import dialects
from helm_cli.broker import content, difference, tools, warnings
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.content import Content
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension
from helm_cli.model.profile import Database, Service, SignIn
from helm_cli.model.review import Caution, Change, FileChange, Invalid, Listed, Profiled, Review, Status
from helm_cli.store import approvals, profiles
from helm_cli.store import tools as pins
from helm_cli.store.approvals import Approval

_SIGN_IN: Final[dict[SignIn, str]] = {
    "oauth2": "signs in by OAuth2",
    "token": "sends a token",
    "none": "sends no token",
}


class Valid(NamedTuple):
    """A folder that is an extension."""

    folder: str
    content: Content
    extension: Extension


def folder_of(path: str) -> str:
    """The folder that a person means by `path`: itself, or the one that holds the manifest which it names."""
    folder, name = os.path.split(path)
    return folder or "." if name in dialects.DIALECTS and os.path.isfile(path) else path


def validate(folder: str) -> Valid | Invalid:
    """What is in `folder` (links in its own path are followed). Raises HelmError "usage" where it is no folder."""
    path = os.path.realpath(folder)
    if not os.path.isdir(path):
        raise HelmError("usage", f"{folder} is not a folder; name the folder that holds the manifest")
    if not _is_text(path):
        raise HelmError("usage", "the folder's path is not UTF-8; rename it")
    found = content.read(path)
    if found.faults:
        return Invalid(path, found.faults)
    reading = dialects.read(found.content)
    if reading.faults or reading.extension is None:
        return Invalid(path, reading.faults)
    return Valid(path, found.content, reading.extension)


def review(stores: Stores, workspace: Workspace, folder: str, *, ask: bool = False) -> Review | Invalid:
    """The review of the extension in `folder` for one workspace; with `ask`, its MCP servers are asked what they offer.

    Raises HelmError "usage" and "state".
    """
    found = validate(folder)
    if isinstance(found, Invalid):
        return found
    approval = approvals.find(stores.db, workspace.path, found.extension.id)
    connections = _all_profiled(stores, found.extension)
    if not ask:
        return _against(stores, workspace, found, approval, _Known(connections))
    servers = tools.ask(stores, workspace.path, connections)
    changes: tuple[Change, ...] = ()
    if approval is not None:
        seen = pins.pinned(stores.db, workspace.path, approval.extension)
        # Of a content that is new anyway, a tool that nobody has seen is no change.
        same = approval.digest == found.content.digest
        known = [connection for connection in found.extension.connections if same or connection.id in seen]
        changes = tuple(tools.changes(known, servers, seen))
    return _against(stores, workspace, found, approval, _Known(connections, servers, changes))


def approved(stores: Stores, approval: Approval) -> Review:
    """The review of what was approved, from the approved copy; it is "changed" where the folder no longer is that."""
    kept = approvals.content(stores.db, approval.digest)
    found = Valid(approval.folder, kept, dialects.build(kept))
    seen = pins.pinned(stores.db, approval.workspace, approval.extension)
    known = _Known(_all_profiled(stores, found.extension), tools.remembered(found.extension.connections, seen))
    shown = _against(stores, Workspace(approval.workspace, "where it was approved"), found, approval, known)
    return shown if content.matches(stores, approval) else shown._replace(status="changed")


def _is_text(path: str) -> bool:
    return os.fsencode(path).decode("utf-8", "replace").encode() == os.fsencode(path)


class _Known(NamedTuple):
    """What is known of an extension's connections besides what it declares of them."""

    connections: tuple[Profiled, ...]
    servers: tuple[Listed, ...] = ()
    changes: tuple[Change, ...] = ()


class _Difference(NamedTuple):
    """How a content differs from the one that was approved before it."""

    changes: tuple[Change, ...] = ()
    files: tuple[FileChange, ...] = ()
    warnings: tuple[Caution, ...] = ()


def _all_profiled(stores: Stores, extension: Extension) -> tuple[Profiled, ...]:
    return tuple(_profiled(stores, connection) for connection in extension.connections)


def _against(stores: Stores, workspace: Workspace, found: Valid, approval: Approval | None, known: _Known) -> Review:
    digest = found.content.digest
    differs = _Difference()
    if approval is not None and approval.digest != digest:
        differs = _difference(stores, approval, found)
    cautions = (*warnings.of_profiles(known.connections), *warnings.of(found.extension, known.servers))
    return Review(
        workspace=workspace.path,
        workspace_found=workspace.found,
        folder=found.folder,
        content=found.content,
        digest=digest,
        extension=found.extension,
        status=_status(approval, found.folder, digest),
        enabled=approval is not None and approval.enabled,
        approved_folder=approval.folder if approval else "",
        approved_digest=approval.digest if approval else "",
        connections=known.connections,
        warnings=(*differs.warnings, *cautions),
        changes=difference.ordered((*differs.changes, *known.changes)),
        files=differs.files,
        elsewhere=tuple(approvals.elsewhere(stores.db, digest, workspace.path)),
        servers=known.servers,
    )


def _difference(stores: Stores, approval: Approval, found: Valid) -> _Difference:
    try:
        before = approvals.content(stores.db, approval.digest)
        extension = dialects.build(before)
    except HelmError:
        # A review is the way out of an approved copy that this version of helm cannot read, so it must not fail.
        told = "what was approved before can no longer be read: take everything below for new"
        return _Difference(changes=(Change("widened", told),))
    cautions: tuple[Caution, ...] = ()
    if difference.only_line_ends(before, found.content):
        ends = "only line ends differ from what was approved; * -text in .gitattributes keeps them"
        cautions = (Caution("", "", ends),)
    changes = difference.between(extension, found.extension)
    return _Difference(changes, difference.files(before, found.content), cautions)


def _status(approval: Approval | None, folder: str, digest: str) -> Status:
    if approval is None:
        return "new"
    return "approved" if (approval.digest, approval.folder) == (digest, folder) else "changed"


def _profiled(stores: Stores, connection: Connection) -> Profiled:
    if connection.group is None or connection.profile is None:
        return Profiled(connection, "none needed", "")
    try:
        profile = profiles.load(stores.home, connection.group, connection.profile)
    except HelmError as error:
        if error.code == "not_configured":
            return Profiled(connection, "missing", "")
        return Profiled(connection, "broken", error.message)
    if isinstance(profile, Database) and profile.engine != connection.spec.get("engine"):
        return Profiled(connection, "engine differs", f"the profile is {profile.engine}")
    if isinstance(profile, Service) and profile.oauth2 != bool(connection.spec.get("oauth2")):
        return Profiled(connection, "sign-in differs", f"the profile {_SIGN_IN[profile.sign_in]}")
    return Profiled(connection, "configured", "")
