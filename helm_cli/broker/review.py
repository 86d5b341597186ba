"""What there is to know before saying yes to an extension: what it is, what it may do, and what changed."""

import os
from typing import NamedTuple

from helm_cli import dialects
from helm_cli.broker import content, difference, warnings
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.content import Content
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension
from helm_cli.model.profile import Database
from helm_cli.model.review import Caution, Change, FileChange, Invalid, Profiled, Review, Status
from helm_cli.store import approvals, profiles
from helm_cli.store.approvals import Approval


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


def review(stores: Stores, workspace: Workspace, folder: str) -> Review | Invalid:
    """The review of the extension in `folder` for one workspace. Raises HelmError "usage" and "state"."""
    found = validate(folder)
    if isinstance(found, Invalid):
        return found
    return _against(stores, workspace, found, approvals.find(stores.db, workspace.path, found.extension.id))


def approved(stores: Stores, approval: Approval) -> Review:
    """The review of what was approved, from the approved copy; it is "changed" where the folder no longer is that."""
    kept = approvals.content(stores.db, approval.digest)
    found = Valid(approval.folder, kept, dialects.build(kept))
    shown = _against(stores, Workspace(approval.workspace, "where it was approved"), found, approval)
    return shown if content.matches(stores, approval) else shown._replace(status="changed")


def _is_text(path: str) -> bool:
    return os.fsencode(path).decode("utf-8", "replace").encode() == os.fsencode(path)


class _Difference(NamedTuple):
    """How a content differs from the one that was approved before it."""

    changes: tuple[Change, ...] = ()
    files: tuple[FileChange, ...] = ()
    warnings: tuple[Caution, ...] = ()


def _against(stores: Stores, workspace: Workspace, found: Valid, approval: Approval | None) -> Review:
    digest = found.content.digest
    differs = _Difference()
    if approval is not None and approval.digest != digest:
        differs = _difference(stores, approval, found)
    connections = tuple(_profiled(stores, connection) for connection in found.extension.connections)
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
        connections=connections,
        warnings=(*differs.warnings, *warnings.of_profiles(connections), *warnings.of(found.extension)),
        changes=differs.changes,
        files=differs.files,
        elsewhere=tuple(approvals.elsewhere(stores.db, digest, workspace.path)),
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
    engine = connection.spec.get("engine")
    if isinstance(profile, Database) and profile.engine != engine:
        return Profiled(connection, "engine differs", f"the profile is {profile.engine}")
    return Profiled(connection, "configured", "")
