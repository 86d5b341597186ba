"""A file that gets another text: all of it or nothing, with everything else kept, and nobody else's change lost."""

import ctypes
import fcntl
import json
import os
import re
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.drivers import files_leftover, files_record, files_system
from helm_cli.drivers.files_read import MOST_BYTES
from helm_cli.model.errors import HelmError
from helm_cli.model.plan import Revision
from tests.program import ROOT, environment
from tests.rig import steps
from tests.rig.files import Folder, sha256

NEW: Final = "the new text\r\n\0\ufeff"
# As it goes through arguments.
STEPPED: Final = NEW.replace("\0", "")
SHOWN: Final = "the new text\n\ufeff"
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
    with pytest.raises(HelmError, match=rf"^there is no file {path}$") as caught:
        folder.preview(path, NEW, "0" * 64)
    assert caught.value.code == "refused"
    # Once it was read, it was deleted since.
    error = folder.write_error(path, NEW, "0" * 64)
    told = f"{path} was left as it is: it is gone, or something else stands in its place; read it again"
    assert (error.code, error.message) == ("conflict", told)
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
    outcomes = stepped(tmp_path, "kill", 3)
    found = {outcome["found"] for outcome in outcomes}
    assert found == {f"640 {steps.OLD}", "640 the new text\n\ufeff"}
    assert [outcome for outcome in outcomes if outcome["names"] != ["a.md"]] == []
    assert {outcome["result"] for outcome in outcomes} == {""}


@pytest.mark.contract("C90")
def test_killed_with_its_guard_it_leaves_what_the_next_write_clears(tmp_path: Path) -> None:
    outcomes = stepped(tmp_path, "kill_all", 3)
    assert {outcome["found"][:9] for outcome in outcomes} == {"640 the o", "640 the n"}
    littered = [outcome for outcome in outcomes if outcome["names"] != ["a.md"]]
    assert littered
    assert {(len(one["names"]), one["names"][0][:12]) for one in littered} == {(2, files_record.PREFIX)}
    # Nothing of it was anybody else's.
    kept = {text for one in littered for text in one["kept"]}
    assert kept <= {"600 ", "600 " + SHOWN, "640 " + SHOWN, "640 " + steps.OLD}


def test_a_record_in_which_nothing_stands_yet_stops_no_write(folder: Folder) -> None:
    records = folder.home / "writes"
    records.mkdir(parents=True)
    dead, living = records / ("a" * 32), records / ("b" * 32)
    for record in (dead, living):
        record.touch()
    with living.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        folder.write("a.md", NEW)
        assert [*records.iterdir()] == [living]
    folder.write("a.md", SHOWN)
    assert [*records.iterdir()] == []


# What somebody else does while a file is written -> what must stand there afterwards, whatever the write says.
OTHERS: Final = {
    "edit": ["640 " + steps.EDITED],
    "append": ["640 " + steps.OLD + steps.EDITED, "640 " + SHOWN + steps.EDITED],
    "save": ["644 " + steps.EDITED],
    "delete": ["nothing"],
    "link": ["a link to ../outside"],
    "fifo": ["a fifo"],
    "folder": ["a folder"],
    "chmod": ["604 " + steps.OLD, "604 the new text\n\ufeff"],
    "hold": ["640 " + steps.OLD + steps.EDITED, "640 " + SHOWN + steps.EDITED],
    "save_and_kill": ["644 " + steps.EDITED],
    "link_and_kill_all": ["a link to ../outside"],
}


@pytest.mark.contract("C88", "C90")
@pytest.mark.parametrize("action", OTHERS)
def test_what_somebody_else_does_at_any_step_is_never_lost(tmp_path: Path, action: str) -> None:
    outcomes = stepped(tmp_path, action, 5)
    assert {outcome["found"] for outcome in outcomes} <= set(OTHERS[action])
    killed = "kill" in action
    if not killed:
        assert {outcome["result"].partition(":")[0] for outcome in outcomes} <= {"written", "conflict", "refused"}
        assert any(outcome["result"].startswith("conflict: a.md was left as it is") for outcome in outcomes)
    names = [["a.md"]] if action != "delete" else [[]]
    if action != "link_and_kill_all":
        assert [outcome for outcome in outcomes if outcome["names"] not in names] == []


