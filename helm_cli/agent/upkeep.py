"""What the agent sees to between calls: connections that wait too long are closed, sign-ins in use stay fresh."""

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from helm_cli.agent import surroundings
from helm_cli.broker.stores import Stores
from helm_cli.drivers import kept, sqlite_worker
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Service
from helm_cli.store.config import Config

# How long a connection waits for its next call.
KEPT_SECONDS: Final = 300.0
_EVERY: Final = 15.0
# An access token is looked at from so long before its end on; when it is renewed, `broker.signin` says.
_SOON_SECONDS: Final = 90.0
# How many SQLite processes wait once nothing is called any more.
_STAYING: Final = 1


class Upkeep:
    """The agent's chores. `parts` are its surroundings, as `surroundings` tells them; `minute` has 60 seconds."""

    def __init__(self, stores: Stores, say: Callable[[str], None], minute: float) -> None:
        self._minute = minute
        self._stores = stores
        self._say = say
        self._warm: dict[str, tuple[Service, float]] = {}
        self._next = monotonic() + _EVERY
        self._minutes = Config().agent_idle_minutes
        self.parts = {"always": surroundings.always(stores.home), "starting": surroundings.starting()}

    def warm(self, service: Service) -> None:
        """A call used this service's sign-in: it is renewed in time, as long as calls use it."""
        self._warm[service.name] = service, monotonic()

    def look(self, now: float, pool: Executor) -> None:
        """Has what is due done by another thread."""
        if now >= self._next:
            self._next = now + _EVERY
            pool.submit(self._see_to_it)

    def idle(self, seconds: float) -> bool:
        """Whether so long without a call is long enough to end, as it is configured now."""
        return seconds > self._minute and seconds > self._idle_seconds()

    def _idle_seconds(self) -> float:
        with suppress(HelmError):
            self._minutes = self._stores.again().config.agent_idle_minutes
        return self._minutes * self._minute

    def _see_to_it(self) -> None:
        try:
            kept.expire(KEPT_SECONDS)
            sqlite_worker.retire(KEPT_SECONDS, _STAYING)
            self._renew()
        except Exception as error:
            self._say(f"a fault in the upkeep: {type(error).__name__}")

    def _renew(self) -> None:
        for name, (service, used) in list(self._warm.items()):
            if monotonic() - used > self._idle_seconds():
                self._warm.pop(name, None)
                continue
            from helm_cli.broker import signin

            stores = self._stores.again()
            try:
                ends = signin.current(stores, service).expires
                if ends is not None and ends - stores.clock() < _SOON_SECONDS:
                    # It is renewed where a call would have to.
                    signin.token(stores, service)
            except HelmError:
                self._warm.pop(name, None)  # the next call says why
            finally:
                stores.close()


def kept_ones() -> list[dict[str, Any]]:
    """What waits for the next call, or is in use: what it is, how many seconds it is open, its calls."""
    return [
        {"what": one.label, "seconds": round(one.seconds), "calls": one.calls, "busy": one.busy}
        for one in (*kept.listed(), *sqlite_worker.listed())
    ]
