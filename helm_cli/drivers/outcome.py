"""What is said of a query that did not end in time, or of a write whose end nobody knows."""

from collections.abc import Callable
from typing import Final, TypeVar

from helm_cli.drivers import Limits, deadline
from helm_cli.drivers.deadline import Abandoned, Deadline
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect

Result = TypeVar("Result")

# What to do about a read that the database does not let pass because it writes.
AS_WRITE: Final = 'declare "write": true where it is meant to write'


def in_time(work: Callable[[Deadline], Result], effect: Effect, limits: Limits) -> Result:
    """What `work` returns or raises within `limits.seconds`; HelmError "timeout" where it does not end.

    A write that was left behind in its COMMIT has `"applied": "unknown"`.
    """
    try:
        return deadline.run(work, limits.seconds)
    except Abandoned as left:
        if left.open_ended:
            raise unknown("timeout", f"the write took longer than {limits.seconds:g} s") from None
        raise timed_out(effect, limits) from None


def timed_out(effect: Effect, limits: Limits) -> HelmError:
    """The error of a query that was stopped at its deadline and changed nothing."""
    if effect == "write":
        return HelmError("timeout", f"the write took longer than {limits.seconds:g} s and was rolled back")
    return HelmError("timeout", f"the query took longer than {limits.seconds:g} s; add a LIMIT or an index")


def unknown(code: str, reason: str) -> HelmError:
    """The error of a write that may or may not have been applied (design, section 5)."""
    return HelmError(
        code,
        f"{reason}; it is unknown whether the write was applied: look before you repeat it",
        {"applied": "unknown"},
    )
