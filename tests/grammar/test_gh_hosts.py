"""Which accounts gh's hosts.yml holds, once it is read, and where their API is."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.grammar import gh_hosts
from helm_cli.grammar.found import FoundService

SECRET: Final = "gho_canary5d21"
GITHUB: Final = "https://api.github.com"


def test_an_older_gh_has_one_account_a_host() -> None:
    value = {
        "github.com": {"user": "me", "oauth_token": SECRET, "git_protocol": "https"},
        "git.corp.test": {"user": "me", "oauth_token": SECRET},
        "corp.ghe.com": {"oauth_token": SECRET},
    }
    found = gh_hosts.found(value)
    assert found == [
        FoundService("github", "github.com, me", GITHUB, token=SECRET),
        FoundService("git.corp.test", "git.corp.test, me", "https://git.corp.test/api/v3", token=SECRET),
        FoundService("corp.ghe.com", "corp.ghe.com", "https://api.corp.ghe.com", token=SECRET),
    ]
    assert SECRET not in repr(found)


def test_a_newer_gh_has_several_and_the_one_in_use_first() -> None:
    accounts = {"bot": {"oauth_token": "b"}, "me": {"oauth_token": "m"}, "odd": None}
    found = gh_hosts.found({"github.com": {"users": accounts, "user": "me", "oauth_token": "m"}})
    assert [(one.name, one.origin, one.token) for one in found] == [
        ("github", "github.com, me", "m"),
        ("github-bot", "github.com, bot", "b"),
        ("github-odd", "github.com, odd", ""),
    ]


@pytest.mark.parametrize(
    ("host", "step"),
    [
        ("github.com", f"helm service add github --base-url {GITHUB} --token-stdin"),
        ("ghe.test", "helm service add ghe.test --base-url https://ghe.test/api/v3 --token-stdin"),
    ],
)
@pytest.mark.parametrize(
    ("entry", "of"),
    [({"user": "me", "users": {"me": None}}, " --user me"), ({"user": "me"}, ""), ({"oauth_token": ""}, "")],
)
def test_a_token_in_the_keychain_is_left_there(host: str, step: str, entry: dict[str, Any], of: str) -> None:
    """An older gh, whose file has no list of users, has one account a host, and no --user."""
    (found,) = gh_hosts.found({host: entry})
    step = f"gh auth token --hostname {host}{of} | {step}"
    assert (found.token, found.fault) == (
        "",
        f"gh keeps its token elsewhere, as in the keychain; take it with: {step}",
    )


def test_each_account_of_a_keychain_has_its_own_step() -> None:
    """Without --user, gh gives the token of the account in use for any of them."""
    found = gh_hosts.found({"github.com": {"user": "alice", "users": {"alice": {}, "bob": {}, "b-o_b": None}}})
    assert [(one.name, one.fault.partition("take it with: ")[2]) for one in found] == [
        (name, f"gh auth token --hostname github.com --user {user} | helm service add {name} --base-url {GITHUB}"
         " --token-stdin")
        for name, user in (("github", "alice"), ("github-bob", "bob"), ("github-b-o_b", "b-o_b"))
    ]  # fmt: skip


@pytest.mark.parametrize(
    "user", ["bob; touch x", "$(x)", "--hostname", SECRET + "x" * 30, "a" * 40, "ghp_" + "a1" * 12]
)
def test_a_user_that_github_cannot_have_is_neither_shown_nor_put_into_a_command(user: str) -> None:
    first, second = gh_hosts.found({"github.com": {"user": "me", "oauth_token": "t", "users": {user: {}}}})
    assert (first.name, first.origin, first.token) == ("github", "github.com, me", "t")
    assert second == FoundService("", "github.com", fault="the name of its user is none that GitHub has")


def test_a_host_that_is_none_is_not_shown() -> None:
    (found,) = gh_hosts.found({f"me:{SECRET}@ghe.test": {"oauth_token": "t"}})
    assert found == FoundService("", "a host", fault="its name is no host's")


@pytest.mark.parametrize(
    ("host", "entry", "fault"),
    [
        ("github.com", {"oauth_token": 5}, "its token is none that a header can carry"),
        ("github.com", {"oauth_token": f"{SECRET} x"}, "its token is none that a header can carry"),
        ("a;rm -rf $(x)", {}, "its name is no host's"),
        ("a/$(x)", {}, "its name is no host's"),
        ("", {}, "its name is no host's"),
    ],
)
def test_what_is_no_service_says_why(host: str, entry: dict[str, Any], fault: str) -> None:
    (found,) = gh_hosts.found({host: entry})
    assert (found.token, found.fault) == ("", fault)


@pytest.mark.parametrize("value", [[], "x", {"github.com": None}, {"github.com": ["x"]}])
def test_what_is_no_such_file_is_told(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^it is no list of hosts as gh keeps it$"):
        gh_hosts.found(value)


def test_an_empty_file_holds_nothing() -> None:
    assert gh_hosts.found(None) == gh_hosts.found({}) == []


PLAIN: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["github.com", "user", "users", "oauth_token"]) | st.text(), inner, max_size=3
        )
    ),
)


@given(PLAIN)
def test_no_value_trips_it(value: Any) -> None:
    try:
        found = gh_hosts.found(value)
    except ValueError:
        return
    assert all(bool(one.token) != bool(one.fault) for one in found)
