"""Who can say yes, to what exactly, and that a yes is whole or not there at all."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import approve, declared, review, settings
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.plugin import Bound
from helm_cli.model.review import Listed, Review
from helm_cli.model.tool import Tool
from helm_cli.model.tool import tool as definition
from helm_cli.store import (
    approvals,
    approvers,
    bindings,
    budgets,
    confirmations,
    person,
    runs,
    schedules,
    tools,
    workspaces,
)
from helm_cli.store import settings as filled
from helm_cli.store.approvals import Approval
from helm_cli.store.confirmations import Pending
from tests.broker.folders import manifest, write
from tests.rig import plugins
from tests.rig.failing import failing
from tests.store.samples import RUN

HERE = Workspace("/srv/here", "the current folder")
NOW = 1_800_000_000.0


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stores(home: Path, clock: Clock) -> Iterator[Stores]:
    opened = Stores(home, clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "tickets", manifest())


def shown(stores: Stores, folder: Path) -> Review:
    found = review.review(stores, HERE, str(folder))
    assert isinstance(found, Review)
    return found


def recorded(stores: Stores) -> Approval | None:
    return approvals.find(stores.db, HERE.path, "tickets")


def left_pending(stores: Stores, found: Review) -> Pending:
    with pytest.raises(HelmError) as raised:
        approve.by_pin(stores, found, found.digest, "a test")
    assert raised.value.code == "confirmation_required"
    [pending] = confirmations.waiting(stores.db, stores.clock())
    assert raised.value.members == {"confirmation": pending.id}
    return pending


def test_a_person_approves_what_was_shown(stores: Stores, folder: Path) -> None:
    found = shown(stores, folder)
    approve.by_person(stores, found)
    assert recorded(stores) == Approval(HERE.path, "tickets", str(folder), found.digest, True, NOW, "person")
    assert approvals.content(stores.db, found.digest).files == found.content.files
    assert workspaces.registered(stores.db) == [HERE.path]


@pytest.mark.contract("C6")
def test_a_folder_that_changed_while_it_was_read_is_not_approved(stores: Stores, folder: Path) -> None:
    found = shown(stores, folder)
    (folder / "more.txt").write_text("added while the person was reading")
    with pytest.raises(HelmError) as raised:
        approve.by_person(stores, found)
    assert raised.value.code == "not_approved"
    (folder / "more.txt").unlink()
    (folder / "more.txt").symlink_to("manifest.json")
    with pytest.raises(HelmError):
        approve.by_person(stores, found)
    assert (recorded(stores), workspaces.registered(stores.db)) == (None, [])


def test_a_pin_approves_where_no_person_ever_answered(stores: Stores, folder: Path) -> None:
    found = shown(stores, folder)
    approve.by_pin(stores, found, found.digest, "a test")
    approval = recorded(stores)
    assert approval is not None and (approval.by, approval.enabled) == ("pin", True)


@pytest.mark.parametrize("digest", ["", "sha256:", "sha256:" + "0" * 64])
def test_a_pin_of_another_digest_approves_nothing(stores: Stores, folder: Path, digest: str) -> None:
    with pytest.raises(HelmError) as raised:
        approve.by_pin(stores, shown(stores, folder), digest, "a test")
    assert (raised.value.code, recorded(stores)) == ("not_approved", None)


def test_in_a_persons_home_a_pin_waits_for_the_person(stores: Stores, folder: Path) -> None:
    person.mark(stores.db)
    found = shown(stores, folder)
    pending = left_pending(stores, found)
    assert (pending.what, pending.workspace, pending.extension) == ("approval", HERE.path, "tickets")
    assert (pending.subject, pending.asked_by) == ({"folder": str(folder), "digest": found.digest}, "a test")
    assert left_pending(stores, found) == pending
    assert recorded(stores) is None
    assert approve.pending_review(stores, pending).digest == found.digest
    approve.approve_pending(stores, pending)
    approval = recorded(stores)
    assert approval is not None and (approval.digest, approval.by) == (found.digest, "person")
    approve.by_pin(stores, shown(stores, folder), found.digest, "a test")  # it stands: nothing more to ask
    with pytest.raises(HelmError) as raised:
        approve.approve_pending(stores, pending)
    assert raised.value.code == "confirmation_required"


def test_a_disabled_extension_is_not_pinned_back_in_a_persons_home(stores: Stores, folder: Path) -> None:
    approve.by_person(stores, shown(stores, folder))
    person.mark(stores.db)
    approvals.set_enabled(stores.db, HERE.path, "tickets", False)
    left_pending(stores, shown(stores, folder))
    approval = recorded(stores)
    assert approval is not None and not approval.enabled


def test_a_pending_approval_is_for_that_content_only(stores: Stores, folder: Path) -> None:
    person.mark(stores.db)
    pending = left_pending(stores, shown(stores, folder))
    kept = folder / "manifest.json"
    text = kept.read_text()
    for spoil in (lambda: kept.write_text(text + "\n"), kept.unlink, lambda: os.rename(folder, f"{folder}-moved")):
        spoil()
        for ask in (approve.pending_review, approve.approve_pending):
            with pytest.raises(HelmError) as raised:
                ask(stores, pending)
            assert raised.value.code == "confirmation_required"
    assert recorded(stores) is None
    write(folder, manifest())
    kept.write_text(text)
    approve.approve_pending(stores, pending)
    assert recorded(stores) is not None


def test_a_pending_approval_ends_after_five_minutes(stores: Stores, folder: Path, clock: Clock) -> None:
    person.mark(stores.db)
    pending = left_pending(stores, shown(stores, folder))
    clock.now += 301
    with pytest.raises(HelmError) as raised:
        approve.approve_pending(stores, pending)
    assert (raised.value.code, recorded(stores)) == ("confirmation_required", None)


def said(name: str) -> Tool:
    found = definition({"name": name, "annotations": {"readOnlyHint": True}})
    assert found is not None
    return found


def test_a_yes_to_what_waits_remembers_what_its_servers_said_as_it_was_seen(stores: Stores, tmp_path: Path) -> None:
    """What was seen of another content is not remembered with it."""
    person.mark(stores.db)
    connections = [{"id": "gh", "kind": "mcp", "server": "github", "operations": ["list_issues"]}]
    folder = write(tmp_path / "tickets", manifest(connections=connections))
    servers = (Listed("gh", {"list_issues": said("list_issues")}, ("list_issues", "drop")),)
    for matches, pinned in ((False, {}), (True, {"gh": {"list_issues": said("list_issues").definition}})):
        found = shown(stores, folder)
        pending = left_pending(stores, found)
        seen = found._replace(servers=servers, digest=found.digest if matches else "sha256:0")
        assert approve.approve_pending(stores, pending, seen).servers == (servers if matches else ())
        assert tools.pinned(stores.db, HERE.path, "tickets") == pinned
        (folder / "more.txt").write_text("so that there is something to ask for again")


def test_each_content_that_a_pipeline_asks_for_waits_by_itself(stores: Stores, folder: Path, tmp_path: Path) -> None:
    person.mark(stores.db)
    first = left_pending(stores, shown(stores, folder))
    (folder / "more.txt").write_text("another content")
    other = write(tmp_path / "other", manifest(id="other"))
    for found in (shown(stores, folder), shown(stores, other)):
        with pytest.raises(HelmError, match="needs a person in this home"):
            approve.by_pin(stores, found, found.digest, "a test")
    waiting = confirmations.waiting(stores.db, NOW)
    assert [pending.extension for pending in waiting] == ["tickets", "tickets", "other"]
    assert (waiting[0], len({pending.id for pending in waiting})) == (first, 3)


def test_a_waiting_approval_that_cannot_be_looked_up_is_not_told_to_have_changed(stores: Stores, folder: Path) -> None:
    person.mark(stores.db)
    found = shown(stores, folder)
    pending = left_pending(stores, found)
    file = stores.home / "state.db"
    stores.db.execute("PRAGMA busy_timeout = 1")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with failing("state", f"{file} cannot be used: another helm keeps it busy; try again when that one ended"):
            approve.pending_review(stores, pending)
    assert approve.pending_review(stores, pending) == found._replace(workspace_found="where the approval was asked for")


@pytest.fixture
def filed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets are kept in a file."""
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")


