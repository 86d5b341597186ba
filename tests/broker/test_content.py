"""What of a folder is covered, and that nothing in one can make helm wait, follow or read without end."""

import gc
import os
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
import unicodedata
from pathlib import Path
from typing import Final

import pytest

from helm_cli.broker import content
from helm_cli.broker.stores import Stores
from helm_cli.model.content import MOST_BYTES_A_FILE, MOST_FILES
from helm_cli.store import approvals
from helm_cli.store.approvals import Approval
from tests.rig.meanwhile import just_before

DIGEST: Final = r"""
find . \( -name '.?*' -o -name '*~' -o -name '*.pyc' -o -name __pycache__ -o -name node_modules \) -prune \
  -o -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum -- | sha256sum
"""
ODD: Final = (
    "manifest.json",
    "a b.txt",
    "a/b.txt",
    "a.txt",
    "a-b.txt",
    "a0",
    "-n",
    "--check",
    "$HOME.txt",
    "it's",
    'say "x".txt',
    "*",
    "caf\u00e9/\u65e5\u672c.md",
    "Z/z",
    "z/Z",
    "\U0001f600.txt",
    "\uffee.txt",
    "deep/er/and/deeper/file",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "extension"
    made.mkdir()
    (made / "manifest.json").write_text("{}")
    return made


def faults(folder: Path) -> list[tuple[str, str]]:
    return [(fault.file, fault.message) for fault in content.read(str(folder)).faults]


def covered(folder: Path) -> list[str]:
    found = content.read(str(folder))
    assert not found.faults
    return list(found.content.files)


@pytest.mark.contract("C6")
def test_the_digest_is_the_one_of_find_sort_and_sha256sum(folder: Path) -> None:
    for number, path in enumerate(ODD):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(bytes(range(number)) * 100)
    for path in (".hidden", ".git/config", "a/.env", "node_modules/x", "a/__pycache__/y", "mod.pyc", "backup~"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("not covered")
    found = content.read(str(folder))
    assert (found.faults, sorted(found.content.files)) == ((), sorted(ODD))
    counted = subprocess.run(["bash", "-c", DIGEST], cwd=folder, capture_output=True, check=True)
    assert found.content.digest == f"sha256:{counted.stdout.decode().split()[0]}"


def test_what_helm_never_reads_may_be_anything(folder: Path) -> None:
    before = content.read(str(folder)).content.digest
    (folder / "node_modules").symlink_to("/etc")
    (folder / ".venv").symlink_to("/nowhere")
    os.mkfifo(folder / ".fifo")
    (folder / ".manifest.json.swp").write_bytes(b"\0" * 10)
    (folder / "manifest.json~").write_text("old")
    (folder / ".git").mkdir()
    (folder / ".git" / "index.lock").mkdir()
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").symlink_to("y")
    (folder / "empty" / "folders").mkdir(parents=True)
    assert content.read(str(folder)).content.digest == before
    assert covered(folder) == ["manifest.json"]


@pytest.mark.contract("P42")
def test_modes_owners_and_times_do_not_count(folder: Path) -> None:
    before = content.read(str(folder)).content.digest
    (folder / "manifest.json").chmod(0o777)
    os.utime(folder / "manifest.json", (0, 0))
    if os.getuid() == 0:
        os.chown(folder / "manifest.json", 12345, 12345)
    assert content.read(str(folder)).content.digest == before


def test_every_special_thing_is_named(folder: Path) -> None:
    (folder / "link.json").symlink_to("manifest.json")
    (folder / "docs").symlink_to("/etc")
    (folder / "dangling").symlink_to("/nowhere")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket"))
        assert faults(folder) == [
            ("dangling", "a link; only regular files are allowed"),
            ("docs", "a link; only regular files are allowed"),
            ("link.json", "a link; only regular files are allowed"),
            ("pipe", "a named pipe; only regular files are allowed"),
            ("socket", "a socket; only regular files are allowed"),
        ]
    assert list(content.read(str(folder)).content.files) == ["manifest.json"]


def test_a_device_is_named_and_not_opened() -> None:
    told = dict(faults(Path("/dev")))
    assert told["null"] == "a device; only regular files are allowed"


def test_paths_that_helm_does_not_take_are_named(folder: Path) -> None:
    (folder / unicodedata.normalize("NFD", "caf\u00e9.txt")).write_text("")
    (folder / "back\\slash").write_text("")
    (folder / "new\nline").write_text("")
    (folder / "next\u0085line").write_text("")
    (folder / "del\x7f").write_text("")
    with open(os.path.join(os.fsencode(folder), b"latin-\xe9"), "wb"):
        pass
    (folder / unicodedata.normalize("NFD", "d\u00e9p\u00f4t")).mkdir()
    control, composed = (
        "a path must not hold a control character",
        "a path must be in Unicode's composed form (NFC); rename it",
    )
    assert faults(folder) == [
        ("back\\slash", "a path must not hold a backslash"),
        ("cafe\u0301.txt", composed),
        ("del\x7f", control),
        ("de\u0301po\u0302t", composed),
        ("latin-\\xe9", "a path must be UTF-8"),
        ("new\nline", control),
        ("next\u0085line", control),
    ]


def test_a_thousand_files_and_no_more(folder: Path) -> None:
    for number in range(MOST_FILES - 1):
        (folder / f"{number}.txt").write_text("")
    assert len(covered(folder)) == MOST_FILES
    (folder / "one").mkdir()
    (folder / "one" / "more.txt").write_text("")
    assert faults(folder) == [(".", "the folder holds over 1,000 files")]


def test_four_mebibytes_a_file_and_no_more(folder: Path) -> None:
    (folder / "large.bin").write_bytes(b"x" * MOST_BYTES_A_FILE)
    assert covered(folder) == ["large.bin", "manifest.json"]
    with open(folder / "large.bin", "ab") as file:
        file.write(b"x")
    with open(folder / "huge.bin", "wb") as file:
        file.truncate(1 << 40)
    assert faults(folder) == [("huge.bin", "over 4 MiB"), ("large.bin", "over 4 MiB")]


def test_sixteen_mebibytes_together_and_no_more(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    for number in range(4):
        (folder / f"{number}.bin").write_bytes(b"x" * MOST_BYTES_A_FILE)
    assert len(covered(folder)) == 4
    (folder / "5").write_text("x")
    assert faults(folder) == [(".", "the files are over 16 MiB together")]


def test_memory_stays_near_what_is_allowed(folder: Path) -> None:
    for number in range(40):
        with open(folder / f"{number}.bin", "wb") as file:
            file.truncate(MOST_BYTES_A_FILE)
    tracemalloc.start()
    try:
        assert faults(folder) == [(".", "the files are over 16 MiB together")]
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


def test_names_without_end_are_not_all_listed(folder: Path) -> None:
    (folder / "many").mkdir()
    for number in range(10_001):
        os.link(folder / "manifest.json", folder / "many" / f"{number}")
    assert faults(folder) == [(".", "the folder holds over 10,000 files and folders")]


def test_folders_without_end_are_refused(folder: Path) -> None:
    folder.joinpath(*["deep"] * 64).mkdir(parents=True)
    (folder.joinpath(*["deep"] * 64) / "file").write_text("")
    assert len(covered(folder)) == 2
    folder.joinpath(*["deep"] * 65).mkdir(parents=True)
    assert faults(folder) == [("/".join(["deep"] * 65), "more than 64 folders deep")]


def test_files_that_are_none_are_named_and_end() -> None:
    """The kernel's own files: without a size, some without an end, some that no read succeeds on."""
    told = dict(faults(Path("/proc/self").resolve()))
    assert told["exe"] == "a link; only regular files are allowed"
    assert told["mem"] == "it cannot be read: input/output error"


def test_a_folder_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link", "absent"):
        [(file, message)] = faults(tmp_path / name)
        assert file == "." and message.startswith("the folder cannot be opened")


def test_a_folder_whose_names_cannot_be_listed_says_so(folder: Path) -> None:
    """The system lends one descriptor more, and no second one to list it with."""
    lowest = os.dup(0)
    os.close(lowest)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 1, hard))
    try:
        found = content.read(str(folder)).faults
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    told = "the folder cannot be listed: it cannot be read: too many open files"
    assert [(fault.file, fault.message) for fault in found] == [(".", told)]


def test_a_file_that_grows_while_it_is_read_is_not_read_to_its_end(folder: Path) -> None:
    path = folder / "grows"
    path.write_bytes(b"x")
    (folder / "manifest.json").unlink()
    with just_before(os.read, lambda: os.truncate(path, MOST_BYTES_A_FILE + 1)):
        found = faults(folder)
    assert found == [("grows", "over 4 MiB")]


def test_what_is_swapped_for_a_link_is_never_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_text("the secret")
    (folder / "sub").mkdir()
    (folder / "sub" / "x").write_text("harmless")
    done = threading.Event()
    threads = [threading.Thread(target=swap, args=(folder, tmp_path, done)) for swap in (swap_file, swap_folder)]
    for thread in threads:
        thread.start()
    seen: set[bytes] = set()
    try:
        until = time.monotonic() + 2
        while time.monotonic() < until:
            seen.update(content.read(str(folder)).content.files.values())
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert seen == {b"{}", b"harmless"}


def swap_file(folder: Path, beside: Path, done: threading.Event) -> None:
    """A file, a link to a secret, a named pipe and a link to it, in turn under one name."""
    pipe, made = beside / "pipe", beside / "next"
    os.mkfifo(pipe)
    while not done.is_set():
        made.write_text("harmless")
        os.replace(made, folder / "data")
        made.symlink_to(beside / "outside" / "x")
        os.replace(made, folder / "data")
        os.mkfifo(made)
        os.replace(made, folder / "data")
        made.symlink_to(pipe)
        os.replace(made, folder / "data")


def swap_folder(folder: Path, beside: Path, done: threading.Event) -> None:
    """A folder, and a link to one with a secret, in turn under one name."""
    while not done.is_set():
        os.rename(folder / "sub", beside / "aside")
        (folder / "sub").symlink_to(beside / "outside")
        (folder / "sub").unlink()
        os.rename(beside / "aside", folder / "sub")


def test_no_descriptor_is_left_open(folder: Path) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "pipe").mkdir()
    for number in range(1_100):
        (folder / "a" / "b" / f"{number}").write_text("")
    # What earlier tests left to the garbage collector must not go in between.
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        assert faults(folder)
    assert len(os.listdir("/proc/self/fd")) == before


