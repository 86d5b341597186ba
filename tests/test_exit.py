"""The table of exit statuses: design, section 5, word for word."""

import pytest

from helm_cli.model.envelope import Envelope, exit_status, failure, success
from helm_cli.model.errors import EXIT, INTERRUPTED, HelmError

STATUSES = {
    1: {"internal", "state"},
    2: {"usage"},
    3: {"refused"},
    4: {"not_configured"},
    5: {"not_authorized"},
    6: {"declined"},
    7: {"confirmation_required"},
    8: {"rate_limited"},
    9: {"timeout"},
    10: {"unavailable"},
    11: {"too_large", "too_many_rows", "not_json", "not_text", "redirect"},
    12: {"http_error"},
    13: {"tool_error"},
    14: {"query_failed"},
    15: {"conflict"},
    16: {"invalid_manifest"},
    17: {"not_approved"},
}


def test_the_table_is_the_designs() -> None:
    assert {code: status for status, codes in STATUSES.items() for code in codes} == EXIT
    assert INTERRUPTED == 130


@pytest.mark.parametrize("code", EXIT)
def test_a_code_ends_with_its_status_as_error_and_as_envelope(code: str) -> None:
    error = HelmError(code, "it did not go as asked")
    assert error.exit_status == EXIT[code]
    assert exit_status(failure(error)) == EXIT[code]


def test_success_is_nought() -> None:
    assert exit_status(success({"columns": [], "rows": []})) == 0


@pytest.mark.parametrize("envelope", [{"ok": False, "error": {"code": "of_a_peer"}}, {"ok": False, "error": None}, {}])
def test_an_envelope_passed_on_that_is_not_ok_is_a_tools_error(envelope: Envelope) -> None:
    assert exit_status(envelope) == EXIT["tool_error"]