def team(folder: Path, **sections: Any) -> Path:
    asked = [{"key": "api_key", "type": "secret"}, {"key": "tone", "type": "string"}]
    return plugins.write(folder, settings=asked, tools=[plugins.named("find")], **sections)


def bound(stores: Stores) -> list[Bound]:
    """The bindings that hold for what is approved now."""
    approval = approvals.find(stores.db, HERE.path, plugins.ID)
    assert approval is not None
    return [*bindings.listed(stores.db, HERE.path, plugins.ID, approval.digest)]


def test_a_binding_holds_on_for_the_content_that_it_was_shown_with(stores: Stores, tmp_path: Path) -> None:
    approve.by_person(stores, shown(stores, team(tmp_path / "plugin")))
    first = approvals.listed(stores.db, HERE.path)[0].digest
    to = Bound("find", "search", "GET", "/find", None)
    bindings.bind(stores.db, HERE.path, plugins.ID, first, to, NOW)
    found = shown(stores, team(tmp_path / "plugin", version="2.0.0"))
    assert found.bindings == (to,)
    approve.by_pin(stores, found, found.digest, "a test")
    assert bound(stores) == []
    approve.by_person(stores, found)
    assert bound(stores) == [to]


def test_what_globs_let_in_is_not_remembered_where_nobody_saw_it(stores: Stores, tmp_path: Path) -> None:
    """Named tools are: what was shown of them before stands until their server is asked again."""
    entries = [plugins.allow("gh", "list_*", "get_issue")]
    folder = plugins.write(tmp_path / "plugin", tools=entries)
    found = shown(stores, folder)
    names = ("list_issues", "get_issue")
    asked = found._replace(servers=(Listed("gh", {name: said(name) for name in names}, names),))
    approve.by_person(stores, asked)
    assert list(tools.pinned(stores.db, HERE.path, plugins.ID)["gh"]) == ["get_issue", "list_*"]
    assert tools.pinned(stores.db, HERE.path, plugins.ID)["gh"]["get_issue"] == said("get_issue").definition
    approve.by_person(stores, shown(stores, plugins.write(folder, tools=entries, version="2.0.0")))
    assert tools.pinned(stores.db, HERE.path, plugins.ID) == {"gh": {"get_issue": said("get_issue").definition}}


