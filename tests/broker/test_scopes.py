"""What a sign-in asks for: what the enabled extensions declare, at the addresses on which they agree."""

from pathlib import Path
from typing import Final

import pytest

from helm_cli.broker import scopes
from helm_cli.broker.scopes import Wanted
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.profile import Service
from helm_cli.store import approvals, signins
from helm_cli.store.signins import Signin
from tests.rig.calendar import SERVICE, approve, oauth2, write
from tests.rig.failing import failing

PROFILE: Final = Service(SERVICE, "https://api.example", client_id="me")
AUTHORIZE: Final = "https://id.example/auth"
TOKEN: Final = "https://id.example/token"


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def stores(tmp_path: Path, told: list[str]) -> Stores:
    return Stores(tmp_path / "home", notice=told.append)


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    return Workspace(str(tmp_path / "here"), "named")


def wanted(stores: Stores, here: Workspace) -> Wanted:
    return scopes.wanted(stores, here, PROFILE)


def signed_in(stores: Stores, *granted: str, token_url: str = TOKEN) -> None:
    signin = Signin(SERVICE, "me", AUTHORIZE, token_url, granted, granted, None, "file", 1.0, None, None, True)
    signins.save(stores.db, signin)


@pytest.mark.contract("C57")
def test_the_scopes_of_all_enabled_extensions_are_asked_for(stores: Stores, here: Workspace, tmp_path: Path) -> None:
    folder = Path(here.path)
    approve(stores, write(folder / "agenda", oauth2("b", "a"), oauth2("c", "a")))
    approve(stores, write(folder / "booker", oauth2("d", "b")))
    approve(stores, write(folder / "closed", oauth2("disabled")))
    approvals.set_enabled(stores.db, here.path, "closed", False)
    approve(stores, write(folder / "drive", oauth2("elsewhere"), service="drive"))
    approve(stores, write(folder / "early", None))
    approve(stores, write(tmp_path / "there" / "far", oauth2("never-granted")))
    assert wanted(stores, here) == Wanted(AUTHORIZE, TOKEN, ("b", "a", "c", "d"))


def test_what_another_workspace_still_needs_is_asked_for_again(stores: Stores, here: Workspace, tmp_path: Path) -> None:
    approve(stores, write(Path(here.path) / "agenda", oauth2("a")))
    approve(stores, write(tmp_path / "there" / "far", oauth2("far", "not-granted")))
    approve(stores, write(tmp_path / "there" / "off", oauth2("off")))
    approvals.set_enabled(stores.db, str(tmp_path / "there"), "off", False)
    approve(stores, write(tmp_path / "third" / "other", oauth2("other", authorize="https://other.example/auth")))
    signed_in(stores, "a", "far", "off", "other", "gone")
    assert wanted(stores, here).scopes == ("a", "far")
    signed_in(stores, "a", "far", token_url="https://former.example/token")
    assert wanted(stores, here).scopes == ("a",)


def test_no_scopes_at_all_are_asked_for_as_none(stores: Stores, here: Workspace) -> None:
    approve(stores, write(Path(here.path) / "agenda", oauth2()))
    assert wanted(stores, here) == Wanted(AUTHORIZE, TOKEN, ())


@pytest.mark.contract("C58")
@pytest.mark.parametrize(
    ("other", "differing"),
    [
        (oauth2("b", token="https://id.example/other"), "tokenUrl"),
        (oauth2("b", authorize="https://id.example/auth?x=1"), "authorizeUrl"),
        (oauth2("b", authorize="https://x.example/", token="https://x.example/"), "authorizeUrl, tokenUrl"),
    ],
)
def test_extensions_that_disagree_are_named(
    stores: Stores, here: Workspace, other: dict[str, object], differing: str
) -> None:
    folder = Path(here.path)
    approve(stores, write(folder / "agenda", oauth2("a")))
    approve(stores, write(folder / "booker", oauth2("b")))
    approve(stores, write(folder / "cheat", other))
    told = (
        f"agenda and cheat declare different addresses for the sign-in to calendar ({differing}); disable one of them "
        "with helm plugin disable, or have them declare the same"
    )
    with failing("refused", told):
        wanted(stores, here)
    approvals.set_enabled(stores.db, here.path, "cheat", False)
    assert wanted(stores, here).scopes == ("a", "b")


@pytest.mark.contract("C58")
def test_an_extension_that_disagrees_with_itself_is_named(stores: Stores, here: Workspace) -> None:
    approve(stores, write(Path(here.path) / "agenda", oauth2("a"), oauth2("b", token="https://x.example/")))
    told = (
        "the connections agenda and agenda1 of agenda declare different addresses for the sign-in to calendar "
        "(tokenUrl); have them declare the same"
    )
    with failing("refused", told):
        wanted(stores, here)


@pytest.mark.contract("C68")
def test_an_extension_that_changed_does_not_count(stores: Stores, here: Workspace, told: list[str]) -> None:
    folder = Path(here.path)
    approve(stores, write(folder / "agenda", oauth2("a")))
    approve(stores, write(folder / "booker", oauth2("b")))
    write(folder / "booker", oauth2("b", "admin"))
    assert wanted(stores, here).scopes == ("a",)
    changed = f"booker changed since it was approved for {here.path}, or its folder is gone"
    assert told == [f"{changed}, so the scopes it declares do not count"]
    write(folder / "booker", oauth2("b"))
    assert wanted(stores, here).scopes == ("a", "b")


def test_what_to_do_is_said_where_nobody_declares_it(stores: Stores, here: Workspace) -> None:
    where = f"the workspace {here.path} (named)"
    with failing(
        "refused",
        f"no enabled extension of {where} declares an oauth2 sign-in to calendar; review and approve the one that does "
        "with helm plugin review",
    ):
        wanted(stores, here)
    approve(stores, write(Path(here.path) / "about", None))
    folder = write(Path(here.path) / "agenda", oauth2("a"))
    approve(stores, folder)
    approvals.set_enabled(stores.db, here.path, "agenda", False)
    with failing(
        "refused",
        f"agenda, which declares this sign-in, is disabled for {where}; run helm plugin enable agenda",
    ):
        wanted(stores, here)
    approvals.set_enabled(stores.db, here.path, "agenda", True)
    write(folder, oauth2("a", "b"))
    with failing(
        "refused",
        f"agenda changed since it was approved for {here.path}, or its folder is gone; run helm plugin review {folder}",
    ):
        wanted(stores, here)


def test_what_is_missing_is_told_by_extension(stores: Stores, here: Workspace) -> None:
    folder = Path(here.path)
    approve(stores, write(folder / "agenda", oauth2("a", "b"), oauth2("b", "c")))
    approve(stores, write(folder / "booker", oauth2("a")))
    assert scopes.missing(stores, here, PROFILE, ("a",)) == {"agenda": ["b", "c"]}
    assert scopes.missing(stores, here, PROFILE, ()) == {"agenda": ["a", "b", "c"], "booker": ["a"]}
    assert scopes.missing(stores, here, PROFILE, ("a", "b", "c", "d")) == {}
