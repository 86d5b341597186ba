"""Lists as people see them on a terminal: short digests and times, whole headings, and a word where nothing is."""

import sys
import time
from pathlib import Path

import pytest

from helm_cli.cli.listing import short_digest, short_seconds, short_time
from tests.example import ready
from tests.program import Helm
from tests.rig.terminal import at_terminal

HELM = (sys.executable, "-m", "helm_cli")
NOON = 1_790_000_000.0 // 86400 * 86400 + 12 * 3600


def on_a_terminal(*words: str, columns: int = 60) -> list[str]:
    with at_terminal(*HELM, *words, size=(columns, 40)) as screen:
        assert screen.status() == 0
        return screen.screen()


def test_a_digest_is_shown_by_its_beginning() -> None:
    assert short_digest("sha256:" + "b6a392af" * 8, NOON) == "sha256:b6a392af…"
    assert short_digest("b6a392af" * 8, NOON) == "b6a392af…"
    assert short_digest("sha256:b6a392af", NOON) == "sha256:b6a392af"


def test_a_time_is_the_clocks_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC-2")
    time.tzset()
    today = time.strftime("%Y-%m-%d", time.gmtime(NOON))
    assert short_time(f"{today}T11:36:09+00:00", NOON) == "13:36:09"
    assert short_time(f"{today}T11:36:09+05:00", NOON) == "08:36:09"
    assert short_time("2020-02-29T23:30:00+00:00", NOON) == "2020-03-01"
    assert short_time("some time", NOON) == "some time"


@pytest.mark.parametrize(("seconds", "told"), [(299, "4 min"), (60, "1 min"), (59, "59 s"), (0, "0 s")])
def test_what_is_left(seconds: int, told: str) -> None:
    assert short_seconds(seconds, NOON) == told


def test_lists_of_a_terminal_and_of_a_pipe(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready(helm, tmp_path)
    monkeypatch.chdir(tmp_path)
    [approved] = helm("plugin", "list", "-o", "json").json
    id_ = helm("call", "app", "close", "--arg", "id=1").json["error"]["confirmation"]
    head, _, *rows = on_a_terminal("plugin", "list")
    assert head.split() == ["id", "state", "folder", "digest"]
    assert rows[0].split()[:2] == ["tickets", "enabled"] and rows[0].endswith(f"   {approved['digest'][:15]}…")
    assert "".join(row[20:44].strip() for row in rows) == approved["folder"]
    assert helm("plugin", "list").out == f"tickets\tenabled\t{approved['folder']}\t{approved['digest']}\n"
    history = on_a_terminal("history")
    assert history[0].split() == ["at", "extension", "connection", "operation", "outcome", "ms"]
    assert len(history[2].split()[0]) == len("13:36:09")
    waiting = on_a_terminal("confirm", "--list", columns=80)
    assert waiting[0].split() == ["id", "what", "workspace", "extension", "connection", "operation", "left"]
    assert waiting[2].split()[0] == id_ and waiting[2].endswith(("   4 min", "   5 min"))


def test_an_empty_list_says_so_to_people(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = "helm: no extension is approved here yet; see helm plugin review --help"
    assert on_a_terminal("plugin", "list", columns=100) == [told]
    for output in ("auto", "json"):
        done = helm("plugin", "list", "-o", output)
        assert (done.status, done.out, done.err) == (0, "[]\n" if output == "json" else "", "")
