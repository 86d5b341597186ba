"""`helm oauth` as people use it: with a real provider, a browser that is a robot, pipes, and a terminal."""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest

from tests.program import Finished, Helm, run
from tests.rig import oidc
from tests.rig.calendar import SERVICE, oauth2, write
from tests.rig.connecting import browse, connecting, free_port
from tests.rig.oidc import Provider
from tests.rig.terminal import CTRL_C, ENTER, at_terminal
from tests.rig.token_endpoint import Endpoint, endpoint

HERE: Final = Path(".")
WRONG: Final = (
    "helm: that is not the address at which this sign-in ended; paste the whole of it, as the browser shows it"
)


@pytest.fixture(autouse=True)
def in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with oidc.provider() as running:
        yield running


@pytest.fixture(scope="module")
def served() -> Iterator[Endpoint]:
    with endpoint() as running:
        yield running


def add(helm: Helm, provider: Provider) -> int:
    """The service's profile, as a person adds it; gives the port that a sign-in returns to."""
    port = free_port()
    client = ("--oauth2", "--client-id", provider.client_id, "--client-secret-stdin", "--redirect-port", str(port))
    added = helm("service", "add", SERVICE, "--base-url", provider.base_url, *client, stdin=provider.client_secret)
    assert added.status == 0, added
    assert f"http://127.0.0.1:{port}/oauth/callback" in added.err
    return port


def approve(helm: Helm, name: str, *signins: Any) -> None:
    write(HERE / name, *signins)
    digest = helm("plugin", "review", name, "-o", "json").json["digest"]
    assert helm("plugin", "review", name, "--approve", digest).status == 0


def ready(helm: Helm, provider: Provider, *scopes: str) -> int:
    port = add(helm, provider)
    approve(helm, "agenda", provider.oauth2(*(scopes or ("openid", "calendar.read"))))
    return port


def elsewhere(helm: Helm, served: Endpoint, path: str = "good") -> int:
    """A service whose provider is a page that no test needs, and whose token endpoint is the tests' own."""
    port = free_port()
    client = ("--oauth2", "--client-id", "me", "--client-secret-stdin", "--redirect-port", str(port))
    assert helm("service", "add", SERVICE, "--base-url", "https://api.example", *client, stdin="s3cret").status == 0
    approve(helm, "agenda", oauth2("a", "b", token=served.url(path)))
    return port


def state_of(address: str) -> str:
    return dict(parse_qsl(urlsplit(address).query))["state"]


def status(helm: Helm) -> Any:
    return helm("oauth", "status", SERVICE, "-o", "json").json


def secrets_of(home: Path) -> list[str]:
    held: dict[str, str] = json.loads((home / "credentials.json").read_text())
    return [secret.partition(" ")[2] for secret in held.values()]


