"""A program that keeps a new sign-in in place of an old one again and again, killed each time one step later."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any, Final

from helm_cli.broker import profiles, signin, tokens
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.drivers.oauth_token import Grant
from helm_cli.model.profile import Service
from helm_cli.store import signins
from tests.program import ROOT

NOW: Final = 1_800_000_000.0
SERVICE: Final = Service("cal", "https://api.example.com", client_id="id")
CONNECTED: Final = Connected(
    "https://auth.example.com/authorize", "https://auth.example.com/token", ("a", "b", "c"), "iss"
)
OLD: Final = Grant("old-access-token", "old-refresh-token", ("a", "b"), NOW + 3600, 3600.0)
NEW: Final = Grant("new-access-token", "new-refresh-token", ("b", "c"), NOW + 1800, 1800.0)
# What the second of the two grants is, by the name of the case.
CASES: Final = {"both": NEW, "terse": NEW._replace(refresh_token=None)}


def killed(home: Path, case: str) -> list[str]:
    """What served after each kill: the "old" sign-in, the "new" one, or one "between" that is renewed before use."""
    # A process that is killed while it is measured leaves a broken measurement.
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-m", "tests.broker.killed_signin", str(home), case],
        cwd=ROOT,
        env={**env, "HELM_CLI_CREDENTIALS": "file"},
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    seen: list[str] = json.loads(done.stdout)
    return seen


def _main(home: Path, case: str) -> list[str]:
    new = CASES[case]
    with closing(_stores(home)) as stores:
        service = profiles.add(stores, SERVICE, None, force=False)
    seen: list[str] = []
    step = 0
    finished = False
    while not finished:
        step += 1
        with closing(_stores(home)) as stores:
            signin.keep(stores, service, OLD, CONNECTED)
        finished = _died(step, home, service, new)
        seen.append(_served(home, service, new))
    return seen


def _died(step: int, home: Path, service: Service, new: Grant) -> bool:
    """Whether a process that dies before its so many-th call of the system, or of SQLite, got to the end."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    left = step

    def count_down(_frame: FrameType, event: str, called: Any) -> None:
        nonlocal left
        # Between two of these nothing changes that outlives the process.
        if event == "c_call" and (called.__module__ == "posix" or isinstance(called.__self__, sqlite3.Connection)):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count_down)
    signin.keep(_stores(home), service, new, CONNECTED)
    sys.setprofile(None)
    os._exit(0)


def _served(home: Path, service: Service, new: Grant) -> str:
    with closing(_stores(home)) as stores:
        row = signin.current(stores, service)
        due = signin._due(row, NOW)
        access = tokens.read(stores, service, row, "access-token")
        refresh = tokens.read(stores, service, row, "refresh-token") if row.refreshable else None
        found = "new" if row.scopes == new.scopes else "old" if row.scopes == OLD.scopes else "between"
        if found == "between":
            # Whichever refresh token lives brings a token of its own sign-in, and no more is served than both may.
            assert due and row.scopes == ("b",) and refresh in (OLD.refresh_token, new.refresh_token)
            return found
        whole = OLD if found == "old" else new
        assert not due
        assert access == whole.access_token
        assert refresh == whole.refresh_token
        assert row == signins.find(stores.db, service.name)
        return found


def _stores(home: Path) -> Stores:
    return Stores(home, clock=lambda: NOW)


if __name__ == "__main__":
    print(json.dumps(_main(Path(sys.argv[1]), sys.argv[2])))
