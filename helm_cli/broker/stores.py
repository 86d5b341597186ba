"""The stores of one home, each opened when it is first used, and the clock that all of helm reads."""

import sqlite3
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from helm_cli.broker.series import Series
from helm_cli.store import config, database
from helm_cli.store.home import locate


class Stores:
    """What helm remembers, for one process: never shared between threads, which open their own with `again()`.

    `notice` takes a one-line sentence for the person, `progress` one that says only why it takes a while (None: it goes
    to `notice` too), `detail` one about how something is done; `clock` gives the seconds since the epoch, `terminal`
    says whether a person may be waited for (a keychain that asks for its password). `series` is what a batch remembers.
    """

    def __init__(
        self,
        home: Path | None = None,
        *,
        notice: Callable[[str], None] = lambda _: None,
        progress: Callable[[str], None] | None = None,
        detail: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
        terminal: bool = False,
    ) -> None:
        self._named = home
        self.notice = notice
        self.progress = progress or notice
        self.detail = detail
        self.clock = clock
        self.terminal = terminal
        # Whether a person was asked something for what is about to be kept.
        self.answered = False
        self.series: Series | None = None

    @cached_property
    def home(self) -> Path:
        """Raises HelmError("state") where nothing says where that is: what needs no home does without."""
        return self._named or locate()

    @cached_property
    def db(self) -> sqlite3.Connection:
        return database.open_state(self.home)

    @cached_property
    def config(self) -> config.Config:
        return config.load(self.home)

    def again(self) -> "Stores":
        """The same home opened once more, for another thread."""
        other = Stores(self.home, notice=self.notice, progress=self.progress, clock=self.clock, terminal=self.terminal)
        other.detail = self.detail
        other.series = self.series
        return other

    def close(self) -> None:
        if "db" in self.__dict__:
            self.db.close()
            del self.__dict__["db"]
