"""A folder that several people write to: what is believed of a file there, and what never is."""

import fcntl
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from helm_cli.model.errors import HelmError
from helm_cli.store import shared
from tests.store import acts, crowd

OWN = os.geteuid()
# A number that no descriptor has.
CLOSED = 2**30


def test_a_file_is_whole_and_its_owners(place: Path, opened: int) -> None:
    assert shared.create(opened, "a", b"1" * 100_000, everybody=False)
    assert not shared.create(opened, "a", b"2", everybody=False)
    assert shared.read(opened, "a", 100_000) == (b"1" * 100_000, OWN, 1)
    shared.replace(opened, "a", b"3")
    assert shared.read(opened, "a", 1) == (b"3", OWN, 1)
    assert [path.name for path in place.iterdir()] == ["a"]
    shared.remove(opened, "a")
    shared.remove(opened, "a")
    assert shared.read(opened, "a", 1) is None
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(("umask", "mode"), [(0o000, 0o644), (0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_others_may_read_as_the_umask_says_and_never_write(place: Path, opened: int, umask: int, mode: int) -> None:
    os.umask(umask)
    shared.create(opened, "mine", b"1", everybody=False)
    shared.create(opened, "teams", b"1", everybody=True)
    shared.replace(opened, "decision", b"1")
    assert [stat.S_IMODE((place / name).stat().st_mode) for name in ("mine", "teams", "decision")] == [
        mode,
        0o644,
        0o644,
    ]
    assert shared.hidden(opened, "mine") is (mode == 0o600)
    assert not shared.hidden(opened, "teams")
    place.chmod(0o700)
    assert not shared.hidden(opened, "mine")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: path.symlink_to("/etc/passwd"), "cannot be read: too many levels of symbolic links"),
        (os.mkfifo, "is no regular file"),
        (os.mkdir, "is no regular file"),
        (lambda path: (path.write_bytes(b"1"), path.chmod(0o664)), "can be written by others than its owner"),
        (lambda path: (path.write_bytes(b"1"), path.chmod(0o646)), "can be written by others than its owner"),
        (lambda path: path.write_bytes(b"1" * 11), "is over 10 bytes"),
    ],
)
def test_what_is_not_believed(place: Path, opened: int, make: object, told: str) -> None:
    assert callable(make)
    make(place / "it")
    with pytest.raises(ValueError, match=r".") as refused:
        shared.read(opened, "it", 10)
    assert str(refused.value) == told


def test_a_second_name_is_counted(place: Path, opened: int) -> None:
    shared.create(opened, "a", b"1", everybody=True)
    os.link(place / "a", place / "b")
    assert shared.read(opened, "b", 10) == (b"1", OWN, 2)


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
def test_a_folder_in_which_files_can_be_taken_away_is_refused(place: Path, mode: int) -> None:
    place.chmod(mode)
    with pytest.raises(HelmError) as refused, shared.opened(place):
        pass
    told = f"in {place} people can take each other's files away; its owner mends that with: chmod +t {place}"
    assert (refused.value.code, refused.value.message) == ("state", told)
    place.chmod(mode | stat.S_ISVTX)
    with shared.opened(place) as folder:
        assert shared.names(folder) == []