@pytest.mark.contract("C53", "C54", "C55", "C57", "C58", "C60", "C62", "C65")
def test_the_whole_way(helm: Helm, home: Path, provider: Provider) -> None:
    port = ready(helm, provider, "openid", "calendar.read")
    approve(helm, "booker", provider.oauth2("offline_access", "calendar.write"))
    before = helm("call", "agenda", "events")
    assert (before.status, before.json["error"]["code"]) == (5, "not_authorized")
    with connecting(SERVICE) as running:
        address = running.address()
        proc = Path(f"/proc/{running.process.pid}")
        visible = (proc / "cmdline").read_bytes() + (proc / "environ").read_bytes()
        back = oidc.consent(address)
        page = browse(back)
        connected = running.ended()
    assert (page.status_code, "You are signed in" in page.text) == (200, True)
    assert connected == Finished(
        0,
        "service  calendar\n"
        "asked    calendar.read calendar.write offline_access openid\n"
        "granted  calendar.read calendar.write offline_access openid\n",
        "helm: go to this address to sign in:\n"
        f"{address}\n"
        f"helm: waiting 300 s for the answer at http://127.0.0.1:{port}/oauth/callback; if the browser cannot get"
        " there, paste the address it ended at here, and press Enter\n"
        "helm: signed in to calendar, its tokens in the file\n",
    )
    called = helm("call", "agenda", "events")
    assert called.json["data"] == {
        "account": "ada",
        "scope": "openid calendar.read calendar.write",
        "path": "/api/events",
    }
    told = status(helm)
    assert {name: told[name] for name in told if name not in ("signed_in_at", "expires")} == {
        "service": "calendar",
        "state": "signed in",
        "reason": None,
        "scopes": ["calendar.read", "calendar.write", "offline_access", "openid"],
        "missing": {},
        "renewed": True,
        "tokens": "file",
    }
    listed, shown = helm("oauth", "status"), helm("oauth", "status", SERVICE)
    assert (listed.status, shown.status) == (0, 0)
    gone = helm("oauth", "disconnect", SERVICE)
    assert gone == Finished(0, "", "helm: disconnected calendar\n")
    again = helm("oauth", "disconnect", SERVICE)
    assert again == Finished(0, "", "helm: calendar is not connected, so nothing was changed\n")
    assert helm("call", "agenda", "events").status == 5
    code = dict(parse_qsl(urlsplit(back).query))["code"]
    assert provider.seen()[-1]["grant"] == "authorization_code"
    secrets = [provider.client_secret, code]
    for finished in (connected, called, listed, shown, gone):
        assert not [secret for secret in secrets if secret in finished.out + finished.err]
    assert not [secret for secret in secrets if secret.encode() in visible]


@pytest.mark.contract("C60")
def test_no_token_is_anywhere_but_in_the_store(helm: Helm, home: Path, provider: Provider) -> None:
    ready(helm, provider, "openid", "offline_access", "calendar.read")
    with connecting(SERVICE) as running:
        browse(oidc.consent(running.address()))
        connected = running.ended()
    secrets = secrets_of(home)
    assert len(secrets) == 3
    outputs = [
        connected,
        helm("oauth", "status"),
        helm("oauth", "status", "-o", "json"),
        helm("call", "agenda", "events"),
    ]
    outputs += [helm("service", "show", SERVICE), helm("history", "-o", "json")]
    assert not [secret for secret in secrets for output in outputs if secret in output.out + output.err]
    for folder in (home, HERE):
        for path in folder.rglob("*"):
            if path.is_file() and path.name != "credentials.json":
                assert not [secret for secret in secrets if secret.encode() in path.read_bytes()], path


def test_a_person_who_says_no_is_told_so(helm: Helm, provider: Provider) -> None:
    ready(helm, provider)
    with connecting(SERVICE) as running:
        page = browse(oidc.deny(running.address()))
        denied = running.ended()
    assert "You were not signed in" in page.text
    assert (denied.status, denied.out) == (5, "")
    assert denied.err.splitlines()[-1] == (
        "helm: calendar did not sign you in (access_denied: End-User aborted interaction); the former sign-in, if any,"
        " stays"
    )
    assert status(helm)["state"] == "not connected"


@pytest.mark.contract("C56")
def test_a_state_that_was_changed_on_the_way_redeems_nothing(helm: Helm, provider: Provider) -> None:
    ready(helm, provider)
    before = len(provider.seen())
    with connecting(SERVICE) as running:
        address = running.address()
        back = oidc.consent(address)
        page = browse(back.replace(state_of(address), "another-state"))
        os.kill(running.process.pid, signal.SIGINT)
        ended = running.ended()
    assert (page.status_code, ended.status) == (400, 130)
    assert (len(provider.seen()), status(helm)["state"]) == (before, "not connected")


def test_a_redirect_uri_that_is_not_registered_ends_at_the_time_limit(helm: Helm) -> None:
    with oidc.provider(redirects=("http://127.0.0.1/elsewhere",)) as other:
        port = ready(helm, other)
        with connecting(SERVICE, "--timeout", "1") as running:
            assert browse(running.address()).status_code == 400
            ended = running.ended()
    assert (ended.status, ended.err.splitlines()[-1]) == (
        9,
        "helm: nobody finished the sign-in to calendar within 1 s, so nothing was kept; if the browser showed an error,"
        " see that the redirect URI is registered there",
    )
    with socket.create_server(("127.0.0.1", port)):
        return


