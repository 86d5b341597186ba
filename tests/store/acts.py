"""What one process does to a home, and what is to be true of the home after any of them was killed."""

import os
import resource
import signal
from contextlib import closing
from pathlib import Path
from typing import Final

from helm_cli.model.profile import Database
from helm_cli.store import (
    approvals,
    approvers,
    budgets,
    config,
    confirmations,
    drafts,
    home,
    outcomes,
    profiles,
    schedules,
    shared,
    targets,
)
from helm_cli.store.database import open_state
from tests.store import samples

APP: Final = Database("app", "sqlite", path="/data/app.db")


def add(folder: Path, number: int) -> bool:
    return profiles.create(folder, Database(f"p{number}", "sqlite", path=f"/data/{number}.db"))


def add_app(folder: Path, number: int) -> bool:
    return profiles.create(folder, APP)


def write(folder: Path, number: int) -> None:
    home.write_private(folder / "shared", bytes([number]) * 200_000)


def count(folder: Path, number: int) -> None:
    with home.locked(folder / "lock", 30):
        counted = int((home.read(folder / "count") or b"0").decode())
        home.write_private(folder / "count", str(counted + 1).encode())


def open_fresh(folder: Path, number: int) -> None:
    with closing(open_state(folder)) as db:
        targets.remember(db, f"account {number}", "digest")


def redeem_and_settle(folder: Path, number: int, token: str) -> None:
    with closing(open_state(folder)) as db:
        id_ = confirmations.redeem(db, token, samples.BINDING, samples.NOW)
        outcomes.settle(db, id_, {"ok": True, "data": "done", "error": None})


def redeem_and_die(folder: Path, number: int, token: str) -> None:
    with closing(open_state(folder)) as db:
        confirmations.redeem(db, token, samples.BINDING, samples.NOW)
        os.kill(os.getpid(), signal.SIGKILL)


def approve(folder: Path, number: int) -> None:
    content = samples.content(number)
    with closing(open_state(folder)) as db:
        approvals.approve(db, samples.approval(content), content, samples.stamps(content))


def fill(folder: Path, number: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    content = samples.content(number, size=400_000)
    with closing(open_state(folder)) as db:
        approvals.approve(db, samples.approval(content), content, samples.stamps(content))


def fill_file(folder: Path, number: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
    home.write_private(folder / "shared", b"x" * 2_000)


def load(folder: Path, number: int, name: str) -> None:
    profiles.load(folder, "db", name)


def list_names(folder: Path, number: int) -> list[str]:
    return profiles.names(folder, "db")


def load_config(folder: Path, number: int) -> None:
    config.load(folder)


def whole_approval(folder: Path) -> str:
    with closing(open_state(folder)) as db:
        found = approvals.find(db, "/w", "e")
        if found is None:
            return "none"
        kept = approvals.content(db, found.digest)
        assert kept.digest == found.digest
        assert sorted(approvals.stamps(db, "/w", "e")) == sorted(samples.stamps(kept))
        return kept.files["number"].decode()


def create_shared(folder: Path, number: int) -> bool:
    with shared.opened(folder) as opened:
        return shared.create(opened, "one", bytes([number]) * 100_000, everybody=True)


def whole_shared(folder: Path) -> str:
    try:
        data = (folder / "one").read_bytes()
    except FileNotFoundError:
        return "none"
    assert len(data) == 100_000
    assert len(set(data)) == 1
    (folder / "one").unlink()
    return "whole"


def claim_draft(folder: Path, number: int, id_: str) -> bool:
    with shared.opened(folder) as opened:
        return drafts.claim(opened, samples.SENDING, id_)


def add_tokens(folder: Path, number: int, run: str) -> None:
    with closing(open_state(folder)) as db:
        for _ in range(5):
            budgets.add(db, "/w", "a/b", "2026-07", number + 1, run)


def take_due(folder: Path, number: int) -> list[str]:
    with closing(open_state(folder)) as db:
        return schedules.take(
            db, "/w", "a/b", ["0 1 * * *", "0 2 * * *"], samples.NOW, lambda cron, last: last < samples.NOW
        )


def put_approvers(folder: Path, number: int) -> None:
    with closing(open_state(folder)) as db:
        approvers.put(db, "/w", "a/b", "editor", range(number * 10, number * 10 + 10))
