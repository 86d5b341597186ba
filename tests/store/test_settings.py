"""What was filled in for a plugin: replaced, taken away, and never guessed at where it cannot be read."""

import sqlite3
from typing import Final

import pytest

from helm_cli.model.errors import HelmError
from helm_cli.store import settings
from helm_cli.store.settings import Filled

HERE: Final = ("/w", "a/b")


def test_each_setting_is_what_it_was_filled_in_with_last(db: sqlite3.Connection) -> None:
    for key, filled in (
        ("tone", Filled("string", "dry")),
        ("tone", Filled("string", "wärm\n")),
        ("key", Filled("secret", "", "keychain")),
        ("drive", Filled("connection", "drive")),
    ):
        settings.put(db, *HERE, key, filled)
    settings.put(db, "/v", "a/b", "tone", Filled("string", "other"))
    found = settings.listed(db, *HERE)
    assert found == {
        "drive": Filled("connection", "drive"),
        "key": Filled("secret", "", "keychain"),
        "tone": Filled("string", "wärm\n"),
    }
    settings.remove(db, *HERE, "key")
    assert [*settings.listed(db, *HERE)] == ["drive", "tone"]
    assert settings.listed(db, "/v", "a/b") == {"tone": Filled("string", "other")}


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"type": "string"}', '{"type": "string", "value": "", "x": 1}'])
def test_one_that_cannot_be_read_is_told(db: sqlite3.Connection, text: str) -> None:
    db.execute("INSERT INTO settings (workspace, extension, key, value) VALUES (?, ?, ?, ?)", (*HERE, "tone", text))
    with pytest.raises(HelmError) as refused:
        settings.listed(db, *HERE)
    told = "a setting in state.db cannot be read; set it again"
    assert (refused.value.code, refused.value.message) == ("state", told)
