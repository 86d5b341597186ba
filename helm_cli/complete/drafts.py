"""The drafts that wait in the folder of a team, by what their files say of them."""

import json
import os
import stat
from collections.abc import Iterator
from typing import Final, NamedTuple

# What a draft says itself to the tool that publishes it (`broker/publishing.py`).
OWN: Final = ("title", "body", "kind")

_SUFFIX: Final = ".draft.json"
_ID: Final = frozenset("abcdefghijklmnopqrstuvwxyz234567")
_ID_CHARACTERS: Final = 8
# A longer text takes too long to read for one line about it, and more drafts nobody chooses from.
_MOST_BYTES: Final = 256 * 1024
_MOST: Final = 200


class Draft(NamedTuple):
    """A draft's id, the plugin it comes from and its title; both "" where its file does not say."""

    id: str
    plugin: str
    title: str


def every(home: str) -> Iterator[Draft]:
    """The drafts in the folder, by id. Raises OSError and ValueError."""
    folder = _folder(home)
    ids = [name.removesuffix(_SUFFIX) for name in os.listdir(folder) if name.endswith(_SUFFIX)]
    for id_ in sorted(filter(_is_id, ids))[:_MOST]:
        yield _draft(folder, id_)


def find(home: str, id_: str) -> Draft | None:
    """The draft of this id. Raises OSError and ValueError."""
    return _draft(_folder(home), id_) if _is_id(id_) else None


def _folder(home: str) -> str:
    own = os.path.join(home, "drafts")
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return own
    if b"drafts_dir" not in data:
        return own
    import tomllib

    return os.path.expanduser(str(tomllib.loads(data.decode("utf-8-sig")).get("drafts_dir", own)))


def _is_id(text: str) -> bool:
    return len(text) == _ID_CHARACTERS and _ID.issuperset(text)


def _draft(folder: str, id_: str) -> Draft:
    try:
        record = json.loads(_read(os.path.join(folder, id_ + _SUFFIX)))
        return Draft(id_, str(record["plugin"]), str(record["title"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Draft(id_, "", "")


def _read(path: str) -> bytes:
    # Anybody of the team may put anything there: a link, a FIFO.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
            raise ValueError
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)