@pytest.mark.contract("C88")
def test_what_was_changed_twice_is_kept_under_a_name_that_is_told(tmp_path: Path) -> None:
    twice = "640 " + SHOWN + steps.AGAIN
    outcomes = [outcome for outcome in stepped(tmp_path, steps.TWICE, 3) if outcome["names"] != ["a.md"]]
    assert outcomes
    for outcome in outcomes:
        kept = outcome["names"][0]
        assert re.fullmatch(r"a\.kept-[0-9a-f]{8}\.md", kept)
        assert (outcome["found"], outcome["kept"]) == (twice, ["644 " + steps.EDITED])
        assert outcome["result"] == (
            "conflict: a.md was changed twice while it was written; what stands there stays, and the text before it is"
            f" kept in {kept} {{'applied': 'unknown'}}"
        )


def test_interrupted_at_any_step_it_cleans_up(tmp_path: Path) -> None:
    for outcome in stepped(tmp_path, "interrupt", 2):
        assert (outcome["result"], outcome["names"]) == ("KeyboardInterrupt", ["a.md"])
        assert outcome["found"][:9] in ("640 the o", "640 the n")


@contextmanager
def unfinished(folder: Folder, *, whole: bool = True, exchanged: bool = True) -> Iterator[files_record.Record]:
    """A write of "new" over "old" that was killed with its guard, as its record tells of it; nothing is settled yet."""
    target = folder.path / "a.md"
    target.write_text("old")
    opened = os.open(folder.path, os.O_RDONLY)
    try:
        texts = sha256(b"old"), sha256(b"new")
        record = files_record.begin(str(folder.home), opened, "a.md", target.stat(), *texts)
        spare = folder.path / record.name
        spare.write_text("new" if whole else "ne")
        with open(spare) as file:
            record = files_record.made(record, file.fileno())
        if whole:
            record = files_record.finished(record)
        if exchanged:
            assert files_system.exchange(opened, record.name, "a.md")
        yield record
    finally:
        os.close(opened)


def texts(folder: Folder) -> dict[str, str]:
    """What stands in the root, with the digits of names that helm made up left out."""
    made_up = re.compile(r"(?<=\.kept-)[0-9a-f]{8}")
    return {made_up.sub("…", one.name): one.read_text() for one in folder.path.iterdir() if one.is_file()}


@pytest.mark.parametrize(("whole", "exchanged"), [(False, False), (True, False), (True, True)])
def test_what_a_killed_write_left_goes_with_the_next_write_and_with_nothing_else(
    folder: Folder, *, whole: bool, exchanged: bool
) -> None:
    with unfinished(folder, whole=whole, exchanged=exchanged) as record:
        before = folder.names()
        assert [file["path"] for file in folder.listed("*")["files"]] == ["a.md"]
        folder.call("read", path="a.md")
        folder.preview("a.md", NEW, folder.sha("a.md"))
        folder.write("docs/b.md", NEW)
        assert folder.names() == before
        assert files_record.read(record.home, record.id) == record
        folder.write("a.md", "after")
    assert texts(folder) == {"a.md": "after"}
    assert os.listdir(folder.home / "writes") == []


def test_one_that_was_made_in_the_moment_of_the_kill_goes_only_while_it_is_empty(folder: Folder) -> None:
    for text, left in (("", False), ("somebody's", True)):
        opened = os.open(folder.path, os.O_RDONLY)
        record = files_record.begin(
            str(folder.home), opened, "a.md", (folder.path / "a.md").stat(), sha256(b"old"), sha256(b"new")
        )
        os.close(opened)
        (folder.path / record.name).write_text(text)
        folder.write("a.md", f"after {text}")
        assert (folder.path / record.name).exists() is left
        assert os.listdir(folder.home / "writes") == []


def test_an_edit_that_was_exchanged_out_by_a_killed_write_goes_back(folder: Folder) -> None:
    with unfinished(folder) as record:
        (folder.path / record.name).write_text("edited")
        assert folder.write_error("a.md", NEW, sha256(b"new")).code == "conflict"
    assert texts(folder) == {"a.md": "edited"}
    with unfinished(folder) as record:
        (folder.path / record.name).unlink()
        os.symlink("docs", folder.path / record.name)
        assert folder.write_error("a.md", NEW, sha256(b"new")).code == "conflict"
    assert os.readlink(folder.path / "a.md") == "docs"
    assert folder.names() == ["a.md", "docs"]


