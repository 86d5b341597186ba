"""What `helm service add` and `edit` take: URLs, headers and secrets, by option, by pipe and by question."""

import signal
import sys
from pathlib import Path

import pytest

from tests.program import Finished, Helm
from tests.rig.kept import kept
from tests.rig.terminal import CTRL_C, DOWN, ENTER, Terminal, at_terminal

SECRET = "canary-9d3f"
FILE = {"HELM_CLI_CREDENTIALS": "file"}
BASE = "https://api.example.com"
HELM = (sys.executable, "-m", "helm_cli", "service")
TOKEN = ("--base-url", BASE, "--token-stdin")
OAUTH2 = ("--base-url", BASE, "--oauth2", "--client-id", "my-client")
EMPTY = "is empty; give it a value, or leave it out"

ASCII = "must be ASCII without spaces, backslashes or control characters (percent-encode them; hosts as xn--…)"
SCHEME = "must begin with https:// (http:// is permitted only for 127.0.0.1 and localhost)"
HOST = "must name a host: letters, digits, - and ., or an IPv4 address of four numbers"
PORT = "must have a port from 1 to 65535, or none"


def add(helm: Helm, *words: str, stdin: str | bytes = "") -> Finished:
    return helm("service", "add", *words, env=FILE, stdin=stdin)


def edit(helm: Helm, *words: str, stdin: str = "") -> Finished:
    return helm("service", "edit", *words, env=FILE, stdin=stdin)


def profile(home: Path, name: str) -> str:
    return (home / "profiles" / "service" / f"{name}.toml").read_text()


def nothing_is_there(home: Path) -> bool:
    return not (home / "profiles").exists() and not (home / "credentials.json").exists()


@pytest.mark.contract("C16")
@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("http://api.example.com", SCHEME),
        ("http://localhost.evil.test", SCHEME),
        ("http://127.1", SCHEME),
        ("http://localhost.", SCHEME),
        ("http://[::1]:8080", SCHEME),
        ("http://127.0.0.1@evil.test", "must not contain credentials"),
        (f"https://me:{SECRET}@api.example.com", "must not contain credentials"),
        ("http://127.0.0.1%2f@evil.test", "must not contain credentials"),
        ("http://127.0.0.1\\@evil.test", ASCII),
        ("http://evil.test#@127.0.0.1", "must not contain a fragment"),
        ("https://exa%6dple.com", HOST),
        ("https://localhost.", HOST),
        ("https://[::1]", HOST),
        ("https://example.com:99999", PORT),
        ("https://example.com/?x=1", "must not contain a query"),
        ("https://example.com/a/%2e%2e/b", 'must have no "." or ".." segment'),
        ("https://example.com/" + "a" * 70_000, "must have at most 4,096 characters"),
        (" https://example.com", ASCII),
        ("api.example.com", "must be a whole URL, as in https://api.example.com"),
    ],
)
def test_a_base_url_that_is_not_safe_is_refused(helm: Helm, home: Path, url: str, wrong: str) -> None:
    """Refused before anything is read or asked, without a word of it: it may hold a password."""
    ended = add(helm, "s", "--base-url", url, "--token-stdin", stdin="t")
    assert (ended.status, ended.out, ended.err) == (2, "", f"helm: --base-url {wrong}\n")
    assert nothing_is_there(home)


