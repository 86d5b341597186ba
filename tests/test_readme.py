"""README's commands, pasted: a tour that cannot be walked as written teaches nothing."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.program import ROOT, Finished, run
from tests.rig.terminal import ESC, at_terminal

README: Final = (ROOT / "README.md").read_text()
INSTALL: Final = "python3 -m venv"
ID: Final = re.compile(r"(?<=confirm )[a-z2-7]{8}\b|(?<=confirmation\":\")[a-z2-7]{8}\b")
DIGEST: Final = "5e6245e2249c261a317327b75700ae0f16776be3d91f650882aca44c6538cf27"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, with `helm` on the path as the tour's first line puts it there."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "helm").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m helm_cli "$@"\n')
    (programs / "helm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", README, re.S | re.M)


def pasted(text: str, folder: Path, **environment: str) -> Finished:
    return run(["sh", "-c", text], cwd=folder, env=environment)


def commands(console: str) -> list[tuple[str, str]]:
    """Each command of a console block with what it prints."""
    parts = (part.partition("\n") for part in console.split("$ ")[1:])
    return [(command, printed) for command, _, printed in parts]


def told(text: str, folder: Path) -> str:
    """What is printed, with what differs from run to run as README has it."""
    for pattern, usual in ((str(folder), "/home/me/app"), (r"SQLite 3[.0-9]+", "SQLite 3.40.1")):
        text = re.sub(pattern, usual, text)
    return ID.sub("k3v7q2ab", re.sub(r"sha256:[0-9a-f]{64}", f"sha256:{DIGEST}", text))


def test_the_tour_can_be_walked_as_written(shell: Path) -> None:
    tour = README[README.index("## A tour") : README.index("## Commands")]
    walked = re.findall(r"^```(sh|console|text)\n(.*?)^```", tour, re.S | re.M)
    assert [kind for kind, _ in walked] == ["sh", *["console"] * 4, "text", *["console"] * 2]
    for kind, block in walked:
        if kind == "sh":
            assert pasted(_here(block), shell).status == 0
        elif kind == "text":
            with at_terminal(
                "sh", "-c", f"cd {shell} && exec helm call app close --arg id=2", size=(160, 40)
            ) as terminal:
                terminal.wait_for("Any other key cancels")
                assert told("\n".join(terminal.screen()), shell).strip() == block.strip()
                terminal.send(ESC)
                assert terminal.status() == 6
        else:
            for command, printed in commands(block):
                _said(command, printed, shell)


def _here(block: str) -> str:
    """A block without the lines that put helm on the path and make the folder, for both are there."""
    return block.replace(". .venv/bin/activate\nmkdir -p ~/app && cd ~/app\n", "")


def _said(command: str, printed: str, folder: Path) -> None:
    if command.startswith("helm confirm"):
        # This one is a person's.
        return
    ended = pasted(command, folder)
    assert told(ended.out or ended.err, folder) == printed, command
    if command.startswith("helm plugin review"):
        digest = re.findall(r"sha256:[0-9a-f]{64}", ended.out)[0]
        assert pasted(f"{command} --approve {digest}", folder).status == 0
    if command.startswith("helm plugin new"):
        manifest = json.loads((folder / "tickets" / "manifest.json").read_text())
        assert json.loads(blocks("json")[0])["connections"] == manifest["connections"]


def test_a_job_pins_what_a_person_read(shell: Path) -> None:
    made, pinned, digest = (_here(block) for block in blocks("sh") if INSTALL not in block and "tests/run" not in block)
    assert pasted(made, shell).status == 0
    assert pasted("helm plugin new ./tickets", shell).status == 0
    approved = pasted(digest, shell).out.split()[0]
    ended = pasted(f"set -e\n{pinned}", shell, APPROVED_DIGEST=f"sha256:{approved}")
    assert ended.status == 0, ended
    assert (shell / "open.csv").read_bytes().startswith(b"id,title,status\r\n")


def test_the_other_sections_can_be_walked_too(shell: Path) -> None:
    (shell / "token.txt").write_text("a-token\n")
    walked = blocks("bash")
    assert len(walked) == 8
    try:
        for block in walked:
            ended = pasted(f"set -e\n{block}", shell)
            assert ended.status == 0, (block, ended)
    finally:
        pasted("helm agent stop", shell)


def test_what_a_manifest_may_say_is_what_it_says(shell: Path) -> None:
    entries = [json.loads(block) for block in blocks("jsonc") if '"kind"' in block]
    assert [entry["id"] for entry in entries] == ["gh", "cal"]
    (shell / "gh").mkdir()
    manifest = {"id": "gh", "permissions": {"write": True}, "connections": entries}
    (shell / "gh" / "manifest.json").write_text(json.dumps(manifest))
    assert pasted("helm plugin validate gh", shell).status == 0


def test_the_statuses_are_the_program_s() -> None:
    from helm_cli.model.errors import EXIT

    told = {
        code: int(status)
        for status, codes in re.findall(r"^\| (\d+) \| (.*) \|$", README, re.M)
        for code in re.findall(r"`([a-z_]+)`", codes)
    }
    assert told == {code: status for code, status in EXIT.items() if code != "not_approved"}


def test_every_command_is_named() -> None:
    from helm_cli.cli import COMMANDS

    table = README[README.index("| command |") : README.index("## In CI")]
    assert all(f"`helm {name}" in table for name in COMMANDS if name != "demo")