def test_of_two_edits_around_a_killed_write_both_are_kept_for_ever(folder: Folder) -> None:
    with unfinished(folder) as record:
        (folder.path / "a.md").write_text("edited after")
        (folder.path / record.name).write_text("edited before")
        folder.write("a.md", "new", sha256(b"edited after"))
    assert texts(folder) == {"a.md": "new", "a.kept-….md": "edited before"}
    assert len(folder.listed("*.md")["files"]) == 2
    for text in ("new", "old", "new"):
        folder.write("a.md", text)
    assert texts(folder)["a.kept-….md"] == "edited before"


def test_a_name_for_what_is_kept_fits_whatever_the_target_is_called(folder: Folder) -> None:
    with unfinished(folder) as record:
        opened = os.open(folder.path, os.O_RDONLY)
        for target, start in (("x" * 252 + ".md", "x" * 238 + ".kept-"), (".env", ".env.kept-")):
            name = files_leftover.set_aside(opened, record._replace(target=target))
            assert name.startswith(start)
            assert len(name) == len(start) + 8 + (3 if target.endswith(".md") else 0)
            os.rename(folder.path / name, folder.path / record.name)
        os.close(opened)


def test_another_user_s_file_is_put_into_no_place(folder: Folder) -> None:
    # Only root can make files for others.
    if os.geteuid() != 0:
        return
    with unfinished(folder) as record:
        (folder.path / record.name).unlink()
        (folder.path / record.name).write_text("planted")
        os.chown(folder.path / record.name, 1234, 1234)
        folder.write("a.md", "after", sha256(b"new"))
    assert texts(folder) == {"a.md": "after", "a.kept-….md": "planted"}


def test_where_helm_cannot_write_it_down_nothing_is_written(folder: Folder) -> None:
    folder.home.write_text("no folder")
    error = folder.write_error("a.md", NEW)
    told = "helm cannot write down in its own home what it is about to do, so it does nothing; see that it is writable"
    assert (error.code, error.message) == ("state", told)
    assert texts(folder) == {"a.md": "the old text\n"}


def test_a_folder_that_only_lets_names_be_added_gets_no_litter(folder: Folder) -> None:
    # Only root can make it so.
    if os.geteuid() != 0:
        return
    flags = 2 << 30 | struct.calcsize("l") << 16 | ord("f") << 8
    opened = os.open(folder.path, os.O_RDONLY)
    there = fcntl.ioctl(opened, flags | 1, bytes(8))
    append = struct.pack("l", struct.unpack("l", there)[0] | 0x20)
    fcntl.ioctl(opened, 1 << 30 | struct.calcsize("l") << 16 | ord("f") << 8 | 2, append)
    try:
        error = folder.write_error("a.md", NEW)
    finally:
        fcntl.ioctl(opened, 1 << 30 | struct.calcsize("l") << 16 | ord("f") << 8 | 2, there)
        os.close(opened)
    told = "the folder of a.md only lets files be added, so it is left as it is"
    assert (error.code, error.message) == ("refused", told)
    assert folder.names() == ["a.md", "docs"]


def test_a_file_that_was_mounted_is_refused_before_anything_is_written(folder: Folder, tmp_path: Path) -> None:
    # Only root can mount.
    if os.geteuid() != 0:
        return
    (tmp_path / "other").write_text("mounted")
    library = ctypes.CDLL(None, use_errno=True)
    target = os.fsencode(folder.path / "a.md")
    assert library.mount(os.fsencode(tmp_path / "other"), target, None, 4096, None) == 0
    try:
        with pytest.raises(HelmError, match="is mounted there by itself") as caught:
            folder.preview("a.md", NEW, sha256(b"mounted"))
        assert caught.value.code == "refused"
        assert folder.write_error("a.md", NEW).code == "refused"
    finally:
        assert library.umount(target) == 0
    assert folder.names() == ["a.md", "docs"]


def test_a_preview_opens_nothing_for_writing(folder: Folder) -> None:
    library = ctypes.CDLL(None)
    watched = library.inotify_init1(os.O_NONBLOCK)
    changed, closed_after_writing, made, moved, gone = 0x2, 0x8, 0x100, 0xC0, 0x200
    library.inotify_add_watch(watched, os.fsencode(folder.path), changed | closed_after_writing | made | moved | gone)
    folder.preview("a.md", NEW, folder.sha("a.md"))
    with pytest.raises(BlockingIOError):
        os.read(watched, 4096)
    folder.write("a.md", NEW)
    assert os.read(watched, 4096)
    os.close(watched)


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