@pytest.mark.contract("C16")
@pytest.mark.parametrize(
    ("url", "kept_as"),
    [
        ("https://api.example.com", "https://api.example.com"),
        ("HTTPS://API.Example.COM:443/V2/", "https://api.example.com/V2"),
        ("http://localhost:3000/api", "http://localhost:3000/api"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("https://10.0.0.1:8443", "https://10.0.0.1:8443"),
    ],
)
def test_a_base_url_is_kept_plainly(helm: Helm, home: Path, url: str, kept_as: str) -> None:
    assert add(helm, "s", "--base-url", url, "--no-token").status == 0
    assert profile(home, "s") == f'base_url = "{kept_as}"\n'
    assert edit(helm, "s", "--base-url", url).status == 0
    assert profile(home, "s") == f'base_url = "{kept_as}"\n'


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (TOKEN, "NAME is missing; give it, or run this in a terminal to be asked"),
        (("s", "--token-stdin"), "--base-url is missing; give it, or run this in a terminal to be asked"),
        (
            ("s", "--base-url", BASE),
            "--token-stdin is missing; give it, or --no-token for a service without one, or run this in a terminal to"
            " be asked",
        ),
        (
            ("s", "--base-url", BASE, "--oauth2"),
            "--client-id is missing; give it, or run this in a terminal to be asked",
        ),
        (("s", *TOKEN, "--no-token"), "--token-stdin and --no-token exclude each other; give one of them"),
        (("s", *TOKEN, "--format", "basic"), "--format takes bearer or raw"),
        (("s", *TOKEN, "--client-id", "c"), "--client-id goes with --oauth2; give that too"),
        (("s", *TOKEN, "--client-secret-stdin"), "--client-secret-stdin goes with --oauth2; give that too"),
        (("s", *TOKEN, "--redirect-port", "9000"), "--redirect-port goes with --oauth2; give that too"),
        (("s", *TOKEN, "--token-url", BASE), "--token-url goes with --oauth2; give that too"),
        (("s", *OAUTH2, "--header", "X"), "--header does not go with --oauth2; leave it out"),
        (("s", *OAUTH2, "--format", "raw"), "--format does not go with --oauth2; leave it out"),
        (("s", *OAUTH2, "--token-stdin"), "--token-stdin does not go with --oauth2; leave it out"),
        (("s", *OAUTH2, "--no-token"), "--no-token does not go with --oauth2; leave it out"),
        (("s", *TOKEN, "--header", "Host"), "the profile s is not possible: header names one that helm or the"),
        (("s", *TOKEN, "--header", "X\r\nHost: x"), "the profile s is not possible: header must be the name of one"),
        (("s", *OAUTH2, "--token-url", BASE), "the profile s is not possible: authorize_url and token_url go together"),
        (("../s", *TOKEN), "'../s' cannot be the name of a profile"),
        (("", *TOKEN), f"NAME {EMPTY}"),
        (("s", "--base-url", "", "--token-stdin"), f"--base-url {EMPTY}"),
        (("s", *TOKEN, "--header", ""), f"--header {EMPTY}"),
        (("s", *TOKEN, "--format", ""), f"--format {EMPTY}"),
        (("s", "--base-url", BASE, "--oauth2", "--client-id", ""), f"--client-id {EMPTY}"),
        (("s", *OAUTH2, "--authorize-url", "", "--token-url", BASE), f"--authorize-url {EMPTY}"),
        (("s", *OAUTH2, "--authorize-url", BASE, "--token-url", ""), f"--token-url {EMPTY}"),
    ],
)
def test_without_a_terminal_what_is_missing_or_wrong_is_named(
    helm: Helm, home: Path, words: tuple[str, ...], message: str
) -> None:
    ended = add(helm, *words, stdin="t")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(f"helm: {message}")
    assert nothing_is_there(home)


ONE_LINE = "must be one line of printable ASCII, without spaces at its ends"


@pytest.mark.parametrize(
    ("token", "wrong"),
    [
        ("", "the token on standard input is empty; give --no-token for none"),
        ("\n", "the token on standard input is empty; give --no-token for none"),
        (f"{SECRET}\n\n", f"the token {ONE_LINE}"),
        (f" {SECRET}", f"the token {ONE_LINE}"),
        (f"{SECRET} ", f"the token {ONE_LINE}"),
        (f"{SECRET}\r\nHost: evil.test", f"the token {ONE_LINE}"),
        (f"{SECRET}\0", f"the token {ONE_LINE}"),
        (f"{SECRET}é", f"the token {ONE_LINE}"),
        (f"token {SECRET}", "the token must not contain a space; give the token alone"),
        (b"\xff" + SECRET.encode(), "the token on standard input is not UTF-8"),
        (SECRET * 10_000, "the token on standard input is over 65536 bytes"),
    ],
)
def test_a_token_that_no_header_carries_is_refused_unseen(
    helm: Helm, home: Path, token: str | bytes, wrong: str
) -> None:
    ended = add(helm, "s", *TOKEN, stdin=token)
    assert (ended.status, ended.out, ended.err) == (2, "", f"helm: {wrong}\n")
    assert nothing_is_there(home)


