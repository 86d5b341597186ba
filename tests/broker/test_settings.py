"""What a team fills in for a plugin: what is seen of it, where it is kept, and what cannot be."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import profiles, settings
from helm_cli.broker.settings import Asked
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Extension
from helm_cli.model.plugin import Setting
from helm_cli.model.profile import Service
from helm_cli.store import person
from helm_cli.store import settings as files
from helm_cli.store.settings import Filled
from tests.broker.office import Office, office
from tests.rig.failing import failing
from tests.rig.team import ID

KEY = "canary-41ad"
SETTINGS: list[dict[str, Any]] = [
    {"key": "tone", "type": "string"},
    {"key": "region", "type": "string", "sensitive": True},
    {"key": "api_key", "type": "secret"},
    {"key": "drive", "type": "connection", "provider": "oauth2", "scopes": ["a", "b"]},
    {"key": "site", "type": "connection", "provider": "other"},
]


@pytest.fixture
def us(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with office(home) as opened:
        opened.approve(settings=SETTINGS)
        yield opened


def extension(us: Office) -> Extension:
    return us.team().extension


def setting(us: Office, key: str) -> Setting:
    return settings.declared(extension(us), key)


def fill(us: Office, key: str, value: str) -> Filled:
    return settings.fill_text(us.stores, us.here.path, extension(us), setting(us, key), value)


def connect(us: Office, key: str, service: str) -> None:
    settings.fill_connection(us.stores, us.here.path, extension(us), setting(us, key), service)


def records(us: Office) -> dict[str, Filled]:
    return files.listed(us.stores.db, us.here.path, ID)


def secret(us: Office, key: str) -> str | None:
    return settings.secret(us.stores, us.here.path, extension(us), key)


def kept(home: Path) -> str:
    return (home / "credentials.json").read_text()


# --- what is seen


@pytest.mark.contract("P16")
def test_what_is_filled_in_is_seen_where_it_may_be(us: Office, home: Path) -> None:
    assert [(one.setting.key, one.is_set) for one in settings.asked(us.stores, us.here.path, extension(us))] == [
        (one["key"], False) for one in SETTINGS
    ]
    assert fill(us, "tone", "dry & wärm") == Filled("string", "dry & wärm")
    for key in ("region", "api_key"):
        filled = fill(us, key, f"{KEY}-{key}")
        assert filled == Filled("secret" if key == "api_key" else "string", "", "file")
    profiles.add(us.stores, Service("blog", "http://127.0.0.1:9"), None, force=False)
    connect(us, "site", "blog")
    assert settings.asked(us.stores, us.here.path, extension(us)) == (
        Asked(setting(us, "tone"), True, "dry & wärm"),
        Asked(setting(us, "region"), True),
        Asked(setting(us, "api_key"), True),
        Asked(setting(us, "drive"), False),
        Asked(setting(us, "site"), True, "blog"),
    )
    assert settings.plain(us.stores, us.here.path, extension(us)) == {"tone": "dry & wärm"}
    assert [secret(us, key) for key in ("tone", "region", "api_key")] == [None, f"{KEY}-region", f"{KEY}-api_key"]
    assert KEY.encode() not in (home / "state.db").read_bytes()


def test_what_was_entered_as_sensitive_stays_unseen_in_a_later_version(us: Office, home: Path) -> None:
    for key in ("tone", "region", "api_key"):
        fill(us, key, f"{KEY}-{key}")
    later = [
        {"key": "tone", "type": "string", "sensitive": True},
        {"key": "region", "type": "string"},
        {"key": "api_key", "type": "string"},
    ]
    us.approve(settings=later)
    assert settings.asked(us.stores, us.here.path, extension(us)) == (
        Asked(setting(us, "tone"), True),
        Asked(setting(us, "region"), True),
        Asked(setting(us, "api_key"), False),
    )
    assert secret(us, "api_key") is None
    # Entered again it is seen, and the former is gone.
    assert fill(us, "region", "eu") == Filled("string", "eu")
    assert settings.asked(us.stores, us.here.path, extension(us))[1] == Asked(setting(us, "region"), True, "eu")
    assert (f"{KEY}-region" in kept(home), f"{KEY}-api_key" in kept(home)) == (False, True)


def test_a_setting_that_there_is_none_of_is_told(us: Office) -> None:
    with failing("usage", f"{ID} has no setting ton; did you mean tone?"):
        setting(us, "ton")
    with failing("usage", f"{ID} has no setting zzzz; it asks for tone, region, api_key, drive, site"):
        setting(us, "zzzz")
    us.approve()
    with failing("usage", f"{ID} has no setting tone; it asks for none"):
        setting(us, "tone")
    plain = extension(us)._replace(plugin=None)
    assert settings.asked(us.stores, us.here.path, plain) == ()
    assert settings.scopes_of(us.stores, us.here.path, plain, "drive") is None


# --- filling in


@pytest.mark.contract("P16")
def test_where_a_person_was_asked_only_a_person_fills_in(us: Office) -> None:
    for by_person in (False, True):
        settings.check_allowed(us.stores, "tone", by_person=by_person)
    person.mark(us.stores.db)
    settings.check_allowed(us.stores, "tone", by_person=True)
    told = (
        "setting tone decides what a model is told, or whose account it uses, so it needs a person at the terminal; run"
        " it in one"
    )
    with failing("confirmation_required", told):
        settings.check_allowed(us.stores, "tone", by_person=False)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("tone", "", "the value of tone is empty; take a value away with unset"),
        ("api_key", "", "the value of api_key is empty; take a value away with unset"),
        ("tone", "x" * 4097, "the value of tone has 4,097 characters; at most 4,096 are kept"),
        ("region", "x" * 4097, "the value of region has 4,097 characters; at most 4,096 are kept"),
        ("tone", "\ud800", "the value of tone is not valid Unicode text; enter it again"),
        ("api_key", "\ud800", "the value of api_key is not valid Unicode text; enter it again"),
    ],
)
def test_what_no_store_keeps_is_refused(us: Office, home: Path, key: str, value: str, told: str) -> None:
    with failing("usage", told):
        fill(us, key, value)
    assert (records(us), (home / "credentials.json").exists()) == ({}, False)


def test_the_longest_values_are_kept(us: Office) -> None:
    fill(us, "tone", "é" * 4096)
    fill(us, "api_key", "k" * 4097)
    assert (records(us)["tone"].value, secret(us, "api_key")) == ("é" * 4096, "k" * 4097)


def test_what_cannot_be_kept_changes_nothing(us: Office, home: Path) -> None:
    fill(us, "api_key", KEY)
    whole = kept(home)
    files.put(us.stores.db, us.here.path, ID, "tone", Filled("string", "dry"))
    before = records(us)
    (home / "credentials.json").write_text("broken")
    for key in ("region", "api_key"):
        with pytest.raises(HelmError, match=r"credentials\.json") as raised:
            fill(us, key, "another")
        assert raised.value.code == "state"
    assert records(us) == before
    (home / "credentials.json").write_text(whole)
    assert secret(us, "api_key") == KEY


def test_a_value_that_goes_to_another_store_is_said_to_be_in_the_former_where_that_is_silent(us: Office) -> None:
    files.put(us.stores.db, us.here.path, ID, "api_key", Filled("secret", "", "keychain"))
    assert fill(us, "api_key", KEY) == Filled("secret", "", "file")
    (told,) = us.told
    assert told.startswith("the secret plugin/acme.marketing.")
    assert "/api_key is still in the keychain: " in told
    assert secret(us, "api_key") == KEY


def test_a_connection_goes_by_a_service_that_can_sign_in(us: Office) -> None:
    with failing("not_configured", "there is no service profile drive; add it with: helm service add drive"):
        connect(us, "drive", "drive")
    plain = Service("drive", "http://127.0.0.1:9/api")
    for service, told in (
        (
            plain,
            "drive signs in by OAuth2 and drive does not; replace it with: helm service add drive --oauth2 --force",
        ),
        (
            plain._replace(client_id="me"),
            "drive has no addresses to sign in at, and plugin.yaml declares none; give the provider's own with helm"
            " service edit drive --authorize-url URL --token-url URL",
        ),
    ):
        profiles.add(us.stores, service, None, force=True)
        with failing("usage", told):
            connect(us, "drive", "drive")
    assert records(us) == {}
    addresses = ("https://auth.example/authorize", "https://auth.example/token")
    signing = plain._replace(client_id="me", authorize_url=addresses[0], token_url=addresses[1])
    profiles.add(us.stores, signing, None, force=True)
    assert settings.scopes_of(us.stores, us.here.path, extension(us), "drive") is None
    connect(us, "drive", "drive")
    assert records(us) == {"drive": Filled("connection", "drive")}
    assert settings.scopes_of(us.stores, us.here.path, extension(us), "drive") == ("a", "b")
    # One that needs no sign-in goes by any service.
    profiles.add(us.stores, Service("blog", "http://127.0.0.1:9"), None, force=False)
    connect(us, "site", "blog")
    assert settings.scopes_of(us.stores, us.here.path, extension(us), "blog") is None


def test_a_connection_takes_the_place_of_a_secret_of_that_name(us: Office, home: Path) -> None:
    us.approve(settings=[{"key": "site", "type": "secret"}])
    fill(us, "site", KEY)
    us.approve(settings=SETTINGS)
    profiles.add(us.stores, Service("blog", "http://127.0.0.1:9"), None, force=False)
    connect(us, "site", "blog")
    assert (records(us), KEY in kept(home)) == ({"site": Filled("connection", "blog")}, False)


# --- taking away


def test_a_value_is_taken_away_and_all_with_the_plugin(us: Office, home: Path) -> None:
    for key in ("tone", "region", "api_key"):
        fill(us, key, f"{KEY}-{key}")
    emptied = [settings.empty(us.stores, us.here.path, ID, "api_key") for _ in range(2)]
    assert (emptied, [*records(us)], f"{KEY}-api_key" in kept(home)) == ([True, False], ["region", "tone"], False)
    # What the plugin no longer asks for is taken away too.
    us.approve()
    settings.forget(us.stores, us.here.path, ID)
    assert (records(us), KEY in kept(home), us.told) == ({}, False, [])
