"""The settings: as usual where there is no file, and every fault in it told."""

from pathlib import Path

import pytest

from helm_cli.model.errors import HelmError
from helm_cli.store import config
from helm_cli.store.config import Config


def written(home: Path, text: str) -> Path:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text)
    return home / "config.toml"


def test_no_file_is_as_usual(home: Path) -> None:
    assert config.load(home) == Config(60, 8914, keep_arguments=False, notify=True, drafts_dir=None)
    assert not home.exists()


def test_everything_can_be_set(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/h")
    written(
        home,
        'drafts_dir = "~/drafts"\n[limits]\ncalls_per_minute = 7\n[oauth]\nport = 9000\n'
        "[agent]\n[confirm]\nnotify = false\n[history]\nkeep_arguments = true\n",
    )
    assert config.load(home) == Config(7, 9000, keep_arguments=True, notify=False, drafts_dir="/h/drafts")
    written(home, "drafts_dir = '/srv/drafts'")
    assert config.load(home) == Config(drafts_dir="/srv/drafts")
    written(home, "# nothing\n")
    assert config.load(home) == Config()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[limit]", "the key limit is unknown (did you mean limits?)"),
        ("[limits]\ncalls_per_minut = 1", "the key limits.calls_per_minut is unknown (did you mean limits.calls_per_m"),
        ("[agent]\nidle = 1", "the key agent.idle is unknown (did you mean agent.idle_minutes?)"),
        ('"" = 1', "the key  is unknown (known are limits, oauth, confirm, history, agent, drafts_dir)"),
        ("limits = 1", "limits must be a section, written [limits]"),
        ("[limits]\ncalls_per_minute = 0", "the value of limits.calls_per_minute must be a whole number from 1 to"),
        ("[limits]\ncalls_per_minute = true", "the value of limits.calls_per_minute must be a whole number from 1 to"),
        ("[limits]\ncalls_per_minute = 1e2", "the value of limits.calls_per_minute must be a whole number from 1 to"),
        ("[oauth]\nport = 65536", "the value of oauth.port must be a whole number from 1 to 65535"),
        ("[history]\nkeep_arguments = 1", "the value of history.keep_arguments must be true or false"),
        ('drafts_dir = "drafts"', "the value of drafts_dir must be the absolute path of a folder, or one that begins"),
        ("drafts_dir = 1", "the value of drafts_dir must be the absolute path of a folder, or one that begins with ~/"),
        ("[", "it is no valid TOML: "),
    ],
)
def test_a_fault_names_the_file_and_what_is_allowed(home: Path, text: str, fault: str) -> None:
    path = written(home, text)
    with pytest.raises(HelmError) as caught:
        config.load(home)
    assert caught.value.code == "state"
    assert caught.value.message.startswith(f"{path} cannot be used: {fault}")