class Approved:
    """A folder approved as it was when this was made."""

    def __init__(self, folder: Path, home: Path) -> None:
        found = content.read(str(folder))
        self.stores = Stores(home)
        self.approval = Approval("/code", "tickets", str(folder), found.content.digest, True, 1.0, "person")
        approvals.approve(self.stores.db, self.approval, found.content, found.stamps)

    def matches(self) -> bool:
        return content.matches(self.stores, self.approval)

    def stamps(self) -> approvals.Stamps:
        return approvals.stamps(self.stores.db, "/code", "tickets")


def test_an_untouched_folder_matches_without_being_read(folder: Path, home: Path) -> None:
    for name in ("a/b.txt", "a.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    approved = Approved(folder, home)
    assert all(stamp.mtime_ns == -1 for stamp in approved.stamps())  # touched too recently to be trusted
    assert approved.matches()
    approvals.restamp(approved.stores.db, approved.approval, settled(folder))
    # Were it read, a folder with one file more than its stamps tell would not match.
    assert approved.matches()
    assert approved.stamps() == settled(folder)
    approved.stores.close()


def settled(folder: Path) -> approvals.Stamps:
    """The stamps that a reading gives once the files have been left alone for a while."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        status = path.stat()
        touched = max(status.st_mtime_ns, status.st_ctime_ns)
        found.append(approvals.Stamp(str(path.relative_to(folder)), status.st_size, touched, status.st_ino))
    return tuple(sorted(found))


@pytest.mark.contract("C6")
def test_a_changed_folder_does_not_match(folder: Path, home: Path) -> None:
    approved = Approved(folder, home)
    file = folder / "manifest.json"
    approvals.restamp(approved.stores.db, approved.approval, settled(folder))
    os.utime(file, (1, 1))
    assert approved.matches()
    file.write_text("[]")  # as long as what was there
    os.utime(file, (1, 1))
    assert not approved.matches()
    file.write_text("{}")
    assert approved.matches()
    (folder / "more").write_text("")
    assert not approved.matches()
    (folder / "more").unlink()
    (folder / "more").symlink_to("manifest.json")
    assert not approved.matches()
    (folder / "more").unlink()
    for number in range(MOST_FILES):
        (folder / f"{number}").write_text("")
    assert not approved.matches()
    for number in range(MOST_FILES):
        (folder / f"{number}").unlink()
    assert approved.matches()
    shutil.move(folder, folder.with_name("moved"))
    assert not approved.matches()
    folder.symlink_to(folder.with_name("moved"))
    assert not approved.matches()
    approved.stores.close()


def test_a_restamp_is_trusted_only_after_a_while(folder: Path, home: Path) -> None:
    approved = Approved(folder, home)
    os.utime(folder / "manifest.json", ns=(1, 1))
    assert approved.matches()
    assert [stamp.mtime_ns for stamp in approved.stamps()] == [-1]
    approved.stores.close()


def test_it_loads_no_unicode_table_for_plain_names(folder: Path) -> None:
    steps = ("import sys", "from helm_cli.broker import content", f"content.read({str(folder)!r})")
    program = "; ".join((*steps, "print('unicodedata' in sys.modules)"))
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"
