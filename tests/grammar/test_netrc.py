"""Which credentials a .netrc has is what Python's own reader finds; how they are sent is said."""

import base64
import netrc as python
import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helm_cli.grammar import netrc
from helm_cli.grammar.found import FoundService
from helm_cli.grammar.netrc import Entry

SECRET: Final = "canary-e1f8"


def theirs(file: Path, text: str) -> dict[str, tuple[str, str, str]]:
    """Machine -> login, account and password, the last of each; "default" too."""
    file.write_text(text, newline="")
    return {machine: (login, account, word) for machine, (login, account, word) in python.netrc(file).hosts.items()}


def ours(text: str) -> dict[str, tuple[str, str, str]]:
    return {
        "default" if entry.machine is None else entry.machine: (entry.login, entry.account, entry.password)
        for entry in netrc.read(text)
    }


FILES: Final = [
    "machine a login b password c",
    "machine a\n\tlogin b\n\tpassword c\n\taccount d\nmachine e password f\n",
    "machine a user b password c default login x password y",
    'machine a login "b c" password "d\\"e\\\\f"\n',
    "machine a login b\\ c password d\\#e\n",
    "machine a login b password #c\n",
    "# machine x\nmachine a login b password c\n# the end",
    "machine a login b # password x\n password c\n",
    "machine a login b\n# password x\n password c\n",
    "machine a login b password c\nmacdef init\ncd /x\nmachine y login z\n\nmachine e login f password g\n",
    'machine a login "" password ""\n',
    "machine a password machine login default\n",
    "machine a\r\nlogin b\r\npassword c\r\n",
    "",
]


@pytest.mark.parametrize("text", FILES)
def test_a_file_holds_what_python_finds(tmp_path: Path, text: str) -> None:
    assert ours(text) == theirs(tmp_path / "file", text)


VALUE: Final = st.text("ab#x1:", min_size=1, max_size=5) | st.text('ab#" \\x', max_size=6).map(
    lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
)
ENTRY: Final = st.tuples(
    st.sampled_from(["machine a", "machine b", "default"]),
    st.lists(st.tuples(st.sampled_from(["login", "password", "account", "user"]), VALUE), max_size=3),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ENTRY, max_size=4), st.sampled_from([" ", "\n", "\n\t"]))
def test_made_up_files_hold_the_same(
    tmp_path: Path, entries: list[tuple[str, list[tuple[str, str]]]], between: str
) -> None:
    words = [word for head, fields in entries for word in (head, *(f"{key} {value}" for key, value in fields))]
    assert ours(between.join(words)) == theirs(tmp_path / "file", between.join(words))


@given(
    st.text() | st.lists(st.sampled_from(["machine", "a", "login", "macdef", "\n", '"', "#", "default"])).map(" ".join)
)
def test_no_text_trips_the_reader(text: str) -> None:
    try:
        entries = netrc.read(text)
    except ValueError:
        return
    netrc.found(entries)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"\n{SECRET}", "line 2 has a word that is none of machine, default, login, password, account and macdef"),
        (f"machine a {SECRET}", "line 1 has a word that is none of machine, default, login, password, account and"),
        ("password x", "line 1 has a word that is none of"),
        ("machine", "line 1 names no machine"),
        ("machine a\nlogin", "line 2 ends where a value should stand"),
    ],
)
def test_what_is_no_netrc_is_told_by_its_line(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=f"^{told}") as raised:
        netrc.read(text)
    assert SECRET not in str(raised.value)


def one(login: str, password: str, machine: str = "api.test") -> FoundService:
    (found,) = netrc.found([Entry(machine, login, password)])
    return found


def basic(pair: str) -> str:
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


TOGETHER: Final = "login and password are sent together, as HTTP Basic has it"


LOGIN: Final = "its login is a token, and is sent as a bearer token"
ALONE: Final = "it has no password: its login, which may be a token, is sent alone, as curl does (HTTP Basic)"
HEX: Final = "0a1b2c3d4e" * 4
SHOWN: Final = ("me", "me@x.test", "__token__", "oauth2", "X-Access-Token")
SHAPED: Final = "ghp_" + "a1b2" * 9


def bearer(why: str) -> str:
    return f"its password is sent as a bearer token: {why}"


