"""A file that gets another text: all of it or nothing, with everything else kept, and nobody else's change lost."""

import fcntl
import json
import os
import stat
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.drivers import files_leftover
from helm_cli.drivers.files_read import MOST_BYTES
from helm_cli.model.errors import HelmError
from helm_cli.model.plan import Revision
from tests.program import ROOT, environment
from tests.rig import steps
from tests.rig.files import Folder, sha256

NEW: Final = "the new text\r\n\0\ufeff"
# As it goes through arguments.
STEPPED: Final = NEW.replace("\0", "")
STEPS: Final = ROOT / "tests" / "rig" / "steps.py"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    root = tmp_path / "root"
    (root / "docs").mkdir(parents=True)
    (root / "a.md").write_text("the old text\n")
    (root / "docs" / "b.md").write_text("the old text\n")
    return Folder(root)


def stepped(tmp_path: Path, action: str, stride: int, *more: str) -> list[dict[str, Any]]:
    """What came of writes to which an action was done at every step, or at every so many."""
    where = tmp_path / "stepped"
    where.mkdir()
    command = [sys.executable, str(STEPS), str(where), action, STEPPED, str(stride), *more]
    done = subprocess.run(command, env=environment({}), stdout=subprocess.PIPE, check=True, timeout=300)
    outcomes: list[dict[str, Any]] = json.loads(done.stdout)
    assert len(outcomes) > 150 / stride
    assert outcomes[-1]["result"] == "written"
    return outcomes[:-1]


@pytest.mark.contract("C87", "C91")
@pytest.mark.parametrize("path", ["a.md", "docs/b.md"])
def test_the_new_text_is_there_to_the_byte_and_nothing_beside_it(folder: Folder, path: str) -> None:
    before = folder.names(), folder.names("docs")
    assert folder.write(path, NEW) == {"path": path, "sha256": sha256(NEW.encode())}
    assert (folder.path / path).read_bytes() == NEW.encode()
    assert (folder.names(), folder.names("docs")) == before
    assert folder.write(path, "") == {"path": path, "sha256": sha256(b"")}
    assert folder.write(path, "x" * MOST_BYTES)["sha256"] == sha256(b"x" * MOST_BYTES)
    assert folder.call("read", path=path)["text"] == "x" * MOST_BYTES


@pytest.mark.contract("C90")
@pytest.mark.parametrize("mode", [0o640, 0o600, 0o755, 0o604, 0o1644, 0o222])
def test_mode_owner_and_attributes_stay(folder: Folder, mode: int) -> None:
    path = folder.path / "a.md"
    os.setxattr(path, "user.note", b"kept\0")
    owner = (1234, 4321) if os.geteuid() == 0 else (os.geteuid(), os.getgroups()[-1])
    os.chown(path, *owner)
    path.chmod(mode)
    # Who is not root cannot have a file back that nobody may read.
    if os.geteuid() != 0 and not mode & 0o400:
        assert folder.write_error("a.md", NEW, sha256(b"the old text\n")).code == "refused"
        return
    folder.write("a.md", NEW)
    found = path.stat()
    assert (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, found.st_nlink) == (mode, *owner, 1)
    assert os.getxattr(path, "user.note") == b"kept\0"


def test_what_a_folder_gives_to_new_files_is_not_given(folder: Folder) -> None:
    # user::rw-, user:4242:rw-, group::r--, mask::rw-, other::r--, as the kernel keeps it.
    entries = [(1, 6, 0xFFFFFFFF), (2, 6, 4242), (4, 4, 0xFFFFFFFF), (16, 6, 0xFFFFFFFF), (32, 4, 0xFFFFFFFF)]
    packed = b"\2\0\0\0" + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    os.setxattr(folder.path, "system.posix_acl_default", packed)
    os.setxattr(folder.path / "docs" / "b.md", "system.posix_acl_access", packed)
    folder.write("a.md", NEW)
    assert os.listxattr(folder.path / "a.md") == []
    assert stat.S_IMODE((folder.path / "a.md").stat().st_mode) == 0o644
    folder.write("docs/b.md", NEW)
    assert os.getxattr(folder.path / "docs" / "b.md", "system.posix_acl_access") == packed


def test_the_same_text_again_changes_nothing(folder: Folder) -> None:
    before = (folder.path / "a.md").stat()
    assert folder.write("a.md", "the old text\n")["sha256"] == folder.sha("a.md")
    after = (folder.path / "a.md").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.contract("C88", "C91")
