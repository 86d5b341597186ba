"""Which module sends the plans of each driver, and the limits that it keeps."""

from importlib import import_module
from typing import Final, NamedTuple, Protocol, cast

from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Profile

DRIVERS: Final[dict[str, str]] = {
    "sqlite": "helm_cli.drivers.sqlite",
    "postgres": "helm_cli.drivers.postgres",
    "mysql": "helm_cli.drivers.mysql",
}


class Limits(NamedTuple):
    """What one query may take (contract, Database, Limits).

    `seconds` of wall clock for the whole of it, connecting and COMMIT included; `rows` that it may return;
    `bytes` of its rows as the UTF-8 JSON text in the envelope.
    """

    seconds: float = 5.0
    rows: int = 1000
    bytes: int = 1024 * 1024


class Driver(Protocol):
    """What a module named in DRIVERS offers."""

    def run(self, plan: Plan, profile: Profile, secret: str | None, limits: Limits) -> Json:
        """Sends exactly `plan.request` and returns the data of its envelope; HelmError for everything else."""

    def prepare(self, plan: Plan, profile: Profile, secret: str | None, limits: Limits) -> None:
        """Has the engine prepare `plan.request` without running it; HelmError for what `run` would end with."""

    def probe(self, profile: Profile, secret: str | None, limits: Limits) -> str:
        """One line on what answered at the profile's target; HelmError when nothing did."""


def driver(name: str) -> Driver:
    """The module that sends such plans, imported now. HelmError "refused" when there is none yet."""
    if name not in DRIVERS:
        raise HelmError("refused", f"this version of helm cannot call {name} yet; update helm")
    return cast(Driver, import_module(DRIVERS[name]))
