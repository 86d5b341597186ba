"""The shape of every answer, and the exit status that comes of it."""

import pytest

from helm_cli.model.envelope import Envelope, exit_status, failure, success
from helm_cli.model.errors import EXIT, HelmError


def test_an_answer_has_the_same_members_whatever_became_of_it() -> None:
    assert success([1]) == {"ok": True, "data": [1], "error": None}
    assert success({}, {"status": 204}) == {"ok": True, "status": 204, "data": {}, "error": None}
    assert failure(HelmError("rate_limited", "wait", {"retry_after": 3})) == {
        "ok": False,
        "data": None,
        "error": {"code": "rate_limited", "message": "wait", "retry_after": 3},
    }
    assert failure(HelmError("http_error", "no", outer={"status": 404, "data": {"why": 1}})) == {
        "ok": False,
        "data": {"why": 1},
        "status": 404,
        "error": {"code": "http_error", "message": "no"},
    }


def test_an_answer_is_always_text_that_can_be_written() -> None:
    assert success(["\ud800", float("nan")])["data"] == ["\ufffd", "NaN"]
    assert failure(HelmError("query_failed", "bad \udcff"))["error"] == {
        "code": "query_failed",
        "message": "bad \ufffd",
    }


@pytest.mark.parametrize("code", EXIT)
def test_each_code_ends_with_its_status(code: str) -> None:
    assert exit_status(failure(HelmError(code, "x"))) == EXIT[code] == HelmError(code, "x").exit_status


@pytest.mark.parametrize(
    ("envelope", "status"),
    [
        (success(None), 0),
        ({"api_version": "1", "ok": False, "error": {"code": "busy", "retry": "safe"}}, 13),
        ({"ok": False, "error": None}, 13),
        ({"ok": False, "error": {"code": 5}}, 13),
        ({}, 13),
    ],
)
def test_an_envelope_of_another_s_making_has_a_status_too(envelope: Envelope, status: int) -> None:
    assert exit_status(envelope) == status