def test_the_preview_has_both_texts_and_a_conflict_shows_before_it_is_asked(folder: Folder) -> None:
    assert folder.preview("a.md", NEW, folder.sha("a.md")) == (Revision("a.md", "the old text\n", NEW),)
    old = folder.sha("a.md")
    (folder.path / "a.md").write_text("changed\n")
    told = "a.md was left as it is: it is not the text that was read; read it again"
    with pytest.raises(HelmError, match=r"^a\.md was left as it is") as caught:
        folder.preview("a.md", NEW, old)
    assert (caught.value.code, caught.value.message) == ("conflict", told)
    error = folder.write_error("a.md", NEW, old)
    assert (error.code, error.message, error.members) == ("conflict", told, {})
    assert (folder.path / "a.md").read_text() == "changed\n"
    assert folder.names() == ["a.md", "docs"]


@pytest.mark.contract("C89")
@pytest.mark.parametrize("path", ["none.md", "docs/none.md", "none/a.md"])
def test_a_write_never_creates(folder: Folder, path: str) -> None:
    error = folder.write_error(path, NEW, "0" * 64)
    assert (error.code, error.message) == ("refused", f"there is no file {path}")
    assert (folder.names(), folder.names("docs")) == (["a.md", "docs"], ["b.md"])


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        (0o444, "a.md is read-only; make it writable first if it is to change"),
        (0o4755, "a.md runs with rights of its own, which another text must not get"),
        (0o2755, "a.md runs with rights of its own, which another text must not get"),
    ],
)
def test_what_only_its_owner_should_replace(folder: Folder, mode: int, message: str) -> None:
    (folder.path / "a.md").chmod(mode)
    error = folder.write_error("a.md", NEW)
    assert (error.code, error.message) == ("refused", message)
    assert (folder.path / "a.md").read_text() == "the old text\n"


def test_a_file_with_capabilities_is_left_alone(folder: Folder) -> None:
    # Only root can give any.
    if os.geteuid() == 0:
        os.setxattr(folder.path / "a.md", "security.capability", b"\0\0\0\2" + bytes(16))
        assert folder.write_error("a.md", NEW).message.startswith("a.md runs with rights of its own")
        assert (folder.path / "a.md").read_text() == "the old text\n"


# What somebody who is not root is told, in a folder that has what this program's own user may do with it.
ORDINARY: Final = """
import ctypes, json, os, sys
from pathlib import Path
from tests.rig.files import Folder, sha256
from helm_cli.drivers import files_list, files_system, files_write, files_read, files_guard
root = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
folder = Folder(root)
told = {"list": folder.listed("**")}
for path in ("closed/in.md", "unreadable.md", "locked/a.md", "others.md", "mine.md"):
    for verb, more in (("read", {}), ("write", {"expected_sha256": sha256(b"old"), "text": "new"})):
        try:
            told[f"{verb} {path}"] = "ok" if folder.call(verb, path=path, **more) else ""
        except Exception as error:
            told[f"{verb} {path}"] = f"{error.code}: {error.message}"
print(json.dumps(told))
"""


def test_what_the_system_does_not_allow_is_refused_and_changes_nothing() -> None:
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        for path in ("closed/in.md", "locked/a.md", "unreadable.md", "others.md", "mine.md"):
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text("old")
            (root / path).chmod(0o666)
        (root / "unreadable.md").chmod(0o200)
        as_root = os.geteuid() == 0
        if as_root:
            for path in ("", "closed", "closed/in.md", "locked/a.md", "unreadable.md", "mine.md"):
                os.chown(root / path, 65534, 65534)
        (root / "locked").chmod(0o555)
        (root / "closed").chmod(0)
        command = [sys.executable, "-c", ORDINARY, str(root)]
        done = subprocess.run(command, env=environment({}), stdout=subprocess.PIPE, check=True, timeout=60)
        told = json.loads(done.stdout)
        (root / "closed").chmod(0o755)
        (root / "locked").chmod(0o755)
        written = {path.name for path in root.rglob("*.md") if path.read_text() == "new"}
    assert told.pop("list") == {
        "files": [{"path": path, "size": 3} for path in ("locked/a.md", "mine.md", "others.md", "unreadable.md")],
        "truncated": False,
        "skipped": 1,
    }
    others = "refused: the owner or the attributes of others.md cannot be kept, so it is left as it is"
    assert told == {
        "read closed/in.md": "refused: closed/in.md cannot be opened: permission denied",
        "write closed/in.md": "refused: closed/in.md cannot be opened: permission denied",
        "read unreadable.md": "refused: unreadable.md cannot be opened: permission denied",
        "write unreadable.md": "refused: unreadable.md cannot be opened: permission denied",
        "read locked/a.md": "ok",
        "write locked/a.md": "refused: the folder of locked/a.md cannot be written to, so it is left as it is",
        "read others.md": "ok",
        "write others.md": others if as_root else "ok",
        "read mine.md": "ok",
        "write mine.md": "ok",
    }
    assert written == ({"mine.md"} if as_root else {"mine.md", "others.md"})


