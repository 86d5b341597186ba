"""`helm service test`: what answers at the base URL, asked once and with the token as the profile sends it."""

import pytest

from tests.program import Finished, Helm
from tests.rig.http_server import answering, serving

SECRET = "canary-e07b"
FILE = {"HELM_CLI_CREDENTIALS": "file"}


def add(helm: Helm, *words: str, token: str = SECRET) -> None:
    assert helm("service", "add", "s", *words, env=FILE, stdin=token).status == 0


def tried(helm: Helm) -> Finished:
    ended = helm("service", "test", "s", env=FILE)
    assert SECRET not in ended.out + ended.err
    return ended


@pytest.mark.contract("C17", "C18")
@pytest.mark.parametrize(
    ("words", "header", "value"),
    [
        ((), "Authorization", f"Bearer {SECRET}"),
        (("--format", "raw"), "Authorization", SECRET),
        (("--header", "X-Api-Key"), "X-Api-Key", SECRET),
        (("--header", "X-Api-Key", "--format", "bearer"), "X-Api-Key", f"Bearer {SECRET}"),
    ],
)
def test_the_token_arrives_as_the_profile_sends_it(helm: Helm, words: tuple[str, ...], header: str, value: str) -> None:
    with serving(answering()) as server:
        add(helm, "--base-url", f"{server.url}/api", "--token-stdin", *words)
        assert server.received == []
        ended = tried(helm)
    assert (ended.status, ended.out, ended.err) == (0, "s: the service answered 200 OK\n", "")
    (request,) = server.received
    assert (request.method, request.target, request.header(header)) == ("GET", "/api", [value])
    assert [name for name, found in request.headers if SECRET in found] == [header]


def test_what_answered_is_told_as_json_too(helm: Helm) -> None:
    with serving(answering()) as server:
        add(helm, "--base-url", server.url, "--token-stdin")
        ended = helm("service", "test", "s", "-o", "json", env=FILE)
        assert (ended.status, ended.err) == (0, "")
        assert ended.json == {"name": "s", "ok": True, "answer": "the service answered 200 OK", "error": None}
        server.script = answering(status="401 Unauthorized")
        ended = helm("service", "test", "s", "-o", "json", env=FILE)
    told = "the service answered 401 Unauthorized; check the sign-in or the token of s"
    assert (ended.status, ended.err) == (12, f"helm: {told}\n")
    assert ended.json == {
        "name": "s",
        "ok": False,
        "answer": None,
        "error": {"code": "http_error", "message": told},
    }
    ended = helm("service", "test", "nope", "-o", "json", env=FILE)
    assert (ended.status, ended.json["error"]["code"]) == (4, "not_configured")
    assert helm("service", "test", "s", "-o", "csv", env=FILE).status == 2


def test_a_service_without_a_token_is_sent_none(helm: Helm) -> None:
    with serving(answering()) as server:
        add(helm, "--base-url", server.url, "--no-token")
        assert tried(helm).status == 0
    (request,) = server.received
    assert request.header("Authorization") == []


@pytest.mark.parametrize(
    ("status", "ends_with", "code"),
    [("404 Not Found", 0, ""), ("401 Unauthorized", 12, "401"), ("503 Service Unavailable", 12, "503")],
)
def test_any_answer_is_one_but_one_that_no_call_would_do_better_with(
    helm: Helm, status: str, ends_with: int, code: str
) -> None:
    with serving(answering(status=status)) as server:
        add(helm, "--base-url", server.url, "--token-stdin")
        ended = tried(helm)
    assert (ended.status, ended.out) == (ends_with, "" if code else f"s: the service answered {status}\n")
    assert code in ended.err


def test_nobody_there_is_unavailable(helm: Helm) -> None:
    with serving(answering()) as server:
        add(helm, "--base-url", server.url, "--token-stdin")
    ended = tried(helm)
    assert (ended.status, ended.out) == (10, "")
    assert helm("service", "test", "nope").status == 4


def test_before_its_sign_in_a_service_is_not_contacted(helm: Helm) -> None:
    with serving(answering()) as server:
        add(helm, "--base-url", server.url, "--oauth2", "--client-id", "c", "--client-secret-stdin")
        ended = tried(helm)
    assert (ended.status, ended.out, ended.err) == (
        5,
        "",
        "helm: s is not connected; connect it with: helm oauth connect s\n",
    )
    assert server.received == []
