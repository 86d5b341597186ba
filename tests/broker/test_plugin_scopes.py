"""Which scopes a plugin's connection settings add to a sign-in, and what its bound tools need of that sign-in."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.broker import approve, bindings, call, plugin, profiles, review, scopes, settings, signin
from helm_cli.broker.scopes import Wanted
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.drivers.oauth_token import Grant
from helm_cli.model.errors import HelmError
from helm_cli.model.plugin import Bound
from helm_cli.model.profile import Service
from helm_cli.model.review import Review
from helm_cli.store import settings as files
from helm_cli.store.settings import Filled
from tests.rig.failing import failing
from tests.rig.plugins import ID, named, write

AUTHORIZE: Final = "https://auth.example/authorize"
TOKEN: Final = "https://auth.example/token"
DRIVE: Final = Service("drive", "http://127.0.0.1:9/api", client_id="me", authorize_url=AUTHORIZE, token_url=TOKEN)
GET: Final = Bound("find", "drive", "GET", "/files", None)


def connection(*wanted: str, key: str = "drive") -> dict[str, Any]:
    return {"key": key, "type": "connection", "provider": "oauth2", "scopes": list(wanted)}


@pytest.fixture
def stores(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with closing(Stores(home)) as opened:
        profiles.add(opened, DRIVE, None, force=False)
        yield opened


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    return Workspace(str(tmp_path), "named")


def reviewed(stores: Stores, here: Workspace, *declared_settings: dict[str, Any], version: str = "1.0.0") -> Review:
    folder = write(Path(here.path) / "plugin", settings=declared_settings, tools=[named("find")], version=version)
    found = review.review(stores, here, str(folder))
    assert isinstance(found, Review), found
    return found


def chosen(stores: Stores, here: Workspace, key: str = "drive") -> None:
    extension = plugin.approved(stores, here, ID).extension
    settings.fill_connection(stores, here.path, extension, settings.declared(extension, key), "drive")


def signed_in(stores: Stores, *granted: str) -> None:
    grant = Grant("an-access-token", None, granted, stores.clock() + 3600.0, 3600.0)
    signin.keep(stores, DRIVE, grant, Connected(AUTHORIZE, TOKEN, granted))


def refusal(stores: Stores, here: Workspace) -> tuple[str, str]:
    with pytest.raises(HelmError) as raised:
        call.describe(stores, call.Request(here, "_tools", "find", {}))
    return raised.value.code, raised.value.message


@pytest.mark.contract("C57")
def test_the_scopes_of_a_setting_are_asked_for_where_it_names_the_service(stores: Stores, here: Workspace) -> None:
    approve.by_person(stores, reviewed(stores, here, connection("b", "a"), connection("c", "a", key="other")))
    with pytest.raises(HelmError, match="run helm plugin settings acme/marketing set KEY --service drive"):
        scopes.wanted(stores, here, DRIVE)
    chosen(stores, here)
    assert scopes.wanted(stores, here, DRIVE) == Wanted(AUTHORIZE, TOKEN, ("b", "a"))
    chosen(stores, here, "other")
    assert scopes.wanted(stores, here, DRIVE).scopes == ("b", "a", "c")
    assert scopes.missing(stores, here, DRIVE, ("a",)) == {ID: ["b", "c"]}


def test_only_a_connection_that_is_still_to_be_chosen_is_asked_for(stores: Stores, here: Workspace) -> None:
    """A plugin whose connections name another service, or that asks for none, is not the one that is meant."""
    other = profiles.add(stores, DRIVE._replace(name="other"), None, force=False)
    approve.by_person(stores, reviewed(stores, here, {"key": "tone", "type": "string"}, connection("a")))
    chosen(stores, here)
    told = (
        f"no enabled extension of the workspace {here.path} (named) declares an oauth2 sign-in to other; review and"
        " approve the one that does with helm plugin review"
    )
    with failing("refused", told):
        scopes.wanted(stores, here, other)


def test_a_service_that_lost_its_addresses_is_not_signed_in_to(stores: Stores, here: Workspace) -> None:
    approve.by_person(stores, reviewed(stores, here, connection("a")))
    chosen(stores, here)
    bare = profiles.change(stores, DRIVE, DRIVE._replace(authorize_url=None, token_url=None), None)
    told = (
        "acme/marketing declares no addresses for the sign-in to drive; give the provider's own with helm service edit"
        " drive --authorize-url URL --token-url URL"
    )
    with failing("refused", told):
        scopes.wanted(stores, here, bare)


def test_a_new_scope_waits_until_its_version_is_approved(stores: Stores, here: Workspace) -> None:
    approve.by_person(stores, reviewed(stores, here, connection("a")))
    chosen(stores, here)
    found = reviewed(stores, here, connection("a", "all"), version="1.1.0")
    assert [change.message for change in found.changes if change.sort == "widened"] == ["setting drive: new scope all"]
    with pytest.raises(HelmError, match="changed since it was approved"):
        scopes.wanted(stores, here, DRIVE)
    approve.by_person(stores, found)
    assert scopes.wanted(stores, here, DRIVE).scopes == ("a", "all")


def test_a_bound_tool_uses_a_sign_in_that_covers_what_the_settings_ask_for(stores: Stores, here: Workspace) -> None:
    approve.by_person(stores, reviewed(stores, here, connection("a", "b")))
    team = plugin.approved(stores, here, ID)
    with pytest.raises(HelmError, match="no connection setting of acme/marketing names it; run helm plugin settings"):
        bindings.check(stores, here.path, team.extension, GET)
    chosen(stores, here)
    bindings.check(stores, here.path, team.extension, GET)
    bindings.bind(stores, team.approval, GET)
    assert refusal(stores, here)[0] == "not_authorized"
    signed_in(stores, "a")
    assert refusal(stores, here) == (
        "refused",
        "the sign-in to drive was not granted what _tools declares (b); connect it again with: helm oauth connect"
        " drive",
    )
    signed_in(stores, "a", "b")
    prepared = call.describe(stores, call.Request(here, "_tools", "find", {}))
    assert prepared.plan.request == {"method": "GET", "url": "http://127.0.0.1:9/api/files"}
    assert (prepared.plan.group, prepared.plan.profile) == ("service", "drive")
    settings.empty(stores, here.path, ID, "drive")
    assert refusal(stores, here)[1].startswith("no connection setting of the plugin names drive, so its sign-in is not")


def test_a_model_sees_the_strings_that_are_not_sensitive(stores: Stores, here: Workspace) -> None:
    declared_settings: list[dict[str, Any]] = [
        {"key": "tone", "type": "string"},
        {"key": "region", "type": "string", "sensitive": True},
        {"key": "api_key", "type": "secret"},
        {"key": "unset", "type": "string"},
    ]
    approve.by_person(stores, reviewed(stores, here, *declared_settings, connection("a")))
    extension = plugin.approved(stores, here, ID).extension
    for key in ("tone", "region", "api_key"):
        settings.fill_text(stores, here.path, extension, settings.declared(extension, key), f"the {key}")
    chosen(stores, here)
    assert settings.plain(stores, here.path, extension) == {"tone": "the tone"}
    assert settings.secret(stores, here.path, extension, "api_key") == "the api_key"
    assert settings.secret(stores, here.path, extension, "tone") is None
    # As where helm was killed before the store had it.
    files.put(stores.db, here.path, ID, "region", Filled("string", "", "file"))
    (stores.home / "credentials.json").unlink()
    with pytest.raises(HelmError, match="set it again with: helm plugin settings acme/marketing set region") as raised:
        settings.secret(stores, here.path, extension, "region")
    assert raised.value.code == "not_configured"