def test_a_file_with_other_names_is_left_alone(folder: Folder) -> None:
    os.link(folder.path / "a.md", folder.path / "docs" / "twin")
    error = folder.write_error("a.md", NEW)
    told = "a.md has other names (hard links), which would keep the old text"
    assert (error.code, error.message) == ("refused", told)
    assert folder.call("read", path="a.md")["text"] == "the old text\n"


def test_a_file_that_another_program_writes_is_left_alone(folder: Folder) -> None:
    with open(folder.path / "a.md", "a") as writing:
        error = folder.write_error("a.md", NEW)
        told = "a.md was left as it is: another program has it open for writing; read it again"
        assert (error.code, error.message) == ("conflict", told)
        writing.write("more\n")
    assert (folder.path / "a.md").read_text() == "the old text\nmore\n"
    with open(folder.path / "a.md") as reading:
        folder.write("a.md", NEW)
        assert reading.read() == "the old text\nmore\n"


def test_one_write_at_a_time_in_a_folder(folder: Folder) -> None:
    own = os.open(folder.path, os.O_RDONLY)
    fcntl.flock(own, fcntl.LOCK_EX)
    error = folder.write_error("a.md", NEW)
    os.close(own)
    told = "another process holds the folder of a.md locked; try again later"
    assert (error.code, error.message) == ("unavailable", told)
    folder.write("a.md", NEW)


