"""What a check of helm's own health found: how well, what, and what to do next."""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from helm_cli.model.errors import EXIT

# A warning is well enough; what is not reachable may be the other side's; what is broken is helm's own.
Status = Literal["ok", "warning", "unreachable", "broken"]

# The worst comes first.
_ENDS: Final[dict[Status, int]] = {"broken": EXIT["state"], "unreachable": EXIT["unavailable"]}


class Check(NamedTuple):
    """One line: the `name` within its `area`, and a `message`, a clause without secret, host, URL or path of a profile.

    `next` is what the person does about it, where possible a command that can be pasted; None where nothing is to do.
    """

    area: str
    name: str
    status: Status
    message: str
    next: str | None = None

    @property
    def well(self) -> bool:
        return self.status not in _ENDS


def exit_status(checks: Iterable[Check]) -> int:
    """0 where all is well, warnings allowed; 1 where something is broken, which wins; 10 where it is not reachable."""
    found = {check.status for check in checks}
    return next((ends for status, ends in _ENDS.items() if status in found), 0)