@pytest.mark.parametrize(
    ("words", "entered", "as_kept"),
    [
        ((), "t\n", "t"),
        ((), "t\r\n", "t"),
        ((), "Bearer t\n", "t"),
        (("--format", "raw"), "Bearer t", "Bearer t"),
        (("--format", "raw"), "Basic dXNlcjpw\n", "Basic dXNlcjpw"),
        (("--header", "X-Api-Key"), "a b", "a b"),
    ],
)
def test_a_token_is_kept_as_it_is_sent(
    helm: Helm, home: Path, words: tuple[str, ...], entered: str, as_kept: str
) -> None:
    ended = add(helm, "s", *TOKEN, *words, stdin=entered)
    assert kept(home) == {"service/s/token": as_kept}
    stripped = 'helm: the token is kept without the "Bearer" before it, which every call adds\n' in ended.err
    assert stripped == (as_kept != entered.strip())


def test_an_empty_client_secret_is_that_of_a_public_client(helm: Helm, home: Path) -> None:
    for name, words, entered in (("a", ("--client-secret-stdin",), "\n"), ("b", (), "ignored")):
        ended = add(helm, name, *OAUTH2, *words, stdin=entered)
        assert ended.err.startswith(f"helm: added the service profile {name}, a public client\n")
        assert profile(home, name) == f'base_url = "{BASE}"\nclient_id = "my-client"\n'
    ended = add(helm, "c", *OAUTH2, "--client-secret-stdin", stdin=f"{SECRET}é")
    assert (ended.status, ended.err) == (2, f"helm: the client secret {ONE_LINE}\n")
    assert kept(home) == {}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("s",), "nothing to change; give --base-url, --header, --format, --token-stdin, --ask-token or --no-token"),
        (
            ("cal",),
            "nothing to change; give --base-url, --client-id, --client-secret-stdin, --ask-client-secret,"
            " --redirect-port, --no-redirect-port, --authorize-url, --token-url or --no-sign-in-urls",
        ),
        (
            ("s", "--client-id", "c"),
            "--client-id does not go with a profile without OAuth2; leave it out, or replace the profile with:"
            " helm service add s --force",
        ),
        (
            ("cal", "--token-stdin"),
            "--token-stdin does not go with a profile that signs in by OAuth2; leave it out, or replace the profile"
            " with: helm service add cal --force",
        ),
        (("s", "--token-stdin", "--no-token"), "--token-stdin and --no-token exclude each other; give one of them"),
        (("s", "--ask-token"), "--ask-token needs a terminal; give --token-stdin"),
        (("cal", "--ask-client-secret"), "--ask-client-secret needs a terminal; give --client-secret-stdin"),
        (("s", "--base-url", "http://x.test"), f"--base-url {SCHEME}"),
        (("s", "--format", "x"), "--format takes bearer or raw"),
        (("s", "--header", "Cookie"), "the profile s is not possible: header names one that helm or the connection"),
        (("cal", "--token-url", f"{BASE}/t"), "the profile cal is not possible: authorize_url and token_url go"),
        (("s", "--base-url", ""), f"--base-url {EMPTY}"),
        (("s", "--header", ""), f"--header {EMPTY}"),
        (("cal", "--token-url", ""), f"--token-url {EMPTY}"),
        (
            ("cal", "--redirect-port", "1", "--no-redirect-port"),
            "--redirect-port and --no-redirect-port exclude each other; give one of them",
        ),
        (
            ("cal", "--token-url", f"{BASE}/t", "--no-sign-in-urls"),
            "--token-url and --no-sign-in-urls exclude each other; give one of them",
        ),
        (("s", "--no-sign-in-urls"), "--no-sign-in-urls does not go with a profile without OAuth2; leave it out"),
    ],
)
def test_an_edit_that_makes_no_sense_changes_nothing(
    helm: Helm, home: Path, words: tuple[str, ...], message: str
) -> None:
    add(helm, "s", *TOKEN, stdin=SECRET)
    add(helm, "cal", *OAUTH2, "--client-secret-stdin", stdin=SECRET)
    before = (profile(home, "s"), profile(home, "cal"), kept(home))
    ended = edit(helm, *words, stdin="new")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(f"helm: {message}")
    assert (profile(home, "s"), profile(home, "cal"), kept(home)) == before


