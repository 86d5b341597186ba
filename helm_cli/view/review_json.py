"""How a review and a validation reach a program: as JSON."""

from collections.abc import Iterable
from typing import Final

from helm_cli.model.extension import Fault
from helm_cli.model.jsontext import Json, repaired
from helm_cli.model.review import DECLARED, Listed, Placed, Profiled, Review
from helm_cli.view import plugin_json
from helm_cli.view.plugin_json import plain as plain

# The members of an operation's `spec` that only tools of a plugin have.
_OF_PLUGINS: Final = ("risk", "let_in_by", "kind", "description", "service")


def reviewed(review: Review) -> dict[str, Json]:
    """The review for a program: what `helm plugin review -o json` prints."""
    extension = review.extension
    approved: Json = None
    if review.approved_digest:
        approved = {"folder": review.approved_folder, "digest": review.approved_digest}
    return {
        "id": extension.id,
        "name": extension.name,
        "version": extension.version,
        "description": extension.description,
        "dialect": extension.dialect,
        "workspace": review.workspace,
        "folder": review.folder,
        "digest": review.digest,
        "status": review.status,
        "enabled": review.enabled,
        "approved": approved,
        "connections": [_connection(review, profiled) for profiled in review.connections],
        "writes": [
            {"connection": connection.id, "operation": operation.name}
            for connection, operation in review.operations("write")
        ],
        "warnings": [plain(caution.told()) for caution in review.warnings],
        "changes": [plain(change._asdict()) for change in review.changes],
        "files": [plain(change._asdict()) for change in review.files],
        "unused": list(extension.unused),
        "elsewhere": list(review.elsewhere),
        **(plugin_json.sections(review, extension.plugin) if extension.plugin is not None else {}),
    }


def validation(faults: Iterable[Fault], cautions: Iterable[Placed]) -> dict[str, Json]:
    """A validation for a program: what `helm plugin validate -o json` prints; a file is relative to the folder."""
    return {
        "errors": [repaired(plain(fault._asdict())) for fault in faults],
        "warnings": [
            {**plain(one.caution.told()), "file": one.file, "line": one.line, "column": one.column} for one in cautions
        ],
    }


def _connection(review: Review, profiled: Profiled) -> dict[str, Json]:
    connection = profiled.connection
    server = next((one for one in review.servers if one.connection == connection.id), None)
    profile: Json = None
    if connection.profile is not None:
        profile = {
            "group": connection.group,
            "name": connection.profile,
            "state": profiled.state,
            "detail": profiled.detail or None,
        }
    operations: list[Json] = [
        {
            "name": operation.name,
            "effect": operation.effect,
            "params": plain(operation.params),
            **{key: plain(operation.spec[key]) for key in (*DECLARED, *_OF_PLUGINS) if key in operation.spec},
            **_claims(server, operation.name),
        }
        for operation in connection.operations
    ]
    declared = {str(key): plain(value) for key, value in connection.spec.items() if key != "globs"}
    if "globs" in connection.spec:
        declared["globs"] = plugin_json.globs(review, connection)
    told: dict[str, Json] = {"id": connection.id, "kind": connection.kind, "profile": profile, **declared}
    if server is not None:
        told["server"] = {"problem": server.problem or None, "offered": list(server.offered)}
    return {**told, "operations": operations}


def _claims(server: Listed | None, name: str) -> dict[str, Json]:
    """What a server that answered says of one tool; null where it has no such tool."""
    if server is None or server.problem:
        return {}
    found = server.tools.get(name)
    if found is None:
        return {"tool": None}
    members = ("title", "description", "read_only", "destructive", "input_schema")
    return {"tool": {member: plain(getattr(found, member)) for member in members}}