def test_what_is_taken_back_takes_all_but_the_tokens_used_with_it(
    stores: Stores, folder: Path, tmp_path: Path, filed: None
) -> None:
    approve.by_person(stores, shown(stores, folder))
    approve.by_person(stores, shown(stores, team(tmp_path / "plugin")))
    approval = approvals.find(stores.db, HERE.path, plugins.ID)
    assert approval is not None
    of = (HERE.path, plugins.ID)
    extension = declared.extension(stores, approval)
    settings.fill_text(stores, HERE.path, extension, settings.declared(extension, "api_key"), "canary-1f")
    settings.fill_text(stores, HERE.path, extension, settings.declared(extension, "tone"), "dry")
    bindings.bind(stores.db, *of, approval.digest, Bound("find", "search", "GET", "/find", None), NOW)
    approvers.put(stores.db, *of, "editor", [0])
    budgets.set_limit(stores.db, *of, 10)
    budgets.add(stores.db, *of, "2027-01", 7, None)
    schedules.take(stores.db, *of, ["0 14 * * MON"], NOW, lambda cron, last: False)
    runs.begin(stores.db, RUN._replace(workspace=HERE.path, extension=plugins.ID))
    file = stores.home / "credentials.json"
    assert b"canary-1f" in file.read_bytes()
    approve.forget(stores, approval)
    assert not file.exists() or b"canary-1f" not in file.read_bytes()
    assert [one.extension for one in approvals.listed(stores.db, None)] == ["tickets"]
    assert (filled.listed(stores.db, *of), bindings.listed(stores.db, *of)) == ({}, ())
    assert (approvers.listed(stores.db, *of), budgets.limit(stores.db, *of)) == ({}, None)
    assert (schedules.marks(stores.db, *of), runs.find(stores.db, RUN.id)) == ({}, None)
    assert budgets.used(stores.db, *of, "2027-01") == 7
