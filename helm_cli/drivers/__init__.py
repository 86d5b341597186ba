"""Which module sends the plans of each driver, and the limits that it keeps."""

import os
from importlib import import_module
from typing import Final, NamedTuple, Protocol, cast

from helm_cli.model.envelope import Envelope
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Plan, Revision
from helm_cli.model.profile import Target

DRIVERS: Final[dict[str, str]] = {
    "sqlite": "helm_cli.drivers.sqlite",
    "postgres": "helm_cli.drivers.postgres",
    "mysql": "helm_cli.drivers.mysql",
    "http": "helm_cli.drivers.http",
    "mcp": "helm_cli.drivers.mcp",
    "tdt": "helm_cli.drivers.tdt",
    "files": "helm_cli.drivers.files",
}

# Python, and OpenSSL by itself, would write down there what opens every TLS connection, tokens and all.
os.environ.pop("SSLKEYLOGFILE", None)


class Limits(NamedTuple):
    """What one call may take; the defaults are those of a query (contract, Database, Limits).

    `seconds` of wall clock for the whole of it, connecting and COMMIT included; `rows` that it may return;
    `bytes` of its data: of rows as the UTF-8 JSON text in the envelope.
    """

    seconds: float = 5.0
    rows: int = 1000
    bytes: int = 1024 * 1024


class Answer(NamedTuple):
    """What came of a call whose envelope has more than its data: the whole of it, as it is passed on."""

    envelope: Envelope


class Driver(Protocol):
    """What a module named in DRIVERS offers. Each takes the target of its own kind."""

    # What the contract allows a call of this driver.
    LIMITS: Limits

    def run(self, plan: Plan, target: Target, secret: str | None, limits: Limits) -> "Json | Answer":
        """Sends exactly `plan.request` and returns the data of its envelope; HelmError for everything else."""

    def prepare(self, plan: Plan, target: Target, secret: str | None, limits: Limits) -> None:
        """Finds out whether `plan.request` would work, without running it; HelmError for what `run` would end with."""

    def complete(self, plan: Plan, target: Target, secret: str | None, limits: Limits) -> Plan:
        """The plan with all that belongs into it, the same each time. Only asked for where `plan.open`.

        Nothing of it is sent. HelmError for what `run` would end with.
        """

    def preview(self, plan: Plan, target: Target, secret: str | None, limits: Limits) -> tuple[Revision, ...]:
        """What a write would replace, and by what, as it stands now. Only asked for where `plan.previewed`.

        HelmError "conflict" where what stands there is no longer what the write is meant for.
        """

    def probe(self, target: Target, secret: str | None, limits: Limits) -> str:
        """One line on what answered at the target; HelmError when nothing did."""


def driver(name: str) -> Driver:
    """The module that sends such plans, imported now. HelmError "refused" when there is none yet."""
    if name not in DRIVERS:
        raise HelmError("refused", f"this version of helm cannot call {name} yet; update helm")
    return cast(Driver, import_module(DRIVERS[name]))
