"""What a review finds: faults and nothing else, or the extension, its standing, its profiles and what changed."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from helm_cli.broker import approve, review
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database, Service
from helm_cli.model.review import Caution, Change, FileChange, Invalid, Review
from helm_cli.store import approvals, profiles
from tests.broker.folders import FIVE_KINDS, manifest, write
from tests.rig.failing import failing

HERE = Workspace("/srv/here", "the current folder")
MISSING = Caution(
    "app", "", "the profile local-app is missing; add it with helm db add local-app --engine sqlite --path FILE"
)
THERE = Workspace("/code/there", "the current folder")


@pytest.fixture
def stores(home: Path) -> Iterator[Stores]:
    opened = Stores(home)
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "tickets", manifest())


def of(stores: Stores, folder: Path, workspace: Workspace = HERE) -> Review:
    found = review.review(stores, workspace, str(folder))
    assert isinstance(found, Review), found
    return found


def about(found: Review, connection: str) -> list[str]:
    """The warnings of a review about one connection as a whole, the contract's own of MCP aside."""
    cautions = [caution for caution in found.warnings if caution.connection == connection and not caution.operation]
    return [caution.message for caution in cautions if not caution.message.startswith("Helm cannot know")]


def test_a_new_extension(stores: Stores, folder: Path) -> None:
    found = of(stores, folder)
    assert (found.status, found.enabled, found.standing) == ("new", False, False)
    assert (found.workspace, found.workspace_found) == HERE
    assert (found.folder, found.approved_folder, found.approved_digest) == (str(folder), "", "")
    assert (found.changes, found.files, found.elsewhere, found.warnings) == ((), (), (), (MISSING,))
    assert found.digest == found.content.digest


def test_an_approved_extension_stands_and_a_disabled_one_does_not(stores: Stores, folder: Path) -> None:
    approve.by_person(stores, of(stores, folder))
    found = of(stores, folder)
    assert (found.status, found.enabled, found.standing) == ("approved", True, True)
    approvals.set_enabled(stores.db, HERE.path, "tickets", False)
    found = of(stores, folder)
    assert (found.status, found.enabled, found.standing) == ("approved", False, False)


@pytest.mark.contract("C6")
def test_a_changed_extension_shows_what_changed(stores: Stores, folder: Path) -> None:
    approve.by_person(stores, of(stores, folder))
    declared = manifest(version="2")
    declared["connections"][0]["queries"]["recent"]["sql"] = "SELECT title FROM tickets"
    write(folder, declared, {"README.md": b"new"})
    found = of(stores, folder)
    assert (found.status, found.standing) == ("changed", False)
    assert found.changes == (
        Change("changed", "the version changed", "", "2"),
        Change("changed", "app recent: its SQL changed", "SELECT id FROM tickets", "SELECT title FROM tickets"),
    )
    assert found.files == (FileChange("README.md", "added"), FileChange("manifest.json", "changed"))


def test_a_change_of_line_ends_is_called_that(stores: Stores, folder: Path) -> None:
    approve.by_person(stores, of(stores, folder))
    file = folder / "manifest.json"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    found = of(stores, folder)
    assert (found.status, found.changes, found.files) == ("changed", (), (FileChange("manifest.json", "changed"),))
    told = "only line ends differ from what was approved; * -text in .gitattributes keeps them"
    assert found.warnings == (Caution("", "", told), MISSING)


def test_an_approved_copy_that_cannot_be_read_does_not_stop_a_review(stores: Stores, folder: Path) -> None:
    approve.by_person(stores, of(stores, folder))
    stores.db.execute("UPDATE copies SET data = '{}'")
    write(folder, manifest(version="2"))
    told = "what was approved before can no longer be read: take everything below for new"
    assert of(stores, folder).changes == (Change("widened", told),)
    approve.by_person(stores, of(stores, folder))
    assert of(stores, folder).standing


def test_a_second_folder_with_the_same_id_is_a_change(stores: Stores, folder: Path, tmp_path: Path) -> None:
    approve.by_person(stores, of(stores, folder))
    other = write(tmp_path / "copy", manifest())
    found = of(stores, other)
    assert (found.status, found.changes, found.files) == ("changed", (), ())
    assert (found.folder, found.approved_folder) == (str(other), str(folder))
    approve.by_person(stores, found)
    assert of(stores, other).standing
    assert of(stores, folder).status == "changed"


def test_a_folder_reached_through_a_link_is_the_same(stores: Stores, folder: Path, tmp_path: Path) -> None:
    approve.by_person(stores, of(stores, folder))
    (tmp_path / "link").symlink_to(folder)
    assert of(stores, tmp_path / "link").standing


def test_where_else_this_content_is_approved(stores: Stores, folder: Path) -> None:
    approve.by_person(stores, of(stores, folder, THERE))
    found = of(stores, folder)
    assert (found.status, found.elsewhere) == ("new", (THERE.path,))