@pytest.mark.parametrize(
    ("login", "password", "format_", "token", "note"),
    [
        ("me", "p w:é", "raw", basic("me:p w:é"), TOGETHER),
        ("me@x.test", "hrku-1", "raw", basic("me@x.test:hrku-1"), TOGETHER),
        ("__token__", "pypi-1", "raw", basic("__token__:pypi-1"), TOGETHER),
        ("", "two words", "raw", basic(":two words"), TOGETHER),
        ("", "t0k", "bearer", "t0k", bearer("there is no login")),
        ("oauth2", "t0k", "bearer", "t0k", bearer("the login oauth2 says that it is one")),
        ("X-Access-Token", "t0k", "bearer", "t0k", bearer("the login X-Access-Token says that it is one")),
        ("t0k", "x-oauth-basic", "bearer", "t0k", LOGIN),
        (SHAPED, "", "bearer", SHAPED, LOGIN),
        (SHAPED, "p", "raw", basic(f"{SHAPED}:p"), TOGETHER),
        # As curl sends it, and as services take it whose key is the user of HTTP Basic.
        (HEX, "", "raw", basic(f"{HEX}:"), ALONE),
        ("me", "", "raw", basic("me:"), ALONE),
        ("oauth2", "", "raw", basic("oauth2:"), ALONE),
        (HEX, "api_token", "raw", basic(f"{HEX}:api_token"), TOGETHER),
        (HEX, "X", "raw", basic(f"{HEX}:X"), TOGETHER),
        (HEX, "p", "raw", basic(f"{HEX}:p"), TOGETHER),
    ],
)
def test_credentials_are_sent_as_they_are_meant(login: str, password: str, format_: str, token: str, note: str) -> None:
    found = one(login, password)
    assert (found.base_url, found.format, found.token, found.notes) == ("https://api.test", format_, token, (note,))
    # Where it may be a secret, the login is not told either.
    assert found.origin in ("machine api.test", f"machine api.test, login {login}")
    assert ("login" in found.origin) == (login in SHOWN and password != "")
    assert not {token, SHAPED, HEX, "t0k"} & set(re.split("[ ',]", repr((found, Entry("api.test", login, password)))))


def test_github_is_said_to_have_its_api_elsewhere() -> None:
    assert one("me", "p", "GitHub.com") == FoundService(
        "github.com",
        "machine GitHub.com, login me",
        "https://github.com",
        "raw",
        basic("me:p"),
        ("GitHub's API is not there but at https://api.github.com", TOGETHER),
    )


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (Entry(None, "me", "p"), "it is for any machine, and a profile has one base URL"),
        (Entry("a", "", ""), "it has no password"),
        (Entry("a", "m:e", ""), "its login has a colon, which HTTP Basic cannot carry"),
        (Entry("a", "anonymous", "me@x.test"), "its login is anonymous"),
        (Entry("a", "m:e", "p"), "its login has a colon, which HTTP Basic cannot carry"),
        (
            Entry("a_b", "me", "p"),
            "https:// with the name of its machine must name a host: letters, digits, - and ., or an IPv4 address of"
            " four numbers",
        ),
        (Entry("a/b", "me", "p"), "https:// with the name of its machine must name a host alone"),
        (Entry("me@a", "me", "p"), "https:// with the name of its machine must not contain credentials"),
        (
            Entry(f"{SHAPED}.test", "me", "p"),
            "https:// with the name of its machine must name a host: letters, digits,"
            " - and ., or an IPv4 address of four numbers",
        ),
    ],
)
def test_what_is_no_service_says_why(entry: Entry, fault: str) -> None:
    (found,) = netrc.found([entry])
    assert (found.token, found.fault) == ("", fault)


@pytest.mark.parametrize(
    "machine",
    [
        f"me:{SECRET}@api.test",
        f"https://api.test/?token={SECRET}",
        f"api.test?{SECRET}",
        f"api.test/{SECRET}",
        f"api.test:{SECRET}",
        f"api_{SECRET}",
        f"{SECRET} api.test",
    ],
)
def test_a_machine_that_is_no_plain_host_is_not_shown(machine: str) -> None:
    plain, odd = netrc.found([Entry("api.test", "me", "p"), Entry(machine, "me", "p")])
    assert plain.origin == "machine api.test, login me"
    assert (odd.name, odd.origin, odd.base_url, odd.token) == ("", "entry 2", "", "")
    assert odd.fault.startswith("https:// with the name of its machine must ") and SECRET not in repr(odd)


def test_the_first_of_a_machine_and_login_counts() -> None:
    entries = [Entry("a", "x", "1"), Entry("a", "y", "2"), Entry("a", "x", "3")]
    assert [one.token for one in netrc.found(entries)] == [basic("x:1"), basic("y:2")]
    assert "1" not in repr(entries[0])