def test_writes_from_many_processes_follow_one_another(folder: Folder) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.rig.files import Folder, sha256; "
        "from helm_cli.model.errors import HelmError\n"
        "folder, won = Folder(Path(sys.argv[1])), 0\n"
        "while won < 10:\n"
        "    text = folder.call('read', path='a.md')['text']\n"
        "    try:\n"
        "        folder.write('a.md', text + '+', sha256(text.encode()))\n"
        "        won += 1\n"
        "    except HelmError as error:\n"
        "        assert error.code == 'conflict', error\n"
    )
    command = [sys.executable, "-c", program, str(folder.path)]
    running = [subprocess.Popen(command, env=environment({})) for _ in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert (folder.path / "a.md").read_text() == "the old text\n" + "+" * 30
    assert folder.names() == ["a.md", "docs"]


@pytest.mark.contract("C90")
def test_killed_at_every_step_it_leaves_the_old_or_the_new_text_and_no_litter(tmp_path: Path) -> None:
    outcomes = stepped(tmp_path, "kill", 1)
    found = {outcome["found"] for outcome in outcomes}
    assert found == {f"640 {steps.OLD}", "640 the new text\n\ufeff"}
    assert [outcome for outcome in outcomes if outcome["names"] != ["a.md"]] == []
    assert {outcome["result"] for outcome in outcomes} == {""}


@pytest.mark.contract("C90")
def test_killed_with_its_guard_it_leaves_what_the_next_listing_or_write_clears(tmp_path: Path) -> None:
    where = tmp_path / "stepped"
    outcomes = stepped(tmp_path, "kill_all", 2)
    assert {outcome["found"][:9] for outcome in outcomes} == {"640 the o", "640 the n"}
    littered = [outcome["names"] for outcome in outcomes if outcome["names"] != ["a.md"]]
    assert littered
    assert all(len(names) == 2 and files_leftover.is_one(names[0]) for names in littered)
    left = Folder(where)
    spares = {names[0] for names in littered}
    assert len(spares) == 2
    for verb in ("list", "write"):
        for name in spares:
            (where / name).write_bytes(STEPPED.encode()[: 5 if name.endswith(files_leftover.PART) else None])
        left.listed("*.md") if verb == "list" else left.write("a.md", "after")
        assert left.names() == ["a.md"]


# What somebody else does while a file is written -> what must stand there afterwards, whatever the write says.
OTHERS: Final = {
    "edit": ["640 " + steps.EDITED],
    "append": ["640 " + steps.OLD + steps.EDITED, "640 the new text\n\ufeff" + steps.EDITED],
    "save": ["644 " + steps.EDITED],
    "delete": ["nothing"],
    "link": ["a link to ../outside"],
    "fifo": ["a fifo"],
    "folder": ["a folder"],
    "chmod": ["604 " + steps.OLD, "604 the new text\n\ufeff"],
    "save_and_kill": ["644 " + steps.EDITED],
    "link_and_kill_all": ["a link to ../outside"],
}


@pytest.mark.contract("C88", "C90")
@pytest.mark.parametrize("action", OTHERS)
def test_what_somebody_else_does_at_any_step_is_never_lost(tmp_path: Path, action: str) -> None:
    outcomes = stepped(tmp_path, action, 4)
    assert {outcome["found"] for outcome in outcomes} <= set(OTHERS[action])
    killed = "kill" in action
    if not killed:
        assert {outcome["result"].partition(":")[0] for outcome in outcomes} <= {"written", "conflict", "refused"}
        assert any(outcome["result"].startswith("conflict: a.md was left as it is") for outcome in outcomes)
    names = [["a.md"]] if action != "delete" else [[]]
    if action != "link_and_kill_all":
        assert [outcome for outcome in outcomes if outcome["names"] not in names] == []


def test_interrupted_at_any_step_it_cleans_up(tmp_path: Path) -> None:
    for outcome in stepped(tmp_path, "interrupt", 2):
        assert (outcome["result"], outcome["names"]) == ("KeyboardInterrupt", ["a.md"])
        assert outcome["found"][:9] in ("640 the o", "640 the n")


def spare(folder: Folder, old: str, new: str) -> Path:
    return folder.path / files_leftover.name("a.md", sha256(old.encode()), sha256(new.encode()))


def test_an_edit_that_was_exchanged_out_by_a_killed_write_goes_back(folder: Folder) -> None:
    (folder.path / "a.md").write_text("new")
    spare(folder, "old", "new").write_text("edited")
    assert [file["path"] for file in folder.listed("**")["files"]] == ["a.md", "docs/b.md"]
    assert (folder.path / "a.md").read_text() == "edited"
    assert folder.names() == ["a.md", "docs"]
    (folder.path / "a.md").write_text("new")
    os.symlink("docs", spare(folder, "old", "new"))
    folder.listed("*")
    assert os.readlink(folder.path / "a.md") == "docs"
    assert folder.names() == ["a.md", "docs"]


def test_of_two_edits_around_a_killed_write_both_are_kept(folder: Folder) -> None:
    (folder.path / "a.md").write_text("edited after")
    kept = spare(folder, "old", "new")
    kept.write_text("edited before")
    assert [file["path"] for file in folder.listed("*")["files"]] == ["a.md"]
    assert (folder.path / "a.md").read_text() == "edited after"
    assert kept.read_text() == "edited before"


def test_another_user_s_file_of_such_a_name_is_left_alone(folder: Folder) -> None:
    # Only root can make files for others.
    if os.geteuid() != 0:
        return
    planted = spare(folder, "old", "the old text\n")
    planted.write_text("planted")
    os.chown(planted, 1234, 1234)
    folder.listed("*")
    folder.write("docs/b.md", NEW)
    assert (folder.path / "a.md").read_text() == "the old text\n"
    assert planted.read_text() == "planted"
    # One of the target's own owner could have been put in its place by them anyway.
    os.chown(folder.path / "a.md", 1234, 1234)
    folder.listed("*")
    assert (folder.path / "a.md").read_text() == "planted"


def test_a_living_write_s_file_is_neither_listed_nor_taken_away(folder: Folder) -> None:
    own = os.open(folder.path, os.O_RDONLY)
    fcntl.flock(own, fcntl.LOCK_EX)
    for name in (spare(folder, "old", "new").name, spare(folder, "old", "new").name + files_leftover.PART):
        (folder.path / name).write_text("new")
    assert [file["path"] for file in folder.listed("*")["files"]] == ["a.md"]
    assert len(folder.names()) == 4
    os.close(own)
    folder.listed("*")
    assert folder.names() == ["a.md", "docs"]


@pytest.mark.contract("C88", "C90")
@pytest.mark.parametrize("action", ["kill", "save", "delete"])
def test_where_the_system_cannot_exchange_the_last_look_is_just_before(tmp_path: Path, action: str) -> None:
    outcomes = stepped(tmp_path, action, 4, "without-exchange")
    expected = [["a.md"], []] if action == "delete" else [["a.md"]]
    assert [outcome for outcome in outcomes if outcome["names"] not in expected] == []
    if action == "kill":
        assert {outcome["found"][:9] for outcome in outcomes} == {"640 the o", "640 the n"}
        return
    assert any(outcome["result"].startswith("conflict: a.md was left as it is") for outcome in outcomes)
    for outcome in outcomes:
        if not outcome["result"].startswith("written"):
            assert outcome["found"] in (f"644 {steps.EDITED}", "nothing")
