"""The home and its files are the user's own from their first byte, and every failure names the file and a way out."""

import fcntl
import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from helm_cli.model.errors import HelmError
from helm_cli.store import home as homes
from tests.rig.failing import failing
from tests.rig.meanwhile import just_before
from tests.store import acts, crowd


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def nobodys(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that a process without rights can reach and owns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        (folder / "home").mkdir()
        if os.geteuid() == 0:
            os.chown(folder / "home", crowd.NOBODY, crowd.NOBODY)
        yield folder / "home"
        (folder / "home").chmod(0o755)


def test_the_home_is_the_named_one_else_dot_helm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert homes.locate() == Path(os.environ["HOME"]) / ".helm"
    monkeypatch.setenv("HELM_HOME", "/elsewhere")
    monkeypatch.setenv("HELM_CLI_HOME", "")
    assert homes.locate() == Path(os.environ["HOME"]) / ".helm"
    monkeypatch.setenv("HELM_CLI_HOME", str(tmp_path / "a"))
    assert homes.locate() == tmp_path / "a"
    monkeypatch.setenv("HELM_CLI_HOME", "a/../b")
    assert homes.locate() == Path.cwd() / "b"


@pytest.mark.parametrize("home", ["", "relative", "./.", None])
def test_where_no_home_folder_is_known_nothing_is_kept_where_helm_happens_to_run(
    monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    if home is None:
        # Of a user that the system knows, it says which; the HOME of this test is another.
        monkeypatch.delenv("HOME")
        assert homes.locate() == Path(pwd.getpwuid(os.getuid()).pw_dir, ".helm")
        return
    monkeypatch.setenv("HOME", home)
    told = "your home folder is not known: HOME is no absolute path; name one in HELM_CLI_HOME"
    with failing("state", told):
        homes.locate()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_folder_and_files_are_private_under_every_umask(home: Path, umask: int) -> None:
    os.umask(umask)
    homes.prepare(home)
    homes.write_private(home / "one", b"1")
    assert homes.create_private(home / "two", b"2")
    assert (mode(home), mode(home / "one"), mode(home / "two")) == (0o700, 0o600, 0o600)


def test_parents_of_the_home_are_made(tmp_path: Path) -> None:
    homes.prepare(tmp_path / "a" / "b" / "c")
    assert mode(tmp_path / "a" / "b" / "c") == 0o700


def test_a_home_that_is_open_to_others_is_closed(home: Path) -> None:
    home.mkdir(mode=0o755)
    homes.prepare(home)
    assert mode(home) == 0o700
    home.chmod(0o500)
    homes.prepare(home)
    assert mode(home) == 0o500


def test_a_link_to_a_folder_of_ones_own_may_be_the_home(home: Path, tmp_path: Path) -> None:
    home.symlink_to(tmp_path)
    homes.prepare(home)
    homes.write_private(home / "one", b"1")
    assert (tmp_path / "one").read_bytes() == b"1"


def refusal(home: Path) -> str:
    with pytest.raises(HelmError) as caught:
        homes.prepare(home)
    assert caught.value.code == "state"
    return caught.value.message


def test_what_is_no_folder_cannot_be_the_home(home: Path, tmp_path: Path) -> None:
    home.write_text("")
    assert refusal(home) == f"{home} is not a folder; move it away or name another home in HELM_CLI_HOME"
    assert refusal(home / "below") == (
        f"{home}/below cannot be used: a file stands where a folder should be;"
        " move it away or name another home in HELM_CLI_HOME"
    )
    (tmp_path / "dangling").symlink_to("nowhere")
    assert refusal(tmp_path / "dangling") == (
        f"{tmp_path}/dangling cannot be used: no such file or directory; look at that path"
    )


def test_another_users_folder_cannot_be_the_home(nobodys: Path) -> None:
    other = nobodys if os.geteuid() == 0 else Path("/")
    assert refusal(other) == (
        f"{other} belongs to another user; name a folder of your own in HELM_CLI_HOME, or do not use sudo"
    )


def test_a_file_is_read_replaced_and_removed(home: Path) -> None:
    home.mkdir()
    path = home / "one"
    assert homes.read(path) is None
    homes.write_private(path, b"1")
    homes.write_private(path, b"2" * 100_000)
    assert homes.read(path) == b"2" * 100_000
    assert homes.remove(path)
    assert not homes.remove(path)
    assert list(home.iterdir()) == []


def test_a_file_that_exists_is_not_created(home: Path) -> None:
    home.mkdir()
    assert homes.create_private(home / "one", b"1")
    assert not homes.create_private(home / "one", b"2")
    (home / "link").symlink_to("nowhere")
    assert not homes.create_private(home / "link", b"2")
    assert homes.read(home / "one") == b"1"
    assert sorted(path.name for path in home.iterdir()) == ["link", "one"]


def test_what_killed_writers_left_goes_and_what_lives_stays(home: Path) -> None:
    home.mkdir()
    (home / ".dead.new").write_text("half")
    (home / ".other").write_text("not ours")
    (home / ".folder.new").mkdir()
    (home / ".alive.new").write_text("half")
    with homes.locked(home / ".alive.new", 0):
        homes.write_private(home / "one", b"1")
    assert sorted(path.name for path in home.iterdir()) == [".alive.new", ".folder.new", ".other", "one"]


@pytest.mark.parametrize("what", ["fifo", "folder"])
def test_what_is_no_regular_file_is_not_read(home: Path, what: str) -> None:
    home.mkdir()
    path = home / "one"
    os.mkfifo(path) if what == "fifo" else path.mkdir()
    with pytest.raises(HelmError, match=f"{path} is not a regular file; move it away") as caught:
        homes.read(path)
    assert caught.value.code == "state"


def test_a_file_larger_than_any_of_helms_is_not_read(home: Path) -> None:
    home.mkdir()
    with open(home / "one", "wb") as file:
        file.truncate(homes.MOST_BYTES + 1)
    with pytest.raises(HelmError, match="larger than 4 MiB"):
        homes.read(home / "one")


def test_a_file_is_not_written_where_there_is_no_folder(home: Path) -> None:
    with pytest.raises(HelmError, match="cannot be used: no such file or directory; look at that path") as caught:
        homes.write_private(home / "one", b"1")
    assert caught.value.code == "state"


def test_files_that_vanish_while_they_are_written_are_told(home: Path) -> None:
    def vanish(unfinished: str, path: Path) -> bool:
        os.unlink(unfinished)
        os.replace(unfinished, path)
        return True

    home.mkdir()
    with pytest.raises(HelmError, match="its folder is gone, or files vanish from it") as caught:
        homes._placed(home / "one", b"1", vanish)
    assert caught.value.code == "state"


def cleared(folder: Path, times: int) -> AbstractContextManager[None]:
    """Another writer clears the folder that often, each time between the creation of a file here and its lock."""
    return just_before(fcntl.flock, lambda: homes._clear(folder), times)


def test_a_file_that_another_writer_cleared_away_is_begun_again(home: Path) -> None:
    home.mkdir()
    with cleared(home, 9):
        homes.write_private(home / "one", b"1")
    with cleared(home, 9), homes.replacing(home / "one", b"2"):
        assert homes.read(home / "one") == b"1"
    assert [(path.name, path.read_bytes()) for path in home.iterdir()] == [("one", b"2")]


def test_one_that_is_cleared_away_again_and_again_is_told(home: Path) -> None:
    home.mkdir()
    told = f"{home}/one cannot be written: its folder is gone, or files vanish from it; look at that path"
    with failing("state", told), cleared(home, 10):
        homes.write_private(home / "one", b"1")
    with failing("state", told), cleared(home, 10), homes.replacing(home / "one", b"1"):
        pass
    assert list(home.iterdir()) == []


def test_in_a_folder_that_is_not_helms_nothing_else_is_touched(tmp_path: Path) -> None:
    (tmp_path / ".left.new").write_text("somebody's")
    (tmp_path / "one").symlink_to("nowhere")
    assert not homes.put_private(tmp_path / "one", b"1", over=False)
    assert homes.put_private(tmp_path / "two", b"2", over=False)
    assert not homes.put_private(tmp_path / "two", b"3", over=False)
    assert homes.put_private(tmp_path / "one", b"1", over=True)
    assert [(path.name, path.read_bytes()) for path in sorted(tmp_path.iterdir())] == [
        (".left.new", b"somebody's"),
        ("one", b"1"),
        ("two", b"2"),
    ]
    assert mode(tmp_path / "one") == mode(tmp_path / "two") == 0o600
    with pytest.raises(FileNotFoundError):
        homes.put_private(tmp_path / "none" / "one", b"1", over=True)


def test_a_lock_is_waited_for_only_so_long(home: Path) -> None:
    home.mkdir()
    path = home / "lock"
    with homes.locked(path, 0), pytest.raises(HelmError) as caught, homes.locked(path, 0.05):
        raise AssertionError("two hold the lock")
    assert (caught.value.code, caught.value.message) == (
        "state",
        f"another helm has held {path} for 0.05 seconds; try again when it ended",
    )
    with homes.locked(path, 0):
        assert mode(path) == 0o600


def test_a_full_disk_leaves_the_old_file(home: Path) -> None:
    home.mkdir()
    homes.write_private(home / "shared", b"old")
    assert crowd.alone(acts.fill_file, home) == (
        f"state: {home}/shared cannot be used: the file would be larger than this process may write;"
        " raise its limit (ulimit -f)"
    )
    assert [(path.name, path.read_bytes()) for path in home.iterdir()] == [("shared", b"old")]


def test_a_home_that_cannot_be_written_is_told(nobodys: Path) -> None:
    nobodys.chmod(0o500)
    denied = "permission denied; make it readable and writable for your user"
    assert crowd.unprivileged(acts.write, nobodys) == f"state: {nobodys}/shared cannot be used: {denied}"
    assert crowd.unprivileged(acts.add, nobodys) == f"state: {nobodys}/profiles cannot be used: {denied}"
    assert crowd.unprivileged(acts.open_fresh, nobodys) == f"state: {nobodys}/state.db cannot be used: {denied}"
    assert crowd.unprivileged(acts.list_names, nobodys) == []
    assert crowd.unprivileged(acts.load_config, nobodys) is None
    assert list(nobodys.iterdir()) == []


def test_a_state_that_cannot_be_written_is_told(nobodys: Path) -> None:
    assert crowd.unprivileged(acts.open_fresh, nobodys) is None
    (nobodys / "state.db-journal").unlink()
    nobodys.chmod(0o500)
    advice = "make it and its folder writable for your user, see HELM_CLI_HOME"
    read_only = f"state: {nobodys}/state.db cannot be used: it is not writable; {advice}"
    assert crowd.unprivileged(acts.open_fresh, nobodys) == read_only
    nobodys.chmod(0o700)
    (nobodys / "state.db").chmod(0o400)
    assert crowd.unprivileged(acts.open_fresh, nobodys) == read_only
    (nobodys / "state.db").chmod(0o000)
    denied = f"state: {nobodys}/state.db cannot be used: permission denied; {advice}"
    assert crowd.unprivileged(acts.open_fresh, nobodys) == denied


def test_a_profile_that_cannot_be_read_is_told(nobodys: Path) -> None:
    assert crowd.unprivileged(acts.add_app, nobodys) is True
    path = nobodys / "profiles" / "db" / "app.toml"
    path.chmod(0o000)
    denied = "permission denied; make it readable and writable for your user"
    assert crowd.unprivileged(acts.load, nobodys, "app") == f"state: {path} cannot be used: {denied}"
    (nobodys / "profiles" / "db").chmod(0o000)
    assert crowd.unprivileged(acts.list_names, nobodys) == (f"state: {nobodys}/profiles/db cannot be used: {denied}")
    (nobodys / "profiles" / "db").chmod(0o700)