def test_of_two_at_once_the_second_is_told_that_the_port_is_in_use(helm: Helm, provider: Provider) -> None:
    port = ready(helm, provider)
    with connecting(SERVICE) as running:
        address = running.address()
        second = helm("oauth", "connect", SERVICE)
        assert second == Finished(
            10,
            "",
            f"helm: the port {port}, to which a sign-in returns, is in use; end the program that has it, or take"
            " another port (redirect_port of the profile, else [oauth] port of config.toml) and register its redirect"
            " URI\n",
        )
        browse(oidc.consent(address))
        assert running.ended().status == 0


def test_the_port_of_config_toml_holds_where_the_profile_has_none(helm: Helm, home: Path, served: Endpoint) -> None:
    port = free_port()
    client = ("--oauth2", "--client-id", "me", "--client-secret-stdin")
    assert helm("service", "add", SERVICE, "--base-url", "https://api.example", *client, stdin="").status == 0
    (home / "config.toml").write_text(f"[oauth]\nport = {port}\n")
    approve(helm, "agenda", oauth2("a", "b", token=served.url("good")))
    with connecting(SERVICE) as running:
        assert f"redirect_uri={quote(f'http://127.0.0.1:{port}/oauth/callback', safe='')}" in running.address()
        assert browse(f"http://127.0.0.1:{port}/oauth/callback?code=c&state={state_of(running.address())}").is_success
        assert running.ended().status == 0


def test_the_address_of_the_redirect_can_be_piped_in(helm: Helm, provider: Provider) -> None:
    port = ready(helm, provider)
    with connecting(SERVICE, "--no-browser") as running:
        back = oidc.consent(running.address())
        running.paste("", f"http://127.0.0.1:{port}/oauth/callback?code=c&state=another", "nonsense")
        running.wait_for(f"{WRONG}\n{WRONG}\n")
        running.paste(back)
        assert running.ended().status == 0
    assert status(helm)["state"] == "signed in"


def test_the_end_of_the_pipe_ends_nothing(helm: Helm, provider: Provider) -> None:
    ready(helm, provider)
    with connecting(SERVICE) as running:
        running.paste(end=True)
        browse(oidc.consent(running.address()))
        assert running.ended().status == 0


def test_a_refusal_cannot_act_on_the_terminal(helm: Helm, served: Endpoint) -> None:
    port = elsewhere(helm, served)
    with connecting(SERVICE) as running:
        said = {"state": state_of(running.address()), "error": "access_denied", "error_description": "no\x1b[2J\u202e"}
        browse(f"http://127.0.0.1:{port}/oauth/callback?{urlencode(said)}")
        assert "(access_denied: no\\u{1b}[2J\\u{202e})" in running.ended().err


@pytest.mark.contract("C59")
def test_a_grant_of_more_than_was_asked_is_not_kept(helm: Helm, home: Path, served: Endpoint) -> None:
    port = elsewhere(helm, served, "scope-more")
    held = (home / "credentials.json").read_bytes()
    with connecting(SERVICE) as running:
        browse(f"http://127.0.0.1:{port}/oauth/callback?code=c&state={state_of(running.address())}")
        ended = running.ended()
    assert (ended.status, ended.out, "(admin)" in ended.err) == (3, "", True)
    assert (home / "credentials.json").read_bytes() == held
    assert status(helm)["state"] == "not connected"


@pytest.mark.contract("C67")
def test_a_grant_of_less_is_kept_and_said(helm: Helm, served: Endpoint) -> None:
    port = elsewhere(helm, served, "scope-fewer")
    with connecting(SERVICE) as running:
        browse(f"http://127.0.0.1:{port}/oauth/callback?code=c&state={state_of(running.address())}")
        ended = running.ended()
    assert ended.out == "service  calendar\nasked    a b\ngranted  a\nmissing  b\n"
    assert "helm: calendar granted less than was asked for: calls that need the rest are refused\n" in ended.err
    assert status(helm)["missing"] == {"agenda": ["b"]}
    assert helm("call", "agenda", "events").status == 3


