"""README's commands, pasted: a tour that cannot be walked as written teaches nothing."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.program import ROOT, Finished, run

README: Final = (ROOT / "README.md").read_text()
INSTALL: Final = "python3 -m venv"
ID: Final = re.compile(r"\b[a-z2-7]{8}\b")


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


def sessions() -> list[tuple[str, str]]:
    """Each command of the console blocks with what it prints; those that need a person or print nothing are left."""
    found = []
    for block in blocks("console"):
        for part in block.split("$ ")[1:]:
            command, _, printed = part.partition("\n")
            if printed:
                found.append((command, printed))
    return found


def test_the_tour_can_be_walked_as_written(shell: Path) -> None:
    walked = [block for block in blocks("sh") if INSTALL not in block and "tests/run" not in block]
    made, added, new, review, pinned, digest = (block.replace(". .venv/bin/activate\n", "") for block in walked)
    for step in (made, added, new):
        assert pasted(step, shell).status == 0, step
    told = pasted(review, shell)
    assert told.status == 17
    approved = pasted(digest, shell).out.split()[0]
    assert f"digest    sha256:{approved}" in told.out
    manifest = json.loads((shell / "tickets" / "manifest.json").read_text())
    assert json.loads(blocks("json")[0])["connections"] == manifest["connections"]
    # The CI job adds the profile too; here the tour has done that.
    job = "\n".join(line for line in pinned.splitlines() if not line.startswith("helm db add"))
    ended = pasted(job, shell, APPROVED_DIGEST=f"sha256:{approved}")
    assert ended.status == 0, ended
    assert (shell / "open.csv").read_bytes().startswith(b"id,title,status\r\n")
    for command, printed in sessions():
        assert ID.sub("ID", pasted(command, shell).out) == ID.sub("ID", printed), command


def test_the_other_sections_can_be_walked_too(shell: Path) -> None:
    (shell / "token.txt").write_text("a-token\n")
    walked = blocks("bash")
    assert len(walked) == 6
    try:
        for block in walked:
            ended = pasted(f"set -e\n{block}", shell)
            assert ended.status == 0, (block, ended)
    finally:
        pasted("helm agent stop", shell)


def test_what_a_manifest_may_say_is_what_it_says(shell: Path) -> None:
    entry = json.loads(blocks("jsonc")[0])
    (shell / "gh").mkdir()
    manifest = {"id": "gh", "permissions": {"write": True}, "connections": [entry]}
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