def test_a_person_is_asked_for_what_is_missing(home: Path) -> None:
    with at_terminal(*HELM, "add", env=FILE) as screen:
        screen.wait_for("Name of the profile")
        screen.send(b"github", ENTER)
        screen.wait_for("Base URL")
        screen.send(b"https://api.github.com/", ENTER)
        screen.wait_for("Its calls are authorized by")
        screen.send(ENTER)
        typed(screen, "Token of github (empty for none)", SECRET)
    assert profile(home, "github") == 'base_url = "https://api.github.com"\ncredential = "file"\n'
    assert kept(home) == {"service/github/token": SECRET}


def test_a_person_chooses_a_sign_in(home: Path) -> None:
    with at_terminal(*HELM, "add", "cal", env=FILE) as screen:
        screen.wait_for("Base URL")
        screen.send(BASE.encode(), ENTER)
        screen.wait_for("Its calls are authorized by")
        screen.send(DOWN, ENTER)
        screen.wait_for("Client id")
        screen.send(b"my-client", ENTER)
        typed(screen, "Client secret of cal (empty for a public client)", SECRET)
    assert profile(home, "cal") == f'base_url = "{BASE}"\nclient_id = "my-client"\ncredential = "file"\n'
    assert kept(home) == {"service/cal/client-secret": SECRET}


def test_a_person_chooses_no_token_and_is_asked_for_none(home: Path) -> None:
    with at_terminal(*HELM, "add", "open") as screen:
        screen.wait_for("Base URL")
        screen.send(BASE.encode(), ENTER)
        screen.wait_for("Its calls are authorized by")
        screen.send(DOWN, DOWN, ENTER)
        assert screen.status() == 0
    assert profile(home, "open") == f'base_url = "{BASE}"\n'


@pytest.mark.parametrize(
    ("words", "question", "text"),
    [
        (("--base-url", BASE), "Token of s (empty for none)", f'base_url = "{BASE}"\n'),
        (OAUTH2, "Client secret of s (empty for a public", f'base_url = "{BASE}"\nclient_id = "my-client"\n'),
    ],
)
def test_an_empty_answer_is_no_secret(home: Path, words: tuple[str, ...], question: str, text: str) -> None:
    with at_terminal(*HELM, "add", "s", *words) as screen:
        typed(screen, question, "")
    assert profile(home, "s") == text
    assert kept(home) == {}


@pytest.mark.parametrize(
    ("words", "question"),
    [
        ((), "Base URL"),
        (("--base-url", BASE), "Token of s"),
        (OAUTH2, "Client secret of s"),
        (OAUTH2[:3], "Client id"),
    ],
)
@pytest.mark.parametrize("ends", [CTRL_C, signal.SIGTERM])
def test_a_question_that_is_not_answered_leaves_nothing_behind(
    home: Path, words: tuple[str, ...], question: str, ends: bytes | int
) -> None:
    with at_terminal(*HELM, "add", "s", *words, env=FILE) as screen:
        screen.wait_for(question)
        if isinstance(ends, bytes):
            screen.send(SECRET.encode(), ends)
            assert screen.status() == 6
            assert "helm: cancelled; nothing was changed" in screen.raw.decode()
        else:
            screen.process.send_signal(ends)
            assert screen.status() == 128 + ends
        assert screen.attributes() == screen.before
    assert nothing_is_there(home)


def test_what_cannot_be_added_is_told_before_anybody_types_a_secret(helm: Helm, home: Path) -> None:
    add(helm, "s", *TOKEN, stdin=SECRET)
    for words, status, told in (
        (("s", "--base-url", BASE), 15, "the service profile s exists; change it with edit"),
        (("t", "--base-url", "http://x.test"), 2, "--base-url must begin with https://"),
        (("t", "--base-url", BASE, "--header", "Host"), 2, "the profile t is not possible: header names one"),
    ):
        with at_terminal(*HELM, "add", *words, env=FILE, size=(120, 24)) as screen:
            assert screen.status() == status
            assert told in screen.raw.decode()
            assert "Token of" not in screen.raw.decode()


