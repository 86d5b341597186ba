"""What of a GitHub release event a run is told: the release that was published, its notes and its repository."""

import re
from typing import Any, Final

from helm_cli.model import jsontext
from helm_cli.model.jsontext import Json
from helm_cli.model.wording import one_line

MOST_BYTES: Final = 2 * 1024 * 1024
# GitHub takes release notes of 125,000 characters.
_MOST_CHARACTERS: Final = 125_000
_MOST_SHORT: Final = 1_000
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_URL: Final = re.compile(r"https://[!-~]+")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


def read(data: bytes) -> dict[str, Json]:
    """`repository`, `tag`, `name`, `notes`, `url`, `prerelease`, `published_at` of the payload of a `release` webhook.

    That is what GitHub sends, and what a workflow finds in the file of GITHUB_EVENT_PATH. Raises ValueError, a clause
    that follows "the event", for anything but the publication of a release.
    """
    try:
        value = jsontext.parse(data)
    except ValueError as error:
        raise ValueError(f"cannot be read: {error}") from None
    event = _object(value, "it")
    if event.get("action") != "published":
        raise ValueError('is not the publication of a release: its action is not "published"')
    release, repository = _object(event.get("release"), "release"), _object(event.get("repository"), "repository")
    if release.get("draft") is not False:
        raise ValueError("is about a draft of a release, which is not published")
    name = _text(repository, "full_name", "repository.full_name", _MOST_SHORT)
    if not _REPOSITORY.fullmatch(name):
        raise ValueError("has a repository.full_name that is no OWNER/NAME")
    published = _text(release, "published_at", "release.published_at", _MOST_SHORT)
    if not _TIME.fullmatch(published):
        raise ValueError("has a release.published_at that is no time such as 2026-07-01T12:00:00Z")
    tag = _line(release, "tag_name", "release.tag_name")
    if not tag:
        raise ValueError("has an empty release.tag_name")
    url = _line(release, "html_url", "release.html_url")
    if not _URL.fullmatch(url):
        raise ValueError("has a release.html_url that is no https:// address")
    return {
        "repository": name,
        "tag": tag,
        "name": _line(release, "name", "release.name", null=True),
        "notes": _text(release, "body", "release.body", _MOST_CHARACTERS, null=True),
        "url": url,
        "prerelease": _flag(release, "prerelease", "release.prerelease"),
        "published_at": published,
    }


def _object(value: Json, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"is no release event: {name} is not an object")
    return value


def _text(record: dict[str, Any], key: str, name: str, most: int, *, null: bool = False) -> str:
    """A text of at most so many characters; "" for null, where GitHub may send that."""
    value = record.get(key)
    if null and key in record and value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"has no text as {name}")
    if len(value) > most:
        raise ValueError(f"has a {name} of over {most:,} characters")
    return value


def _line(record: dict[str, Any], key: str, name: str, *, null: bool = False) -> str:
    """A short text of one line."""
    value = _text(record, key, name, _MOST_SHORT, null=null)
    if not one_line(value):
        raise ValueError(f"has a {name} of more than one line, or with control characters")
    return value


def _flag(record: dict[str, Any], key: str, name: str) -> bool:
    value = record.get(key)
    if not isinstance(value, bool):
        raise ValueError(f"has neither true nor false as {name}")
    return value
