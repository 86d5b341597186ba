"""What one process does to a home, and what is to be true of the home after any of them was killed."""

import os
import resource
import signal
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database
from helm_cli.store import (
    approvals,
    approvers,
    budgets,
    config,
    confirmations,
    drafts,
    history,
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


def add_same(folder: Path, number: int) -> bool:
    return profiles.create(folder, Database("app", "sqlite", path=f"/data/{number}.db"))


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


def open_first(folder: Path, number: int) -> None:
    open_fresh(folder, 0)


def redeem(folder: Path, number: int, token: str) -> str:
    with closing(open_state(folder)) as db:
        return confirmations.redeem(db, token, samples.BINDING, samples.NOW)


def redeem_own(folder: Path, number: int, id_: str) -> str:
    with closing(open_state(folder)) as db:
        token = confirmations.token(db, id_, samples.NOW)
        return confirmations.redeem(db, token, samples.BINDING, samples.NOW)


def call_often(folder: Path, number: int) -> int:
    """How many of 25 calls were counted."""
    with closing(open_state(folder)) as db:
        counted = 0
        for _ in range(25):
            with suppress(HelmError):
                history.begin(db, history.Call("/w", "e", "c", "o", ""), samples.NOW, 60)
                counted += 1
        return counted


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


def redeem_given(folder: Path, number: int) -> None:
    token = samples.at(folder).read_text().split()[1]
    with closing(open_state(folder)) as db:
        confirmations.redeem(db, token, samples.BINDING, samples.NOW)


def whole_profile(folder: Path) -> str:
    found = profiles.names(folder, "db")
    if not found:
        return "none"
    profile = profiles.load(folder, "db", "app")
    profiles.remove(folder, "db", "app")
    return str(profile.path)


def whole_approval(folder: Path) -> str:
    with closing(open_state(folder)) as db:
        found = approvals.find(db, "/w", "e")
        if found is None:
            return "none"
        kept = approvals.content(db, found.digest)
        assert kept.digest == found.digest
        assert sorted(approvals.stamps(db, "/w", "e")) == sorted(samples.stamps(kept))
        return kept.files["number"].decode()


def whole_state(folder: Path) -> str:
    with closing(open_state(folder)) as db:
        found = targets.target(db, "account 0")
        targets.forget(db, "account 0")
    for name in ("state.db", "state.db-journal"):
        if found is None:
            (folder / name).unlink(missing_ok=True)
    return found or "none"


def once(folder: Path) -> str:
    with closing(open_state(folder)) as db:
        found = confirmations.find(db, samples.at(folder).read_text().split()[0], samples.NOW)
        assert found is not None
        token = samples.at(folder).read_text().split()[1]
        try:
            confirmations.redeem(db, token, samples.BINDING, samples.NOW)
        except HelmError:
            assert found.state == "used"
        else:
            assert found.state == "waiting"
        issued = confirmations.issue(db, "write", samples.BINDING, {}, samples.NOW, listed=False, asked_by="")
        samples.at(folder).write_text(f"{issued.id} {issued.token}")
        return found.state


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
