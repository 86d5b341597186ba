"""Which extension a connection's name means in a workspace, and what is said where it means none."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.broker import declared
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.store import approvals
from tests.broker.approved import declared as approve
from tests.broker.approved import workspace
from tests.broker.folders import manifest
from tests.rig.failing import failing


@pytest.fixture
def one(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "one")


@pytest.fixture
def two(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "two")


def extension(id_: str, connection: str) -> dict[str, object]:
    return manifest(id=id_, connections=[{**manifest()["connections"][0], "id": connection}])


@pytest.fixture
def stores(home: Path, one: Workspace, two: Workspace) -> Iterator[Stores]:
    """In the one `tickets` and, disabled, `spare`; in the other `tickets` and `far`."""
    with closing(Stores(home)) as opened:
        for here, id_, connection in (
            (one, "tickets", "app"),
            (one, "spare", "store"),
            (two, "tickets", "app"),
            (two, "far", "remote"),
        ):
            approve(opened, here, extension(id_, connection))
        approvals.set_enabled(opened.db, one.path, "spare", False)
        yield opened


@pytest.mark.parametrize("named", [None, "tickets"])
def test_a_connection_is_found_by_its_name(stores: Stores, one: Workspace, named: str | None) -> None:
    approval, found, connection = declared.find(stores, one, "app", named)
    assert (approval.workspace, approval.extension, found.id, connection.id) == (one.path, "tickets", "tickets", "app")


@pytest.mark.parametrize(
    ("connection", "named", "message"),
    [
        ("nope", "tickets", "the extension tickets declares no connection nope; see helm plugin show tickets"),
        (
            "nope",
            None,
            "no approved extension of the workspace ONE (named) declares a connection nope; run helm plugin review on"
            " its folder",
        ),
        (
            "apps",
            None,
            "no approved extension of the workspace ONE (named) declares a connection apps; did you mean app?",
        ),
        (
            "remote",
            None,
            "no approved extension of the workspace ONE (named) declares a connection remote, only for TWO; run helm"
            " plugin review on its folder",
        ),
        (
            "store",
            None,
            "the connection store belongs to the extension spare, which is disabled for the workspace ONE; run helm"
            " plugin enable spare",
        ),
        (
            "store",
            "spare",
            "this names the extension spare, which is disabled for the workspace ONE; run helm plugin enable spare",
        ),
        (
            "remote",
            "far",
            "the extension far is not approved for the workspace ONE (named), only for TWO; run helm plugin review on"
            " its folder",
        ),
        (
            "app",
            "ticket",
            "the extension ticket is not approved for the workspace ONE (named); did you mean tickets?",
        ),
    ],
)
def test_what_means_no_connection_says_why(
    stores: Stores, one: Workspace, two: Workspace, connection: str, named: str | None, message: str
) -> None:
    with failing("refused", message.replace("ONE", one.path).replace("TWO", two.path)):
        declared.find(stores, one, connection, named)


def test_a_name_that_two_extensions_have_needs_a_word_more(stores: Stores, one: Workspace) -> None:
    approve(stores, one, extension("other", "app"))
    with failing("refused", "the connection app is declared by other and tickets; say which with --plugin"):
        declared.find(stores, one, "app", None)
    for named in ("other", "tickets"):
        assert declared.find(stores, one, "app", named)[1].id == named


def test_a_changed_folder_is_not_what_was_approved(stores: Stores, one: Workspace) -> None:
    approval, _, _ = declared.find(stores, one, "app", None)
    declared.check_approved(stores, approval)
    Path(approval.folder, "note.md").write_text("more")
    told = (
        f"tickets changed since it was approved for {one.path}, or its folder is gone; run helm plugin review"
        f" {approval.folder}"
    )
    with failing("refused", told):
        declared.check_approved(stores, approval)
