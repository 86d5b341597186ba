"""Which names sound as if they changed something."""

import pytest

from helm_cli.broker import verbs


@pytest.mark.parametrize(
    ("name", "writes", "called"),
    [
        ("delete_issue", True, True),
        ("deleteIssue", True, True),
        ("DeleteIssue", True, True),
        ("get_or_create", False, True),
        ("list-issues", False, True),
        ("issue_delete", True, False),
        ("HTTPGet", False, False),
        ("issues", False, False),
        ("42", False, False),
        ("", False, False),
    ],
)
def test_the_first_verb_of_a_name_tells(name: str, writes: bool, called: bool) -> None:
    assert (verbs.writes(name), verbs.called(name)) == (writes, called)


def test_scopes_that_let_more_than_read() -> None:
    narrow = ["files.read", "openid", "allowance", "sender.read"]
    wide = ["files.write", "https://x.example/auth/drive.readwrite", "ADMIN", "repo:all", "mail-send"]
    assert verbs.wide([*narrow, *wide]) == wide
