"""What a team fills in for a plugin: asked for by name, kept where it belongs, and what is secret never seen again."""

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helm_cli.store import person
from helm_cli.store.database import open_state
from tests.program import Helm
from tests.rig.keyring_session import KeyringSession
from tests.rig.plugins import ID, allow, at_helm, write
from tests.rig.terminal import CTRL_C, ENTER

KEY = "canary-5ecret-1"
SENSITIVE = "canary-5ensitive-2"
SETTINGS: list[dict[str, Any]] = [
    {"key": "tone", "type": "string"},
    {"key": "region", "type": "string", "sensitive": True},
    {"key": "api_key_2", "type": "secret"},
    {"key": "drive", "type": "connection", "provider": "oauth2", "scopes": ["drive.read", "profile"]},
]
URLS = ("--authorize-url", "https://auth.example/authorize", "--token-url", "https://auth.example/token")


def approved(helm: Helm, workspace: Path, **sections: Any) -> None:
    """The plugin, as a fresh CI job approves it."""
    workspace.mkdir(exist_ok=True)
    sections = {"settings": SETTINGS, "tools": [allow("github", "list_issues")], **sections}
    write(workspace / "plugin", **sections)
    digest = helm("plugin", "review", "plugin", "-o", "json", cwd=workspace).json["digest"]
    assert helm("plugin", "review", "plugin", "--approve", digest, cwd=workspace).status == 0


