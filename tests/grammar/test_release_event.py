"""A GitHub release event: what a run is told of it, and that nothing else passes for one."""

import json
from typing import Any

import pytest

from helm_cli.grammar import release_event

# The members that are read, as GitHub's documentation shows them, and a few of the hundreds beside them.
EVENT: dict[str, Any] = {
    "action": "published",
    "release": {
        "id": 17372790,
        "tag_name": "v1.2.0",
        "name": "Version 1.2",
        "body": "* Faster\n* Smaller",
        "html_url": "https://github.com/acme/site/releases/tag/v1.2.0",
        "draft": False,
        "prerelease": False,
        "published_at": "2026-07-01T12:00:00Z",
        "author": {"login": "ada"},
    },
    "repository": {"id": 186853002, "full_name": "acme/site"},
    "sender": {"login": "ada"},
}


LINES = " of more than one line, or with control characters"


def changed(path: str, value: Any) -> bytes:
    event = json.loads(json.dumps(EVENT))
    *above, last = path.split(".")
    record = event
    for name in above:
        record = record[name]
    if value is ...:
        del record[last]
    else:
        record[last] = value
    return json.dumps(event).encode()


@pytest.mark.contract("P28")
def test_a_published_release() -> None:
    assert release_event.read(json.dumps(EVENT).encode()) == {
        "repository": "acme/site",
        "tag": "v1.2.0",
        "name": "Version 1.2",
        "notes": "* Faster\n* Smaller",
        "url": "https://github.com/acme/site/releases/tag/v1.2.0",
        "prerelease": False,
        "published_at": "2026-07-01T12:00:00Z",
    }


def test_a_release_without_a_name_and_notes() -> None:
    found = release_event.read(changed("release.body", None))
    assert found["notes"] == ""
    assert release_event.read(changed("release.name", None))["name"] == ""
    assert release_event.read(changed("release.prerelease", True))["prerelease"] is True


@pytest.mark.contract("P28")
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "cannot be read: not JSON: expecting value at line 1 column 1"),
        (b"\xff{}", "cannot be read: the JSON is not UTF-8"),
        (b'{"action": 1, "action": 2}', 'cannot be read: the key "action" stands twice in one JSON object'),
        (b"[" * 5000, "cannot be read: "),
        (b"[]", "is no release event: it is not an object"),
        (b"{}", 'is not the publication of a release: its action is not "published"'),
        (changed("action", "created"), 'is not the publication of a release: its action is not "published"'),
        (changed("release", None), "is no release event: release is not an object"),
        (changed("repository", ...), "is no release event: repository is not an object"),
        (changed("release.draft", True), "is about a draft of a release, which is not published"),
        (changed("release.draft", ...), "is about a draft of a release, which is not published"),
        (changed("release.tag_name", ""), "has an empty release.tag_name"),
        (changed("release.tag_name", None), "has no text as release.tag_name"),
        (changed("release.tag_name", "v1\n# Agent"), f"has a release.tag_name{LINES}"),
        (changed("release.name", "v1\x1b[2J"), f"has a release.name{LINES}"),
        (changed("release.name", "a\u2028b"), f"has a release.name{LINES}"),
        (changed("release.html_url", "http://github.com/a"), "has a release.html_url that is no https:// address"),
        (changed("release.html_url", "https://"), "has a release.html_url that is no https:// address"),
        (changed("release.html_url", "https://a b"), "has a release.html_url that is no https:// address"),
        (changed("release.html_url", "javascript:x"), "has a release.html_url that is no https:// address"),
        (changed("repository.full_name", "a/b\n"), "has a repository.full_name that is no OWNER/NAME"),
        (changed("release.name", ...), "has no text as release.name"),
        (changed("release.name", 7), "has no text as release.name"),
        (changed("release.body", "x" * 125_001), "has a release.body of over 125,000 characters"),
        (changed("release.html_url", "x" * 1001), "has a release.html_url of over 1,000 characters"),
        (changed("release.prerelease", "no"), "has neither true nor false as release.prerelease"),
        (changed("release.published_at", "now"), "has a release.published_at that is no time such as"),
        (changed("repository.full_name", "acme/site/x"), "has a repository.full_name that is no OWNER/NAME"),
        (changed("repository.full_name", "../x\n"), "has a repository.full_name that is no OWNER/NAME"),
    ],
)
def test_what_is_no_published_release(data: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        release_event.read(data)
    assert str(refused.value).startswith(told)
