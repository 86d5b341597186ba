"""How a planned query is sent to a SQLite file, and what is said when its process does not come back."""

from contextlib import suppress
from time import monotonic
from typing import Any, Final, cast

from helm_cli.drivers import Limits, sqlite_worker
from helm_cli.drivers.outcome import timed_out, unknown
from helm_cli.drivers.sqlite_job import Job, What
from helm_cli.drivers.sqlite_worker import Lost
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import Json, Scalar
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Database

LIMITS: Final = Limits()
_VERSION: Final = (
    "SELECT sqlite_version(), count(*) FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'"
)
# How long it may take to take back what a killed job left in the file.
_MENDING_SECONDS: Final = 2.0


def run(plan: Plan, profile: Database, secret: str | None, limits: Limits) -> Json:
    """`{"columns", "rows"}` of a read, `{"rowsAffected"}` of a write that was committed.

    An INTEGER beyond ±(2^53-1) and an infinity is a string, a BLOB base64, invalid UTF-8 in TEXT U+FFFD.
    HelmError with the codes of a db call (contract, Database; design, section 8). A write that failed was
    rolled back, unless the error has `"applied": "unknown"`.
    """
    return _answer(_job("run", plan, profile, limits))


def prepare(plan: Plan, profile: Database, secret: str | None, limits: Limits) -> None:
    """Has SQLite compile the statement against the file's schema, and runs nothing. HelmError as `run` would end."""
    _answer(_job("prepare", plan, profile, limits))


def probe(profile: Database, secret: str | None, limits: Limits) -> str:
    """The version of SQLite that read the file's schema, and how much is in it. HelmError as for `run`."""
    job = Job("run", profile.name, profile.path or "", _VERSION, [], "read", limits, limits.seconds, [])
    version, count = cast(Any, _answer(job))["rows"][0]
    return f"SQLite {version}, {count} table{'' if count == 1 else 's'}"


def _job(what: What, plan: Plan, profile: Database, limits: Limits) -> Job:
    params = cast(list[tuple[str, Scalar]], plan.request["params"])
    names, values = [name for name, _ in params], [value for _, value in params]
    path, sql = profile.path or "", str(plan.request["sql"])
    return Job(what, profile.name, path, sql, values, plan.effect, limits, limits.seconds, names)


def _answer(job: Job) -> Json:
    begun = monotonic()
    try:
        return sqlite_worker.ask(job)
    except Lost as lost:
        _mend(job)
        raise _lost(job, lost, in_time=monotonic() - begun < job.limits.seconds) from None
    except (KeyboardInterrupt, SystemExit):
        _mend(job)
        raise


def _mend(job: Job) -> None:
    """Takes back what a killed job left beside the file, so that the next program finds it as it was.

    That is a journal to roll back after a write, and files without a use beside one in WAL mode.
    """
    with suppress(HelmError, Lost):
        sqlite_worker.ask(job._replace(what="mend", seconds=_MENDING_SECONDS))


def _lost(job: Job, lost: Lost, *, in_time: bool) -> HelmError:
    effect: Effect = job.effect if job.what == "run" else "read"
    crashed = "SQLite ended abruptly; the database may be damaged: let its program check it"
    if lost.committing:
        if in_time:
            return unknown("query_failed", crashed)
        return unknown("timeout", f"the write took longer than {job.limits.seconds:g} s")
    return HelmError("query_failed", crashed) if in_time else timed_out(effect, job.limits)
