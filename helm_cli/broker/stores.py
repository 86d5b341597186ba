"""The stores of one home, each opened when it is first used, and the clock that all of helm reads."""

import sqlite3
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from helm_cli.store import config, database
from helm_cli.store.home import locate


class Stores:
    """What helm remembers, for one process: never shared between threads, which open their own with `again()`.

    `notice` takes a one-line sentence for the person, `clock` gives the seconds since the epoch, `terminal` says
    whether a person may be waited for (a keychain that asks for its password).
    """

    def __init__(
        self,
        home: Path | None = None,
        *,
        notice: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
        terminal: bool = False,
    ) -> None:
        self.home = home or locate()
        self.notice = notice
        self.clock = clock
        self.terminal = terminal

    @cached_property
    def db(self) -> sqlite3.Connection:
        return database.open_state(self.home)

    @cached_property
    def config(self) -> config.Config:
        return config.load(self.home)

    def again(self) -> "Stores":
        """The same home opened once more, for another thread."""
        return Stores(self.home, notice=self.notice, clock=self.clock, terminal=self.terminal)

    def close(self) -> None:
        if "db" in self.__dict__:
            self.db.close()
            del self.__dict__["db"]
