"""The desktop is told of what waits, in one line, unless the person does not want that."""

import os
import select
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.broker import attention
from helm_cli.broker.stores import Stores


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The end of a pipe that this desktop's notify-send writes its words to."""
    (tmp_path / "bin").mkdir()
    program, pipe = tmp_path / "bin" / "notify-send", tmp_path / "told"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > {pipe}\n')
    program.chmod(0o755)
    os.mkfifo(pipe)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    monkeypatch.setenv("DISPLAY", ":99")
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    yield end
    os.close(end)


def test_it_is_told_what_waits_and_nothing_where_it_is_to_be_silent(tmp_path: Path, told: int) -> None:
    (tmp_path / "silent").mkdir(mode=0o700)
    (tmp_path / "silent" / "config.toml").write_text("[confirm]\nnotify = false\n")
    with closing(Stores(tmp_path / "silent")) as silent, closing(Stores(tmp_path / "home")) as stores:
        attention.call(silent, "aaaaaaaa", "app drop of tickets")
        attention.call(stores, "bbbbbbbb", "app\n\x1bclose of tickets")
    assert select.select([told], [], [], 20)[0] == [told]
    assert os.read(told, 4096) == b"--app-name=helm|--|helm|app??close of tickets waits: helm confirm bbbbbbbb|"
