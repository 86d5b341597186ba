"""Where each target is, in words for the person who configured it, and which changes make it another target."""

from typing import Any, Final

import pytest

from helm_cli.model.profile import Brain, Database, Root, Server, Service, Target

HOSTED: Final = Database("app", "postgres", host="db.example.test", port=5432, database="shop", user="reader")
TOKEN: Final = Service("cal", "https://api.example.test/v2", credential="keychain")
CLIENT: Final = TOKEN._replace(client_id="me", credential=None)
COMMAND: Final = Server("gh", ("/opt/a b/server", "--flag"), token_env="GH_TOKEN", credential="file")
REMOTE: Final = Server("far", url="https://mcp.example.test/mcp")
ROOT: Final = Root("workspace", "/home/ada/work", private="/home/ada/.helm")
BRAIN: Final = Brain("/home/ada/work", "read-only", "/home/ada/.helm/tdt")


@pytest.mark.parametrize(
    ("target", "where"),
    [
        (Database("lite", "sqlite", path="/var/app.db"), "/var/app.db"),
        (HOSTED, "db.example.test:5432/shop"),
        (HOSTED._replace(host="::1"), "[::1]:5432/shop"),
        (HOSTED._replace(host=None, port=None, socket="/run/postgresql"), "/run/postgresql:shop"),
        (TOKEN, "https://api.example.test/v2"),
        (COMMAND, "'/opt/a b/server' --flag"),
        (REMOTE, "https://mcp.example.test/mcp"),
        (ROOT, "/home/ada/work"),
        (BRAIN, "/home/ada/work"),
    ],
)
def test_where_it_is_in_words(target: Target, where: str) -> None:
    assert target.where() == where


@pytest.mark.parametrize(
    ("profile", "group", "account"),
    [
        (HOSTED, "db", "db/app/password"),
        (TOKEN, "service", "service/cal/token"),
        (CLIENT, "service", "service/cal/client-secret"),
        (COMMAND, "mcp", "mcp/gh/token"),
    ],
)
def test_each_profile_has_its_group_and_the_account_of_its_secret(
    profile: Database | Service | Server, group: str, account: str
) -> None:
    assert (profile.group, profile.account) == (group, account)


def test_the_folders_of_a_workspace_have_no_secret() -> None:
    assert (ROOT.credential, BRAIN.credential, BRAIN.name) == (None, None, "tdt")


@pytest.mark.parametrize(
    ("service", "sign_in"), [(CLIENT, "oauth2"), (TOKEN, "token"), (TOKEN._replace(credential=None), "none")]
)
def test_how_a_service_authorizes_its_calls(service: Service, sign_in: str) -> None:
    assert service.sign_in == sign_in


def test_the_addresses_of_a_sign_in_are_the_declared_ones_else_the_profiles_own() -> None:
    own = CLIENT._replace(authorize_url="https://own.test/a", token_url="https://own.test/t")
    declared = {"authorizeUrl": "https://declared.test/a", "tokenUrl": "https://declared.test/t"}
    assert own.addresses(declared) == ("https://declared.test/a", "https://declared.test/t")
    assert own.addresses({}) == ("https://own.test/a", "https://own.test/t")
    assert CLIENT.addresses({}) == ("", "")


@pytest.mark.parametrize(
    ("target", "change", "same"),
    [
        (HOSTED, {"credential": "file"}, True),
        (HOSTED, {"database": "other"}, False),
        (TOKEN, {"credential": None}, True),
        (TOKEN, {"header": "X-Api-Key"}, False),
        (COMMAND, {"credential": "keychain"}, True),
        (COMMAND, {"command": ("/opt/a", "b/server", "--flag")}, False),
        (REMOTE, {"url": "https://mcp.example.test/other"}, False),
        (ROOT, {"private": "/elsewhere"}, True),
        (ROOT, {"path": "/home/ada/other"}, False),
        (ROOT, {"project": True}, False),
        (BRAIN, {"locks": "/elsewhere"}, True),
        (BRAIN, {"profile": "everyday"}, False),
    ],
)
def test_a_write_is_for_one_target_wherever_its_secret_is_kept(target: Any, change: dict[str, Any], same: bool) -> None:
    assert (target._replace(**change).target_digest() == target.target_digest()) is same


@pytest.mark.contract("C18")
@pytest.mark.parametrize(
    ("profile", "change", "same"),
    [
        (HOSTED, {"database": "other"}, True),
        *((HOSTED, {key: "other"}, False) for key in ("engine", "host", "port", "socket", "user", "tls", "tls_ca")),
        (TOKEN, {"header": "X-Api-Key"}, True),
        *((TOKEN, {key: "other"}, False) for key in ("base_url", "client_id", "token_url")),
        (COMMAND, {"start_seconds": 5}, True),
        *((COMMAND, {key: value}, False) for key, value in (("command", ("/bin/sh",)), ("url", "https://a.test"))),
    ],
)
def test_a_secret_is_for_the_target_that_it_was_entered_for(profile: Any, change: dict[str, Any], same: bool) -> None:
    assert (profile._replace(**change).secret_target_digest() == profile.secret_target_digest()) is same