@pytest.fixture
def team(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Helm:
    """helm in a workspace with the approved plugin, and without a keychain."""
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    approved(helm, tmp_path / "workspace")
    monkeypatch.chdir(tmp_path / "workspace")
    return helm


def settings(helm: Helm, *words: str, stdin: str = "") -> tuple[int, str]:
    done = helm("plugin", "settings", ID, *words, stdin=stdin)
    assert not done.out
    return done.status, done.err.removeprefix("helm: ").rstrip("\n")


def shown(helm: Helm) -> dict[str, tuple[bool, str | None]]:
    return {row["key"]: (row["set"], row["value"]) for row in helm("plugin", "settings", ID, "-o", "json").json}


def everywhere(home: Path, text: str) -> list[str]:
    return sorted(path.name for path in home.rglob("*") if path.is_file() and text.encode() in path.read_bytes())


@pytest.mark.contract("P16")
def test_what_is_asked_is_shown_and_what_is_missing_too(team: Helm) -> None:
    rows = team("plugin", "settings", ID, "-o", "json").json
    assert rows[0] == {
        "key": "tone",
        "type": "string",
        "provider": None,
        "scopes": [],
        "sensitive": False,
        "set": False,
        "value": None,
    }
    assert [row["sensitive"] for row in rows] == [False, True, True, True]
    assert (rows[3]["provider"], rows[3]["scopes"]) == ("oauth2", ["drive.read", "profile"])
    assert team("plugin", "settings", ID).out == (
        "tone\tstring\t(missing)\t\n"
        "region\tstring\t(missing)\tsensitive\n"
        "api_key_2\tsecret\t(missing)\tsensitive\n"
        "drive\tconnection\t(missing)\tprovider oauth2, scopes drive.read profile, sensitive\n"
    )


def test_a_string_is_seen_and_what_is_sensitive_never(team: Helm, home: Path) -> None:
    assert settings(team, "set", "tone", "dry & wärm") == (0, f"tone of {ID} is set")
    assert settings(team, "set", "region", "--stdin", stdin=f"{SENSITIVE}\n") == (
        0,
        f"region of {ID} is set, its value in the file",
    )
    assert settings(team, "set", "api_key_2", "--stdin", stdin=KEY)[0] == 0
    assert shown(team) == {
        "tone": (True, "dry & wärm"),
        "region": (True, None),
        "api_key_2": (True, None),
        "drive": (False, None),
    }
    told = team("plugin", "settings", ID).out
    assert "region\tstring\t(set, never shown)\tsensitive\n" in told
    for words in (["settings", ID], ["settings", ID, "-o", "json"], ["show", ID], ["show", ID, "-o", "json"]):
        done = team("plugin", *words)
        assert not any(canary in done.out + done.err for canary in (KEY, SENSITIVE))
    assert everywhere(home, KEY) == everywhere(home, SENSITIVE) == ["credentials.json"]
    assert everywhere(Path.cwd(), KEY) == []
    status, told = settings(team, "set", "region", SENSITIVE)
    assert (status, told.split("\n")[0]) == (
        0,
        "region is sensitive, and other programs can read a command line; give it with --stdin next time",
    )
    assert settings(team, "set", "tone", "--value=-5") == (0, f"tone of {ID} is set")
    assert shown(team)["tone"] == (True, "-5")


def test_where_a_person_was_asked_only_a_person_fills_a_setting_in(team: Helm, home: Path) -> None:
    assert settings(team, "set", "tone", "dry")[0] == 0
    with closing(open_state(home)) as db:
        person.mark(db)
    needs = (
        "setting {} decides what a model is told, or whose account it uses, so it needs a person at the terminal; run"
        " it in one"
    )
    assert settings(team, "set", "tone", "obey") == (7, needs.format("tone"))
    assert settings(team, "set", "api_key_2", "--stdin", stdin=KEY) == (7, needs.format("api_key_2"))
    assert settings(team, "set", "drive", "--service", "drive") == (7, needs.format("drive"))
    assert shown(team)["tone"] == (True, "dry")
    with at_helm("plugin", "settings", ID, "set", "tone", "warm") as screen:
        assert screen.status() == 0
    assert shown(team)["tone"] == (True, "warm")
    # To take one away widens nothing.
    assert settings(team, "unset", "tone")[0] == 0


def test_a_value_is_taken_away_and_all_with_the_plugin(team: Helm, home: Path) -> None:
    settings(team, "set", "tone", "dry")
    settings(team, "set", "api_key_2", "--stdin", stdin=KEY)
    settings(team, "set", "region", "--stdin", stdin=SENSITIVE)
    assert settings(team, "unset", "api_key_2") == (0, f"api_key_2 of {ID} is no longer set")
    assert settings(team, "unset", "api_key_2") == (0, f"api_key_2 of {ID} is not set, so nothing was changed")
    assert everywhere(home, KEY) == []
    assert shown(team)["api_key_2"] == (False, None)
    assert team("plugin", "forget", ID).status == 0
    assert everywhere(home, SENSITIVE) == []
    approved(team, Path.cwd())
    assert not any(is_set for is_set, _ in shown(team).values())


def test_each_workspace_has_its_own(team: Helm, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(team, "set", "api_key_2", "--stdin", stdin=KEY)
    settings(team, "set", "tone", "dry")
    approved(team, tmp_path / "other")
    monkeypatch.chdir(tmp_path / "other")
    assert not any(is_set for is_set, _ in shown(team).values())
    settings(team, "set", "api_key_2", "--stdin", stdin="canary-other")
    assert everywhere(home, KEY) == everywhere(home, "canary-other") == ["credentials.json"]
    assert team("plugin", "forget", ID).status == 0
    assert (everywhere(home, KEY), everywhere(home, "canary-other")) == (["credentials.json"], [])


def test_the_keychain_has_it_where_there_is_one(
    helm: Helm, tmp_path: Path, home: Path, keyring: KeyringSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(helm, tmp_path / "workspace")
    monkeypatch.chdir(tmp_path / "workspace")
    assert settings(helm, "set", "api_key_2", "--stdin", stdin=KEY) == (
        0,
        f"api_key_2 of {ID} is set, its value in the keychain",
    )
    assert everywhere(home, KEY) == []
    # Entered again where the file is chosen: nothing of the former is left behind.
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    assert settings(helm, "set", "api_key_2", "--stdin", stdin=KEY)[0] == 0
    assert everywhere(home, KEY) == ["credentials.json"]
    assert helm("plugin", "forget", ID).status == 0
    assert everywhere(home, KEY) == []


def test_a_secret_is_typed_unseen(team: Helm, home: Path) -> None:
    for key in ("api_key_2", "region"):
        with at_helm("plugin", "settings", ID, "set", key) as screen:
            screen.wait_for(f"Value of {key}")
            screen.send(KEY.encode(), ENTER)
            assert screen.status() == 0
            assert KEY.encode() not in screen.raw
    with at_helm("plugin", "settings", ID, "set", "api_key_2") as screen:
        screen.wait_for("Value of api_key_2")
        screen.send(b"another", CTRL_C)
        assert screen.status() == 6
    assert everywhere(home, KEY) == ["credentials.json"]
    assert everywhere(home, "another") == []


def test_a_connection_is_a_service_profile_that_can_sign_in(team: Helm) -> None:
    assert settings(team, "set", "drive", "--service", "drive")[0] == 4
    assert team("service", "add", "drive", "--base-url", "https://api.example", "--no-token").status == 0
    assert settings(team, "set", "drive", "--service", "drive") == (
        2,
        "drive signs in by OAuth2 and drive does not; replace it with: helm service add drive --oauth2 --force",
    )
    oauth2 = (
        "service",
        "add",
        "drive",
        "--base-url",
        "https://api.example",
        "--oauth2",
        "--client-id",
        "me",
        "--force",
    )
    assert team(*oauth2).status == 0
    assert settings(team, "set", "drive", "--service", "drive") == (
        2,
        "drive has no addresses to sign in at, and plugin.yaml declares none; give the provider's own with helm service"
        " edit drive --authorize-url URL --token-url URL",
    )
    assert team("service", "edit", "drive", *URLS).status == 0
    assert settings(team, "set", "drive", "--service", "drive") == (
        0,
        f"drive of {ID} goes by the service profile drive; sign in with: helm oauth connect drive",
    )
    assert shown(team)["drive"] == (True, "drive")
    assert team("oauth", "status", "drive", "-o", "json").json["missing"] == {ID: ["drive.read", "profile"]}


def test_what_was_entered_as_sensitive_stays_unseen_in_a_later_version(team: Helm) -> None:
    settings(team, "set", "region", "--stdin", stdin=SENSITIVE)
    settings(team, "set", "api_key_2", "--stdin", stdin=KEY)
    settings(team, "set", "tone", "dry")
    later = [{"key": "region", "type": "string"}, {"key": "api_key_2", "type": "string"}]
    approved(team, Path.cwd(), settings=[*later, {"key": "tone", "type": "string", "sensitive": True}])
    assert shown(team) == {"region": (True, None), "api_key_2": (False, None), "tone": (True, None)}


IMPOSSIBLE: list[tuple[list[str], str]] = [
    (["set", "api_key_2", KEY], "api_key_2 is a secret, and what is written on a command line is not"),
    (["set", "api_key_2", "--value", KEY], "api_key_2 is a secret, and what is written on a command line"),
    (["set", "api_key_2"], "--stdin is missing"),
    (["set", "api_key_2", "--stdin"], "the value of api_key_2 is empty; take a value away with unset"),
    (["set", "tone"], "VALUE is missing"),
    (["set", "tone", ""], "the value of tone is empty"),
    (["set", "tone", "x" * 4097], "the value of tone has 4,097 characters; at most 4,096 are kept"),
    (["set", "tone", "a", "--value", "b"], "VALUE and --value exclude each other"),
    (["set", "tone", "--service", "cal"], "tone is a string; --service goes with a connection"),
    (["set", "drive", "cal"], "drive is a connection; give the name of a service profile with --service"),
    (["set", "drive"], "--service is missing"),
    (["set", "ton", "x"], f"{ID} has no setting ton; did you mean tone?"),
    (["set"], "set names the KEY of a setting"),
    (["sett", "tone"], "settings are set or unset; see"),
    (["unset", "nothing"], f"{ID} has no setting nothing; it asks for tone, region, api_key_2, drive"),
    (["--stdin"], "--stdin goes with set"),
]


def test_what_cannot_be_set_is_said_and_nothing_kept(team: Helm, home: Path) -> None:
    for words, told in IMPOSSIBLE:
        status, message = settings(team, *words)
        assert (status, told in message) == (2, True), message
        assert KEY not in message
    assert not any(is_set for is_set, _ in shown(team).values())
    assert not (home / "credentials.json").exists()


def test_what_cannot_be_kept_changes_nothing(team: Helm, home: Path) -> None:
    settings(team, "set", "api_key_2", "--stdin", stdin=KEY)
    status, message = settings(team, "set", "tone", os.fsdecode(b"\xff"))
    assert (status, message) == (2, "the value of tone is not valid Unicode text; enter it again")
    (home / "credentials.json").write_text("broken")
    assert settings(team, "set", "region", "--stdin", stdin=SENSITIVE)[0] == 1
    assert shown(team)["region"] == (False, None)
    assert shown(team)["api_key_2"] == (True, None)


def test_other_extensions_have_no_settings(team: Helm) -> None:
    done = team("plugin", "settings", "acme/other")
    assert (done.status, "acme/other is not approved for the workspace" in done.err) == (3, True)
