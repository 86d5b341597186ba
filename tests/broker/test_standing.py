"""How a sign-in stands for who looks: by helm's own records, without a secret read and without a word sent."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from helm_cli.broker import profiles, signin
from helm_cli.broker.standing import Standing, standing
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Service
from helm_cli.store import signins
from tests.broker.killed_signin import CONNECTED, NOW, OLD
from tests.rig.calendar import SERVICE, approve, oauth2, write

AGAIN: Final = f"connect it again with: helm oauth connect {SERVICE}"
MISSING: Final = {"agenda": ["c", "d"]}


@pytest.fixture
def stores(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with closing(Stores(home, clock=lambda: NOW)) as opened:
        yield opened


@pytest.fixture
def here(tmp_path: Path, stores: Stores) -> Workspace:
    """A workspace whose extension declares the scopes a, b, c and d."""
    approve(stores, write(tmp_path / "here" / "agenda", oauth2("a", "b", "c", "d")))
    return Workspace(str(tmp_path / "here"), "named")


@pytest.fixture
def service(stores: Stores) -> Service:
    profile = Service(SERVICE, "https://api.example.com", client_id="id")
    return profiles.add(stores, profile, None, force=False)


def test_before_the_first_sign_in_all_is_missing(stores: Stores, here: Workspace, service: Service) -> None:
    found = standing(stores, here, service)
    assert found == Standing(SERVICE, "not connected", {"agenda": ["a", "b", "c", "d"]})
    assert not found.serves


def test_what_was_granted_stands_with_its_end_and_its_store(stores: Stores, here: Workspace, service: Service) -> None:
    signin.keep(stores, service, OLD, CONNECTED)
    # Whatever the store holds, nothing of it is read.
    os.unlink(stores.home / "credentials.json")
    found = standing(stores, here, service)
    assert found == Standing(
        SERVICE, "signed in", MISSING, None, ("a", "b"), NOW, NOW + 3600, refreshable=True, place="file"
    )
    assert found.serves


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("ended", f"the sign-in to {SERVICE} ended: it was over; {AGAIN}"),
        ("changed", f"the target of {SERVICE} changed since its sign-in; {AGAIN}"),
    ],
)
def test_why_it_serves_no_call_is_told(
    stores: Stores, here: Workspace, service: Service, how: str, reason: str
) -> None:
    signin.keep(stores, service, OLD, CONNECTED)
    if how == "ended":
        signins.end(stores.db, SERVICE, "it was over")
    else:
        service = service._replace(base_url="https://other.example.com")
    found = standing(stores, here, service)
    assert (found.state, found.reason, found.scopes, found.missing) == ("expired", reason, ("a", "b"), MISSING)
    assert not found.serves


def test_one_that_cannot_be_read_serves_no_call(stores: Stores, here: Workspace, service: Service) -> None:
    signin.keep(stores, service, OLD, CONNECTED)
    stores.db.execute("UPDATE signins SET place = 'nowhere'")
    reason = (
        f"state.db holds a sign-in to {SERVICE} that cannot be read; take it away with: helm oauth disconnect {SERVICE}"
    )
    found = standing(stores, here, service)
    assert found == Standing(SERVICE, "expired", {"agenda": ["a", "b", "c", "d"]}, reason)


def test_a_state_that_cannot_be_read_is_no_sign_in_that_ended(
    stores: Stores, here: Workspace, service: Service
) -> None:
    signin.keep(stores, service, OLD, CONNECTED)
    stores.db.execute("DROP TABLE targets")
    with pytest.raises(HelmError) as caught:
        standing(stores, here, service)
    assert caught.value.code == "state"
