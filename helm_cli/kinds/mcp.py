"""How a tool and the arguments of a call become the one request to its MCP server."""

from typing import Final

from helm_cli.model.envelope import CONTENT
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.jsontext import Json, dump
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Server

# Of the arguments' compact JSON: as much as an answer may have.
MOST_BYTES: Final = 1024 * 1024


def plan(
    extension: Extension,
    connection: Connection,
    operation: Operation,
    arguments: dict[str, Json],
    target: Server,
) -> Plan:
    """The tool of this name with the arguments as they were given (contract, MCP): they are any JSON object.

    `request` is `{"server", "tool", "arguments"}`. HelmError "refused" where the arguments are over 1 MiB of JSON, or
    cannot be written as JSON at all.
    """
    check(operation, arguments)
    return Plan(
        kind="mcp",
        effect=operation.effect,
        extension=extension.id,
        connection=connection.id,
        operation=operation.name,
        group=connection.group,
        profile=connection.profile,
        driver="mcp",
        shape=CONTENT,
        title="Confirm tool call",
        verb="Call",
        noun="tool",
        request={"server": target.name, "tool": operation.name, "arguments": arguments},
    )


def schema(connection: Connection, operation: Operation) -> dict[str, Json]:
    """Any object: what a tool takes, its server says."""
    return {"type": "object"}


def check(operation: Operation, arguments: dict[str, Json]) -> None:
    """HelmError "refused" where the arguments are over 1 MiB of JSON, or cannot be written as JSON at all."""
    try:
        size = len(dump(arguments).encode())
    except UnicodeEncodeError:
        reason = "hold a lone surrogate, which no UTF-8 text can carry"
    except (ValueError, RecursionError):
        reason = "hold a number that is not finite, or are nested too deeply"
    else:
        if size <= MOST_BYTES:
            return
        reason = f"have {size} bytes as JSON; at most {MOST_BYTES} are allowed"
    raise HelmError("refused", f"the arguments of {operation.name} {reason}")
