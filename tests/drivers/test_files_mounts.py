"""What is mounted: a file that was mounted by itself is told from the files of an overlay, whose devices differ."""

import json
import os
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.drivers import files_system
from tests.program import ROOT, run

# In a mount namespace of its own, which ends with it. /proc is hidden where the system is to tell no mounts.
_CHILD: Final = """
import ctypes, json, os, sys
from pathlib import Path
from helm_cli.model.errors import HelmError
from tests.rig.files import Folder, sha256

NEW_MOUNTS, BIND, RECURSIVE_PRIVATE = 0x20000, 0x1000, 0x44000
library = ctypes.CDLL(None, use_errno=True)
at, what, hidden = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "hidden"


def check(status):
    if status != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def mount(source, target, kind, flags=0, options=""):
    check(library.mount(*(os.fsencode(one) for one in (source, target, kind)), flags, options.encode() or None))


check(library.unshare(NEW_MOUNTS))
mount("none", "/", "none", RECURSIVE_PRIVATE)
root = at / "root"
for name in ("root", "lower", "upper"):
    (at / name).mkdir()
if what == "overlay":
    for name in ("lower", "upper"):
        mount("tmpfs", at / name, "tmpfs")
    (at / "lower/notes").mkdir()
    (at / "lower/notes/a.md").write_text("old")
    (at / "upper/files").mkdir()
    (at / "upper/work").mkdir()
    layers = f"lowerdir={at / 'lower'},upperdir={at / 'upper/files'},workdir={at / 'upper/work'}"
    mount("overlay", root, "overlay", options=layers)
else:
    (root / "notes").mkdir()
    (root / "notes/a.md").write_text("below")
    (at / "other").write_text("old")
    mount(at / "other", root / "notes/a.md", "none", BIND)
if hidden:
    mount("tmpfs", "/proc", "tmpfs")
folder = Folder(root, at / "home")
folder.home.mkdir()
told = {"devices": len({os.stat(root / path).st_dev for path in ("notes", "notes/a.md")})}
for verb, call in (
    ("preview", lambda: folder.preview("notes/a.md", "new", sha256(b"old"))[0].before),
    ("write", lambda: folder.write("notes/a.md", "new")["sha256"] == sha256(b"new")),
):
    try:
        told[verb] = call()
    except HelmError as error:
        told[verb] = f"{error.code}: {error.message}"
told |= {"text": (root / "notes/a.md").read_text(), "names": folder.names("notes")}
print(json.dumps(told))
"""
_MOUNTED: Final = "refused: notes/a.md is mounted there by itself, so no other file can take its place"


def mounted(at: Path, what: str, proc: str = "") -> Any:
    done = run([sys.executable, "-c", _CHILD, str(at), what, proc], cwd=ROOT)
    assert done.status == 0, done.err
    return json.loads(done.out)


def opened(path: Path | str) -> int:
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


@pytest.mark.parametrize(("folder", "file", "expected"), [("/proc", "version", False), ("/", "proc/version", True)])
def test_a_mount_is_told_by_its_number(folder: str, file: str, expected: bool) -> None:
    if sys.platform != "linux":
        return
    above, here = opened(folder), opened(os.path.join(folder, file))
    try:
        assert files_system.mounted_over(above, here) is expected
    finally:
        os.close(above)
        os.close(here)


def test_a_file_of_its_folder_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("old")
    above, here = opened(tmp_path), opened(tmp_path / "a.md")
    try:
        assert not files_system.mounted_over(above, here)
    finally:
        os.close(above)
        os.close(here)


def test_a_file_of_an_overlay_is_written_although_its_device_is_another(tmp_path: Path) -> None:
    # Only root can mount, and not every kernel was built with overlays.
    if os.geteuid() != 0 or "overlay" not in Path("/proc/filesystems").read_text():
        return
    told = mounted(tmp_path, "overlay")
    assert told == {"devices": 2, "preview": "old", "write": True, "text": "new", "names": ["a.md"]}


@pytest.mark.parametrize("proc", ["shown", "hidden"])
def test_a_file_that_was_mounted_is_refused_and_nothing_left_beside_it(tmp_path: Path, proc: str) -> None:
    """Where the system tells no mounts, the exchange itself finds it."""
    if os.geteuid() != 0:
        return
    told = mounted(tmp_path, "bound", proc)
    seen = {"preview": _MOUNTED if proc == "shown" else "old"}
    assert told == {"devices": 1, **seen, "write": _MOUNTED, "text": "old", "names": ["a.md"]}