def test_ctrl_c_ends_it_and_keeps_nothing(helm: Helm, provider: Provider) -> None:
    port = ready(helm, provider)
    with connecting(SERVICE) as running:
        running.address()
        os.kill(running.process.pid, signal.SIGINT)
        ended = running.ended()
    assert (ended.status, ended.out, "Traceback" in ended.err) == (130, "", False)
    assert status(helm)["state"] == "not connected"
    with socket.create_server(("127.0.0.1", port)):
        return


def test_an_address_of_any_length_can_be_pasted_at_a_terminal_unseen(helm: Helm, served: Endpoint) -> None:
    port = elsewhere(helm, served)
    served.forms.clear()
    with at_terminal(sys.executable, "-m", "helm_cli", "oauth", "connect", SERVICE, size=(200, 24)) as terminal:
        terminal.wait_for("press Enter")
        address = next(line for line in terminal.raw.decode().splitlines() if line.startswith("http"))
        terminal.send(b"what is this", ENTER)
        terminal.wait_for("that is not the address")
        code = "c" * 9_000
        back = f"http://127.0.0.1:{port}/oauth/callback?code={code}&state={state_of(address)}".encode()
        for at in range(0, len(back), 1_000):
            terminal.send(back[at : at + 1_000])
        terminal.send(ENTER)
        assert terminal.status() == 0
        assert terminal.attributes() == terminal.before
        assert b"what is this" not in terminal.raw and b"ccc" not in terminal.raw
    assert [form["code"] for form in served.forms] == [code]


