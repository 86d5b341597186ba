"""What a caller asks for, and who that is, as little as a process needs that lets another one make the call."""

import os
from typing import NamedTuple

from helm_cli.broker.workspace import Workspace
from helm_cli.model.jsontext import Json, repaired


class Request(NamedTuple):
    """What a caller asks for: one operation of one connection of a workspace, with its arguments.

    `extension` says whose connection is meant where two extensions have one of that id. `wait_rate` waits for a
    free place in the rate window instead of failing with `rate_limited`. `asked_by` says who asks, where that is not
    this process's parent. `draft` is the id of the approved draft that the call publishes: only
    `broker.publishing` sets it, and a named consequential tool is refused without it.
    """

    workspace: Workspace
    connection: str
    operation: str
    arguments: dict[str, Json]
    extension: str | None = None
    wait_rate: bool = False
    asked_by: str = ""
    draft: str = ""


def caller() -> str:
    """Who asks, as far as helm can tell it to the person who decides."""
    try:
        where = str(repaired(os.getcwd()))
    except OSError:
        where = "a folder that is gone"
    return f"process {os.getppid()} in {where}"