def test_the_state_of_each_profile(stores: Stores, tmp_path: Path) -> None:
    folder = write(tmp_path / "everything", FIVE_KINDS)
    assert [(known.connection.id, known.state, known.detail) for known in of(stores, folder).connections] == [
        ("app", "missing", ""),
        ("cal", "missing", ""),
        ("notes", "none needed", ""),
        ("gh", "missing", ""),
        ("tdt", "none needed", ""),
    ]
    profiles.create(stores.home, Database("local-app", "sqlite", path="/data/app.db"))
    assert of(stores, folder).connections[0].state == "configured"
    assert about(of(stores, folder), "app") == []
    postgres = Database("local-app", "postgres", host="localhost", port=5432, database="app", user="me")
    profiles.replace(stores.home, postgres)
    known = of(stores, folder).connections[0]
    assert (known.state, known.detail) == ("engine differs", "the profile is postgres")
    assert about(of(stores, folder), "app") == [
        "the profile local-app is postgres, and the connection wants sqlite: every call will fail"
    ]
    (stores.home / "profiles" / "db" / "local-app.toml").write_text("engine = 1")
    known = of(stores, folder).connections[0]
    assert known.state == "broken" and "local-app.toml" in known.detail
    assert about(of(stores, folder), "app") == [f"the profile local-app cannot be read: {known.detail}"]
    assert about(of(stores, folder), "cal") == [
        "the profile calendar is missing; add it with helm service add calendar --base-url URL --oauth2 --client-id ID"
    ]
    assert about(of(stores, folder), "notes") == []


@pytest.mark.parametrize(
    ("declared", "profile", "detail"),
    [
        ("cal", Service("calendar", "https://cal.example.com", client_id="c"), ""),
        ("cal", Service("calendar", "https://cal.example.com", credential="file"), "sends a token"),
        ("cal", Service("calendar", "https://cal.example.com"), "sends no token"),
        ("plain", Service("calendar", "https://cal.example.com", client_id="c"), "signs in by OAuth2"),
        ("plain", Service("calendar", "https://cal.example.com", credential="file"), ""),
        ("plain", Service("calendar", "https://cal.example.com"), ""),
    ],
)
def test_a_profile_that_signs_in_otherwise_than_declared(
    stores: Stores, tmp_path: Path, declared: str, profile: Service, detail: str
) -> None:
    """Its calls are refused (design, section 8), so a review says so."""
    entry = next(entry for entry in FIVE_KINDS["connections"] if entry["id"] == "cal")
    if declared == "plain":
        entry = {key: value for key, value in entry.items() if key != "oauth2"}
    folder = write(tmp_path / "calendar", {**FIVE_KINDS, "connections": [entry]})
    profiles.create(stores.home, profile)
    (known,) = of(stores, folder).connections
    if not detail:
        assert (known.state, known.detail) == ("configured", "")
        return
    assert (known.state, known.detail) == ("sign-in differs", f"the profile {detail}")
    assert about(of(stores, folder), "cal")[0] == (
        f"the profile calendar {detail}, and the connection declares {'oauth2' if declared == 'cal' else 'no oauth2'}:"
        " every call will be refused"
    )


def test_faults_of_the_folder_come_alone(stores: Stores, folder: Path) -> None:
    (folder / "manifest.json").write_text("{")
    (folder / "link").symlink_to("manifest.json")
    found = review.review(stores, HERE, str(folder))
    assert isinstance(found, Invalid)
    assert [fault.file for fault in found.faults] == ["link"]
    (folder / "link").unlink()
    found = review.review(stores, HERE, str(folder))
    assert isinstance(found, Invalid)
    assert [fault.file for fault in found.faults] == ["manifest.json"]


@pytest.mark.contract("C2", "C4")
def test_every_fault_of_a_manifest_at_once(stores: Stores, folder: Path) -> None:
    declared = manifest()
    declared["connections"] *= 2
    declared["connections"][0]["queries"]["wipe"] = {"sql": "DELETE FROM tickets", "write": True}
    (folder / "manifest.json").write_text(json.dumps(declared, indent=2))
    found = review.review(stores, HERE, str(folder))
    assert isinstance(found, Invalid)
    assert len(found.faults) >= 2
    assert all(fault.line > 1 for fault in found.faults)


def test_what_is_no_folder_is_a_usage_error(stores: Stores, folder: Path) -> None:
    for path in (folder / "manifest.json", folder / "absent", folder / "absent" / "manifest.json"):
        with pytest.raises(HelmError) as raised:
            review.review(stores, HERE, str(path))
        assert raised.value.code == "usage"


def test_a_folder_whose_path_is_no_text_is_a_usage_error(stores: Stores, tmp_path: Path) -> None:
    folder = write(tmp_path / os.fsdecode(b"\xff"), manifest())
    with failing("usage", "the folder's path is not UTF-8; rename it"):
        review.review(stores, HERE, str(folder))


def test_the_manifest_stands_for_its_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert review.folder_of(str(folder / "manifest.json")) == str(folder)
    for other in (folder, folder / "README.md", tmp_path / "manifest.json", folder / "absent" / "manifest.json"):
        assert review.folder_of(str(other)) == str(other)
    (tmp_path / "manifest.json").mkdir()
    assert review.folder_of(str(tmp_path / "manifest.json")) == str(tmp_path / "manifest.json")
    monkeypatch.chdir(folder)
    assert review.folder_of("manifest.json") == "."


def test_what_was_approved_is_shown_from_the_copy(stores: Stores, folder: Path) -> None:
    approve.by_person(stores, of(stores, folder))
    before = of(stores, folder)
    (folder / "manifest.json").unlink()
    approval = approvals.find(stores.db, HERE.path, "tickets")
    assert approval is not None
    found = review.approved(stores, approval)
    assert found._replace(workspace_found=HERE.found) == before._replace(status="changed")
    assert not found.standing