def test_a_folder_that_is_missing_or_none(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    with pytest.raises(HelmError) as refused, shared.opened(absent):
        pass
    assert refused.value.message == f"the folder {absent} is missing; let root make it, with: mkdir -m 3770 {absent}"
    absent.write_text("")
    with pytest.raises(HelmError) as refused, shared.opened(absent):
        pass
    assert (refused.value.code, "a file stands where a folder should be" in refused.value.message) == ("state", True)


def test_a_folder_that_somebody_filled_is_not_read_to_its_end(place: Path, opened: int) -> None:
    for number in range(shared.MOST_FILES + 1):
        os.close(os.open(place / f"{number}", os.O_CREAT | os.O_WRONLY))
    with pytest.raises(HelmError) as refused:
        shared.names(opened)
    assert refused.value.message == "the folder of drafts holds over 20,000 files; take old ones away"


def test_of_twenty_one_creates_it(place: Path) -> None:
    results = crowd.together(acts.create_shared, 20, place)
    assert sorted(results) == [False] * 19 + [True]
    assert (place / "one").read_bytes() == bytes([results.index(True)]) * 100_000
    assert [path.name for path in place.iterdir()] == ["one"]


def test_a_kill_leaves_the_whole_file_or_none_and_nothing_that_stays(place: Path) -> None:
    seen = crowd.killed(acts.create_shared, place, acts.whole_shared)
    assert {"none", "whole"} == set(seen)
    with shared.opened(place) as folder:
        assert shared.create(folder, "last", b"1", everybody=False)
    assert [path.name for path in place.iterdir()] == ["last"]


def test_a_folder_that_cannot_be_written_is_told(place: Path) -> None:
    place.chmod(0o755)
    denied = "state: the folder of drafts cannot be changed: permission denied; see drafts_dir in config.toml"
    for folder in (place, *place.parents):
        if folder != Path("/tmp") and folder.stat().st_uid == OWN and folder != Path("/"):
            folder.chmod(0o755)
    assert crowd.unprivileged(acts.create_shared, place) == denied


def test_the_folder_says_whose_it_is_and_what_is_in_it(place: Path, opened: int) -> None:
    for name in ("b", "a", ".hidden"):
        (place / name).touch()
    assert (shared.owner(opened), shared.names(opened)) == (OWN, ["a", "b"])
    os.chown(place, 4321, -1)
    assert shared.owner(opened) == 4321


def test_a_file_that_fails_while_it_is_read_is_not_believed() -> None:
    with shared.opened(Path("/proc/self")) as folder, pytest.raises(ValueError, match=r".") as refused:
        shared.read(folder, "mem", 10)
    assert str(refused.value) == "cannot be read: input/output error"


def test_what_a_killed_writer_left_is_removed_and_nothing_else(place: Path, opened: int) -> None:
    for name in (".left.new", ".other.new", ".living.new", ".folder.new", ".left", "left.new"):
        (place / name).mkdir() if name == ".folder.new" else (place / name).touch()
    os.mkfifo(place / ".fifo.new")
    (place / ".link.new").symlink_to("left.new")
    os.chown(place / ".other.new", 4321, -1)
    with open(place / ".living.new", "rb") as living:
        fcntl.flock(living, fcntl.LOCK_EX)
        shared.create(opened, "a", b"1", everybody=False)
    kept = {".other.new", ".living.new", ".folder.new", ".link.new", ".left", "left.new", "a"}
    assert {path.name for path in place.iterdir()} == kept
    shared.replace(opened, "a", b"2")
    assert {path.name for path in place.iterdir()} == kept - {".living.new"}


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda: shared.owner(CLOSED), "cannot be read: bad file descriptor"),
        (lambda: shared.names(CLOSED), "cannot be listed: bad file descriptor"),
        (lambda: shared.create(CLOSED, "a", b"1", everybody=True), "cannot be listed: bad file descriptor"),
        (lambda: shared.remove(CLOSED, "a"), "cannot be changed: bad file descriptor"),
    ],
)
def test_a_folder_that_fails_is_told(act: Callable[[], object], told: str) -> None:
    with pytest.raises(HelmError) as refused:
        act()
    message = f"the folder of drafts {told}; see drafts_dir in config.toml"
    assert (refused.value.code, refused.value.message) == ("state", message)


def test_a_file_that_always_vanishes_before_it_is_placed_is_told(place: Path, opened: int) -> None:
    with pytest.raises(HelmError) as refused:
        shared.create(opened, "gone/a", b"1", everybody=False)
    told = "the folder of drafts is gone, or files vanish from it; see drafts_dir in config.toml"
    assert (refused.value.code, refused.value.message) == ("state", told)
    assert list(place.iterdir()) == []


def test_what_is_not_there_is_told(opened: int) -> None:
    with pytest.raises(HelmError, match=r"^the folder of drafts cannot be read: no such file or directory; see drafts"):
        shared.hidden(opened, "a")
