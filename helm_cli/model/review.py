"""What a person is shown before saying yes to an extension: what it may do, what changed, what to look at twice."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from helm_cli.model.content import Content
from helm_cli.model.extension import Connection, Extension, Fault, Operation
from helm_cli.model.plugin import Bound
from helm_cli.model.tool import Tool

Sort = Literal["widened", "changed", "narrowed"]
Status = Literal["new", "approved", "changed"]
# The members of an operation's `spec` that stand in the manifest, in the order in which they are read.
DECLARED: Final = ("sql", "method", "path", "query", "body")
State = Literal["configured", "missing", "engine differs", "sign-in differs", "broken", "none needed"]


class Caution(NamedTuple):
    """One warning: a sentence, and the connection and operation that it is about ("" where it is about neither).

    Where it is about another file than the manifest, `file` is its path; `word` is what in there, or in the manifest.
    """

    connection: str
    operation: str
    message: str
    file: str = ""
    word: str = ""

    def told(self) -> dict[str, str]:
        """What a program is told of it."""
        return {"connection": self.connection, "operation": self.operation, "message": self.message}


class Placed(NamedTuple):
    """A warning, and where that stands which it is about; the file as seen from the extension's folder."""

    caution: Caution
    file: str
    line: int
    column: int


class Change(NamedTuple):
    """One difference in what is declared: a sentence, and both texts where a text changed."""

    sort: Sort
    message: str
    before: str | None = None
    after: str | None = None


class FileChange(NamedTuple):
    """One covered file that is not what it was."""

    path: str
    what: Literal["added", "removed", "changed"]


class Profiled(NamedTuple):
    """A connection, the state of the profile it uses, and what else is to be said of that ("" where nothing is)."""

    connection: Connection
    state: State
    detail: str


class Listed(NamedTuple):
    """What the MCP server of one connection says of its tools: claims, which prove nothing.

    `tools` are those that the connection declares, by name or by a glob, and the server has; `offered` the names of
    all that it has. `problem` says why it could not be asked, "" where it answered.
    """

    connection: str
    tools: Mapping[str, Tool]
    offered: tuple[str, ...]
    problem: str = ""


class Review(NamedTuple):
    """One extension, ready to be shown and approved for one workspace.

    `workspace_found` says how the workspace was found. `status` is "approved" only for this very content of this
    very folder; `enabled` says whether it may be called. `approved_folder` and `approved_digest` are those of the
    approval that stands ("" where none does); `changes` and `files` are what differs from it. `elsewhere` are
    other workspaces in which this content is approved. `servers` are the MCP servers that were asked for their tools.
    Of a plugin, `extension` has the tools that its globs let in on those servers, and its named tools as `bindings`
    has them bound; `team_tokens` is the team's own limit a month, 0 for none, None where the plugin's holds.
    """

    workspace: str
    workspace_found: str
    folder: str
    content: Content
    digest: str
    extension: Extension
    status: Status
    enabled: bool
    approved_folder: str
    approved_digest: str
    connections: tuple[Profiled, ...]
    warnings: tuple[Caution, ...]
    changes: tuple[Change, ...]
    files: tuple[FileChange, ...]
    elsewhere: tuple[str, ...]
    servers: tuple[Listed, ...] = ()
    bindings: tuple[Bound, ...] = ()
    team_tokens: int | None = None

    @property
    def standing(self) -> bool:
        """Whether this exact content is approved and enabled."""
        return self.status == "approved" and self.enabled

    def listed(self, connection: Connection) -> Listed | None:
        """What the server of this connection says, None where it was not asked or did not answer."""
        return next((one for one in self.servers if one.connection == connection.id and not one.problem), None)

    def operations(self, effect: Literal["read", "write"]) -> list[tuple[Connection, Operation]]:
        """Every operation of this effect, in the order of the manifest."""
        return [
            (connection, operation)
            for connection in self.extension.connections
            for operation in connection.operations
            if operation.effect == effect
        ]


class Invalid(NamedTuple):
    """A folder that is no extension, and everything that makes it none."""

    folder: str
    faults: tuple[Fault, ...]