def test_a_secret_for_standard_input_is_not_typed_on_the_screen(home: Path) -> None:
    for words, what in ((TOKEN, "token"), ((*OAUTH2, "--client-secret-stdin"), "client secret")):
        with at_terminal(*HELM, "add", "s", *words, env=FILE, size=(160, 24)) as screen:
            assert screen.status() == 2
            assert f"helm: the {what} would stand on the screen as you type it; pipe it in, or" in screen.raw.decode()
    assert nothing_is_there(home)


def test_at_a_terminal_a_pipe_still_brings_the_secret(home: Path) -> None:
    with at_terminal(*HELM, "add", "s", *TOKEN, stdin=SECRET.encode(), env=FILE) as screen:
        assert screen.status() == 0
    assert kept(home) == {"service/s/token": SECRET}


def test_an_edit_takes_back_what_an_option_gave(helm: Helm, home: Path) -> None:
    urls = ("--authorize-url", f"{BASE}/a", "--token-url", f"{BASE}/t")
    assert add(helm, "cal", *OAUTH2, *urls, "--redirect-port", "9001").status == 0
    plain = f'base_url = "{BASE}"\nclient_id = "my-client"\n'
    whole = profile(home, "cal")
    assert edit(helm, "cal", "--no-redirect-port").status == 0
    assert profile(home, "cal") == whole.replace("redirect_port = 9001\n", "")
    assert edit(helm, "cal", "--no-sign-in-urls").status == 0
    assert profile(home, "cal") == plain
    assert edit(helm, "cal", *urls, "--redirect-port", "9001").status == 0
    assert edit(helm, "cal", "--no-sign-in-urls", "--no-redirect-port").status == 0
    assert profile(home, "cal") == plain


def test_an_edit_asks_for_a_new_secret_and_for_that_of_a_new_target(helm: Helm, home: Path) -> None:
    add(helm, "s", *TOKEN, stdin="old")
    add(helm, "cal", *OAUTH2, "--client-secret-stdin", stdin="old")
    for words, question in (
        (("s", "--ask-token"), "Token of s (empty takes it away)"),
        (("s", "--base-url", f"{BASE}/v2"), "Token of s (for its new target; empty to enter it later)"),
        (("cal", "--ask-client-secret"), "Client secret of cal (empty takes it away, for a public client)"),
        (("cal", "--client-id", "c"), "Client secret of cal (for its new target; empty to enter it later)"),
    ):
        with at_terminal(*HELM, "edit", *words, env=FILE, size=(120, 24)) as screen:
            typed(screen, question, f"{SECRET}{words[1]}")
        assert f"{SECRET}{words[1]}" in kept(home).values()
    with at_terminal(*HELM, "edit", "s", "--base-url", BASE, env=FILE, size=(120, 24)) as screen:
        typed(screen, "Token of s (for its new target", "")
        told = (
            "the target of s changed; before you use it, enter its secret again with: helm service edit s --ask-token"
        )
        assert told in screen.raw.decode().replace("\r\n", "")
    assert kept(home)["service/s/token"] == f"{SECRET}--base-url"
    for words, question in (("s", "token"), "Token of s"), (("cal", "client-secret"), "Client secret of cal"):
        with at_terminal(*HELM, "edit", words[0], f"--ask-{words[1]}", env=FILE) as screen:
            typed(screen, question, "")
            gone = f"changed the service profile {words[0]}; it has no {words[1].replace('-', ' ')} any more"
            assert gone in screen.raw.decode()
    assert kept(home) == {}


def typed(screen: Terminal, question: str, secret: str) -> None:
    """Answers the last question, unseen, and waits for a good end."""
    screen.wait_for(question)
    screen.send(secret.encode(), ENTER)
    assert screen.status() == 0
    assert not secret or secret.encode() not in screen.raw
