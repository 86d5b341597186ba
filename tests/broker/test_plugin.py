"""Which team's plugin is meant, and why it may be none: not approved, disabled, changed, or of another kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from helm_cli.broker import approve, plugin, review
from helm_cli.broker.workspace import Workspace
from helm_cli.model.plugin import Instructions
from helm_cli.model.review import Review
from helm_cli.store import approvals
from tests.broker import folders
from tests.broker.office import Office, office
from tests.rig.failing import failing
from tests.rig.team import AGENT, ID


@pytest.fixture
def us(home: Path) -> Iterator[Office]:
    with office(home) as opened:
        yield opened


def tickets(us: Office) -> None:
    """An extension of another kind, approved beside the plugin."""
    found = review.review(us.stores, us.here, str(folders.write(us.folder / "tickets", folders.manifest())))
    assert isinstance(found, Review), found
    approve.by_person(us.stores, found)


def test_a_plugin_is_found_as_it_was_approved(us: Office) -> None:
    team = us.team()
    assert (team.approval.extension, team.extension.id, team.plugin) == (ID, ID, team.extension.plugin)
    assert team.plugin.draft_kinds == ("blog", "email")
    tickets(us)
    assert plugin.teams(us.stores, us.here) == [team]
    assert plugin.teams(us.stores, Workspace("/elsewhere", "named by a test")) == []


def test_its_instructions_are_those_that_were_approved(us: Office) -> None:
    team = us.team()
    (us.plugin / "agents" / "writer.md").write_text(AGENT + "More.\n")
    # No call needs them.
    assert team.plugin.agents == ()
    assert plugin.instructed(us.stores, team) == team.plugin._replace(
        agents=(Instructions("agents/writer.md", "writer", "Writes.", "Write what the brief says."),)
    )


@pytest.mark.parametrize(
    ("id_", "told"),
    [
        ("acme/marketin", "acme/marketin is not approved for {}; did you mean acme/marketing?"),
        ("other", "other is not approved for {}; run helm plugin review on its folder"),
        ("tickets", "tickets is no team's plugin: it has no plugin.yaml, so no runs and no drafts"),
    ],
)
def test_what_is_no_plugin_here(us: Office, id_: str, told: str) -> None:
    tickets(us)
    for find in (plugin.find, plugin.approved):
        with failing("refused", told.format(f"the workspace {us.here.path} (named by a test)")):
            find(us.stores, us.here, id_)


def test_one_that_is_disabled_or_changed_is_not_used(us: Office) -> None:
    team = us.team()
    (us.plugin / "agents" / "writer.md").write_text(AGENT + "More.\n")
    step = f"run helm plugin review {us.plugin}"
    with failing("refused", f"{ID} changed since it was approved for {us.here.path}, or its folder is gone; {step}"):
        us.team()
    assert plugin.teams(us.stores, us.here) == [team] == [plugin.approved(us.stores, us.here, ID)]
    approvals.set_enabled(us.stores.db, us.here.path, ID, False)
    with failing("refused", f"{ID} is disabled for the workspace {us.here.path}; run helm plugin enable {ID}"):
        us.team()
    assert plugin.teams(us.stores, us.here) == []
    assert plugin.approved(us.stores, us.here, ID) == team._replace(approval=team.approval._replace(enabled=False))