@pytest.mark.parametrize("end", [CTRL_C, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_the_terminal_is_given_back_however_it_ends(helm: Helm, provider: Provider, end: bytes | int) -> None:
    port = ready(helm, provider)
    with at_terminal(sys.executable, "-m", "helm_cli", "oauth", "connect", SERVICE, size=(200, 24)) as terminal:
        terminal.wait_for("press Enter")
        assert terminal.attributes() != terminal.before
        terminal.send(b"half of a pasted addr")
        if isinstance(end, bytes):
            terminal.send(end)
        else:
            os.kill(terminal.process.pid, end)
        assert terminal.status() == (130 if isinstance(end, bytes) else 128 + end)
        assert terminal.attributes() == terminal.before
    assert status(helm)["state"] == "not connected"
    with socket.create_server(("127.0.0.1", port)):
        return


BROWSER: Final = """#!/bin/sh
{
  printf '%s\\n' "$@"
  readlink /proc/self/fd/0
  if (: < /dev/tty); then echo terminal; else echo none; fi
} > "$OUT.new" 2> /dev/null
mv "$OUT.new" "$OUT"
"""


def browser_in(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(BROWSER)
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("how", ["BROWSER", "BROWSER with %s", "DISPLAY", "WAYLAND_DISPLAY"])
def test_a_browser_is_opened_without_the_terminal(helm: Helm, provider: Provider, tmp_path: Path, how: str) -> None:
    ready(helm, provider)
    program, out = browser_in(tmp_path / "bin", "xdg-open"), tmp_path / "out"
    env: dict[str, str | None] = {"OUT": str(out)}
    if how.startswith("BROWSER"):
        env["BROWSER"] = f"no-such-browser:{program} --new %s" if "%s" in how else str(program)
    else:
        env |= {how: ":7", "PATH": f"{program.parent}:{os.environ['PATH']}"}
    command = (sys.executable, "-m", "helm_cli", "oauth", "connect", SERVICE)
    with at_terminal(*command, env=env, size=(200, 24)) as terminal:
        terminal.wait_for("your browser was started at this address to sign in")
        terminal.wait_for("press Enter")
        address = next(line for line in terminal.raw.decode().splitlines() if line.startswith("http"))
        browse(oidc.consent(address))
        assert terminal.status() == 0
    ends = time.monotonic() + 20
    while not out.exists() and time.monotonic() < ends:
        time.sleep(0.01)
    words = ["--new"] if "%s" in how else []
    assert out.read_text().splitlines() == [*words, address, "/dev/null", "none"]


def test_a_browser_that_cannot_be_started_is_not_said_to_be(helm: Helm, served: Endpoint, tmp_path: Path) -> None:
    elsewhere(helm, served)
    program = browser_in(tmp_path / "bin", "garbage")
    program.write_bytes(b"\x7fnothing that runs")
    with connecting(SERVICE, env={"BROWSER": f"'unclosed:{program}"}) as running:
        assert running.wait_for("helm: waiting ").startswith("helm: go to this address to sign in:\n")


def test_where_nothing_can_be_pasted_nothing_is_said_of_it(helm: Helm, served: Endpoint) -> None:
    port = elsewhere(helm, served)
    waits = f"helm: waiting 1 s for the answer at http://127.0.0.1:{port}/oauth/callback"
    command = f'exec "{sys.executable}" -m helm_cli oauth connect {SERVICE} --timeout 1 <&-'
    closed = run(["sh", "-c", command])
    assert (closed.status, closed.err.splitlines()[2]) == (9, waits)
    words = ("-m", "helm_cli", "oauth", "connect", SERVICE, "--timeout", "1")
    with at_terminal(sys.executable, *words, env={"HELM_CLI_NO_INPUT": "1"}, size=(200, 24)) as terminal:
        terminal.wait_for(waits)
        assert terminal.attributes() == terminal.before
        assert terminal.status() == 9
        assert waits in terminal.raw.decode().splitlines()


@pytest.mark.parametrize("options", [(), ("--no-browser",)])
def test_no_browser_is_opened_where_there_is_none_or_it_is_not_wanted(
    helm: Helm, provider: Provider, tmp_path: Path, options: tuple[str, ...]
) -> None:
    ready(helm, provider)
    program, out = browser_in(tmp_path / "bin", "xdg-open"), tmp_path / "out"
    env = {"OUT": str(out), "PATH": f"{program.parent}:{os.environ['PATH']}"}
    if options:
        env |= {"BROWSER": str(program), "DISPLAY": ":7"}
    with connecting(SERVICE, *options, env=env) as running:
        told = running.wait_for("helm: waiting ")
        browse(oidc.consent(running.address()))
        assert running.ended().status == 0
    assert (told.startswith("helm: go to this address to sign in:\n"), out.exists()) == (True, False)


def test_the_status_of_all_services(helm: Helm, home: Path, served: Endpoint) -> None:
    assert helm("oauth", "status") == Finished(0, "", "")
    assert helm("oauth", "status", "-o", "json").json == []
    elsewhere(helm, served)
    helm("service", "add", "plain", "--base-url", "https://api.example", "--no-token")
    (home / "profiles" / "service" / "broken.toml").write_text("base_url = 7\n")
    listed = helm("oauth", "status")
    assert (listed.status, listed.out) == (0, "calendar\tnot connected\t\t\tagenda: a b\t\n")
    assert "broken" in listed.err
    assert helm("oauth", "status", SERVICE) == Finished(
        5, "service  calendar\nstate    not connected\nmissing  agenda: a b\n", ""
    )


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("connect", "nothing"), 4, "there is no service profile nothing; add it with: helm service add nothing"),
        (("status", "nothing"), 4, "there is no service profile nothing; add it with: helm service add nothing"),
        (("disconnect", "plain"), 3, "plain is called with a token or without one, so there is nothing to sign in to"),
        (("status", "-o", "csv"), 2, "-o takes auto or json"),
        *(
            (("connect", "plain", "--timeout", seconds), 2, "--timeout takes 1 to 3600 seconds")
            for seconds in ("nan", "inf", "-inf", "0", "-1", "3601")
        ),
    ],
)
def test_what_cannot_be_is_told(helm: Helm, words: tuple[str, ...], status: int, told: str) -> None:
    helm("service", "add", "plain", "--base-url", "https://api.example", "--no-token")
    assert helm("oauth", *words) == Finished(status, "", f"helm: {told}\n")


def test_an_extension_must_declare_the_sign_in_first(helm: Helm, provider: Provider) -> None:
    add(helm, provider)
    refused = helm("oauth", "connect", SERVICE)
    assert (refused.status, "declares an oauth2 sign-in to calendar; review and approve" in refused.err) == (3, True)
