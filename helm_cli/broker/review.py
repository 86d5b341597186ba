"""What there is to know before saying yes to an extension: what it is, what it may do, and what changed."""

import os
from typing import Final, NamedTuple

from helm_cli import dialects
from helm_cli.broker import bindings, content, difference, expansion, plugin_warnings, tools, warnings
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.kinds.tools import narrowed
from helm_cli.model.content import Content
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension
from helm_cli.model.plugin import Bound
from helm_cli.model.profile import Database, Service, SignIn
from helm_cli.model.review import Caution, Change, FileChange, Invalid, Listed, Profiled, Review, Status
from helm_cli.store import approvals, budgets, profiles
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
    """What is in `folder` (links in its own path are followed). Raises HelmError "usage" where it is no folder, or one
    without a manifest.
    """
    path = os.path.realpath(folder)
    if not os.path.isdir(path):
        raise HelmError("usage", f"{folder} is not a folder; name the folder that holds the manifest")
    if not _is_text(path):
        raise HelmError("usage", "the folder's path is not UTF-8; rename it")
    found = content.read(path)
    if found.faults:
        return Invalid(path, found.faults)
    reading = dialects.read(found.content)
    if not dialects.manifests(found.content):
        raise HelmError("usage", reading.faults[0].message.replace("the folder", folder, 1))
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
    same = approval is not None and approval.digest == found.content.digest
    seen = pins.pinned(stores.db, workspace.path, found.extension.id) if ask and approval is not None else {}
    servers = tools.ask(stores, workspace.path, _all_profiled(stores, found.extension)) if ask else ()
    servers = expansion.bounded(found.extension, servers)
    shown = expansion.on_servers(found.extension, servers)
    if same and approval is not None and not ask:
        shown = expansion.approved(stores, approval, found.extension)
        servers = _asked_then(stores, approval, shown)
    # Of a content that is new anyway, a tool that nobody has seen is no change.
    known = [connection for connection in shown.connections if same or connection.id in seen]
    changes = tuple(tools.changes(known, servers, seen)) if approval is not None else ()
    bound = bindings.kept(stores, workspace.path, shown)
    shown = bindings.with_bound(stores, workspace.path, shown, bound)
    return _against(stores, workspace, found, approval, _Known(shown, servers, changes, bound))


def approved(stores: Stores, approval: Approval) -> Review:
    """The review of what was approved, from the approved copy; it is "changed" where the folder no longer is that."""
    kept = approvals.content(stores.db, approval.digest)
    extension = expansion.approved(stores, approval, dialects.build(kept))
    found = Valid(approval.folder, kept, extension)
    seen = pins.pinned(stores.db, approval.workspace, approval.extension)
    bound = bindings.kept(stores, approval.workspace, extension, approval.digest)
    known = _Known(extension, tools.remembered(extension.connections, seen), (), bound)
    shown = _against(stores, Workspace(approval.workspace, "where it was approved"), found, approval, known)
    return shown if content.matches(stores, approval) else shown._replace(status="changed")


def _asked_then(stores: Stores, approval: Approval, extension: Extension) -> tuple[Listed, ...]:
    """The servers that were asked, when the extension was approved, for what its globs let in; as they answered."""
    seen = pins.pinned(stores.db, approval.workspace, approval.extension)
    # A glob stands among what was shown where the server was asked (`tools.seen`).
    asked = [
        one for one in extension.connections if any(glob in seen.get(one.id, {}) for glob, _ in expansion.globs(one))
    ]
    return tools.remembered(asked, seen)


def _is_text(path: str) -> bool:
    return os.fsencode(path).decode("utf-8", "replace").encode() == os.fsencode(path)


class _Known(NamedTuple):
    """What is known of an extension besides its content; `extension` has the tools of its globs, and its bindings."""

    extension: Extension
    servers: tuple[Listed, ...] = ()
    changes: tuple[Change, ...] = ()
    bindings: tuple[Bound, ...] = ()


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
    connections = _all_profiled(stores, known.extension)
    cautions = (
        *dict.fromkeys(warnings.of_profiles((*connections, *_of_bound(stores, known.extension)))),
        *warnings.of(known.extension, known.servers),
        *plugin_warnings.of_calls(known.extension),
    )
    return Review(
        workspace=workspace.path,
        workspace_found=workspace.found,
        folder=found.folder,
        content=found.content,
        digest=digest,
        extension=known.extension,
        status=_status(approval, found.folder, digest),
        enabled=approval is not None and approval.enabled,
        approved_folder=approval.folder if approval else "",
        approved_digest=approval.digest if approval else "",
        connections=connections,
        warnings=(*differs.warnings, *cautions),
        changes=difference.ordered((*differs.changes, *known.changes)),
        files=differs.files,
        elsewhere=tuple(approvals.elsewhere(stores.db, digest, workspace.path)),
        servers=known.servers,
        bindings=known.bindings,
        team_tokens=_team_tokens(stores, workspace.path, known.extension),
    )


def _team_tokens(stores: Stores, workspace: str, extension: Extension) -> int | None:
    return budgets.limit(stores.db, workspace, extension.id) if extension.plugin is not None else None


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


def _of_bound(stores: Stores, extension: Extension) -> tuple[Profiled, ...]:
    """The service profiles that a plugin's named tools are bound to, one for each tool."""
    return tuple(
        _profiled(stores, narrowed(connection, operation))
        for connection in extension.connections
        if connection.kind == "tools"
        for operation in connection.operations
    )


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
