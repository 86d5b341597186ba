"""Files as they are listed and read: each that may be, to the byte, and nothing else, whatever stands in its place."""

import os
import socket
import time
from contextlib import closing
from itertools import count, cycle
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helm_cli.drivers import Limits, files, files_record
from helm_cli.drivers.files_list import MOST_LEVELS
from helm_cli.drivers.files_read import MOST_BYTES
from helm_cli.grammar import glob
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Root
from tests.rig.files import Folder, sha256, swapping

ROUNDS: Final = 10_000
LINK: Final = "is a link, and links are never followed"
GONE: Final = "{} was left as it is: it is gone, or something else stands in its place; read it again"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A root with some files in it, beside a file `outside` that nothing may get at."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("outside")
    root = tmp_path / "root"
    (root / "docs" / "deep").mkdir(parents=True)
    for path in ("a.md", "docs/b.md", "docs/deep/c.md", "docs/c.txt", ".env"):
        (root / path).write_text(f"text of {path}\n")
    return Folder(root)


def refused_preview(folder: Folder, path: str, text: str, expected_sha256: str) -> tuple[str, str]:
    """The code and message of a write that is only planned."""
    with pytest.raises(HelmError) as caught:
        folder.preview(path, text, expected_sha256)
    return caught.value.code, caught.value.message


@pytest.mark.contract("C81")
def test_a_list_has_the_files_that_match_by_their_path(folder: Folder) -> None:
    sizes = {".env": 13, "a.md": 13, "docs/b.md": 18, "docs/c.txt": 19, "docs/deep/c.md": 23}
    every = [{"path": path, "size": size} for path, size in sizes.items()]
    assert folder.listed("**") == {"files": every, "truncated": False}
    assert folder.listed("docs/*", "**/c.md", "docs/**") == {"files": every[2:], "truncated": False}
    assert folder.listed("nothing/**", "a.md/*") == {"files": [], "truncated": False}


@pytest.mark.contract("C81", "C85")
def test_a_list_has_regular_files_alone(folder: Folder) -> None:
    os.symlink("../outside/secret", folder.path / "link.md")
    os.symlink("../outside", folder.path / "linked")
    os.symlink("a.md", folder.path / "inner.md")
    os.mkfifo(folder.path / "fifo.md")
    (folder.path / "folder.md").mkdir()
    with closing(socket.socket(socket.AF_UNIX)) as bound:
        bound.bind(os.path.relpath(folder.path / "socket.md"))
        found = folder.listed("*.md", "linked/**", "*/secret")
    assert found == {"files": [{"path": "a.md", "size": 13}], "truncated": False}


@pytest.mark.contract("C81")
def test_of_too_many_files_the_first_thousand_are_told(folder: Folder) -> None:
    for number in range(990):
        (folder.path / "docs" / f"n{number:04}").touch()
    (folder.path / "docs.d").mkdir()
    for number in range(11):
        (folder.path / "docs.d" / f"m{number:02}").touch()
    whole = folder.listed("docs.d/*", "docs/n*")
    assert (len(whole["files"]), whole["truncated"]) == (1000, True)
    paths = [file["path"] for file in whole["files"]]
    # "." stands before "/".
    assert paths == [f"docs.d/m{number:02}" for number in range(11)] + [f"docs/n{number:04}" for number in range(989)]
    (folder.path / "docs" / "n0500").unlink()
    assert folder.listed("docs.d/*", "docs/n*")["truncated"] is False


@given(st.lists(st.lists(st.text("ab-.é/ 0", min_size=1, max_size=3), min_size=1, max_size=3), max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_the_order_is_that_of_the_bytes_and_the_choice_that_of_the_globs(
    tmp_path: Path, trees: list[list[str]]
) -> None:
    root = tmp_path / str(time.perf_counter_ns())
    made = []
    for parts in trees:
        path = root.joinpath(*(part.replace("/", "_") for part in parts if part.strip("."))) / "a"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError:
            continue
        if path.is_file():
            made.append(str(path.relative_to(root)))
    root.mkdir(exist_ok=True)
    for globs in (["**"], ["*/*"], ["**/a/**", "a*/?"], ["é/**"]):
        expected = sorted({path for path in made if any(glob.matches(one, path) for one in globs)}, key=str.encode)
        assert [file["path"] for file in Folder(root).listed(*globs)["files"]] == expected


def test_names_that_no_json_should_carry_are_counted(folder: Folder) -> None:
    for name in (b"\xff.md", b"x\n.md", b"\x1b[2J.md", "\x9b.md".encode()):
        (folder.path / os.fsdecode(name)).touch()
    (folder.path / os.fsdecode(b"\xfe")).mkdir()
    (folder.path / "back\\slash.md").touch()
    (folder.path / "caf\u00e9\u00a0\u200b.md").touch()
    found = folder.listed("*.md", "**/x")
    assert [file["path"] for file in found["files"]] == ["a.md", "caf\u00e9\u00a0\u200b.md"]
    assert found["skipped"] == 6
    assert "skipped" not in folder.listed("docs/*")


def test_a_very_deep_tree_is_listed_as_far_as_descriptors_go(folder: Folder) -> None:
    here = os.open(folder.path, os.O_RDONLY)
    for _ in range(MOST_LEVELS + 5):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
        os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    found = folder.listed("**/f")
    assert (len(found["files"]), found["skipped"]) == (MOST_LEVELS - 1, 1)
    before = len(os.listdir("/proc/self/fd"))
    folder.listed("**/f")
    deep = "d/" * (MOST_LEVELS + 5) + "f"
    assert folder.call("read", path=deep)["text"] == ""
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_list_that_takes_too_long_is_a_timeout(folder: Folder) -> None:
    error = folder.error("list", Limits(seconds=0), paths=["**"])
    assert (error.code, error.message) == ("timeout", "the listing took longer than 0 s; declare paths that reach less")


def test_the_limit_of_a_list_holds_whatever_the_names(folder: Folder) -> None:
    for number in range(400):
        (folder.path / f"{'a' * 240}{number:012b}".replace("0", "a").replace("1", "x")).touch()
    hostile = ["*" + "a?" * 63 + "b" + "?" * number for number in range(1, 17)]
    begun = time.process_time()
    assert folder.listed(*hostile) == {"files": [], "truncated": False}
    assert time.process_time() - begun < 3
    # Looked at for every name, in a folder without others too.
    assert folder.error("list", Limits(seconds=0), paths=["*"]).code == "timeout"


def test_reading_many_has_its_limit_too(folder: Folder) -> None:
    error = folder.error("read", Limits(seconds=0), paths=["a.md"])
    told = "reading took longer than 0 s; ask for fewer files at once"
    assert (error.code, error.message) == ("timeout", told)


def test_planted_names_of_unfinished_writes_mean_nothing(folder: Folder) -> None:
    for number in range(300):
        (folder.path / f"{files_record.PREFIX}{number:032x}").write_text("planted")
    before = folder.names()
    assert len(folder.listed("*")["files"]) == 302
    assert folder.listed(".helm-write-*")["files"][0] == {"path": files_record.PREFIX + "0" * 32, "size": 7}
    folder.call("read", path="a.md")
    folder.write("a.md", "new")
    assert folder.names() == before
    assert {(folder.path / name).read_text() for name in before if name.startswith(".helm-write")} == {"planted"}


def test_a_large_tree_is_listed_faster_than_walked(folder: Folder) -> None:
    for number in range(80):
        at = folder.path / f"part{number % 8}" / f"s{number}"
        at.mkdir(parents=True)
        for file in range(250):
            (at / f"f{file}.txt").touch()
    globs = ["part*/*/*.md", *(f"**/*{letter}*.q?" for letter in "abcdefghijklmno")]

    def bare(path: str) -> int:
        count = 0
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    count += bare(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
        return count

    def seconds(work: Any) -> float:
        times = []
        for _ in range(5):
            begun = time.process_time()
            work()
            times.append(time.process_time() - begun)
        return min(times)

    assert bare(str(folder.path)) == 20_005
    bare_seconds = seconds(lambda: bare(str(folder.path)))
    assert seconds(lambda: folder.listed(*globs)) < 2 * bare_seconds
    # Where no glob reaches, nothing is looked at.
    assert seconds(lambda: folder.listed("docs/**")) < bare_seconds / 10


@pytest.mark.contract("C82")
@pytest.mark.parametrize(
    "data", [b"", b"\xef\xbb\xbfone\r\ntwo\r", b"\0\x1b[2J\x7f", "é\u2028\u0085\n".encode(), b"x" * MOST_BYTES]
)
def test_a_text_is_read_to_the_byte(folder: Folder, data: bytes) -> None:
    (folder.path / "a.md").write_bytes(data)
    assert folder.call("read", path="a.md") == {"path": "a.md", "text": data.decode(), "sha256": sha256(data)}


@pytest.mark.contract("C82", "C83")
@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (b"caf\xe9", "not_text", "a.md is not UTF-8 at byte 3, so it cannot be given as text"),
        (b"\xed\xa0\x80", "not_text", "a.md is not UTF-8 at byte 0, so it cannot be given as text"),
        (
            b"x" * (MOST_BYTES + 1),
            "too_large",
            "a.md has more than 262144 bytes, the most of a file that can be used",
        ),
    ],
)
def test_what_cannot_be_read_as_text(folder: Folder, data: bytes, code: str, message: str) -> None:
    (folder.path / "a.md").write_bytes(data)
    error = folder.error("read", path="a.md")
    assert (error.code, error.message) == (code, message)
    error = folder.write_error("a.md", "new")
    if code == "too_large":  # such a text was never read, so it came since
        code, message = "conflict", "a.md was left as it is: it is not the text that was read; read it again"
    assert (error.code, error.message) == (code, message)
    assert (folder.path / "a.md").read_bytes() == data


@pytest.mark.contract("C84")
def test_many_files_have_their_own_errors(folder: Folder) -> None:
    (folder.path / "latin").write_bytes(b"\xe9")
    os.symlink("a.md", folder.path / "link")
    found = folder.call("read", paths=["docs/b.md", "latin", "link", "none", "docs", "a.md"])
    assert [file.get("error", file.get("text")) for file in found["files"]] == [
        "text of docs/b.md\n",
        {"code": "not_text", "message": "latin is not UTF-8 at byte 0, so it cannot be given as text"},
        {"code": "refused", "message": f"link is refused: it {LINK}"},
        {"code": "refused", "message": "there is no file none"},
        {"code": "refused", "message": "docs is no regular file"},
        "text of a.md\n",
    ]
    assert found["truncated"] is False
    assert found["files"][0] == {"path": "docs/b.md", "text": "text of docs/b.md\n", "sha256": folder.sha("docs/b.md")}
    assert list(found["files"][1]) == ["path", "error"]


@pytest.mark.contract("C84")
def test_many_files_have_two_mib_of_text(folder: Folder) -> None:
    for number in range(10):
        (folder.path / f"n{number}").write_text("x" * 250 * 1024)
    found = folder.call("read", paths=[f"n{number}" for number in range(10)])
    assert ([file["path"] for file in found["files"]], found["truncated"]) == ([f"n{n}" for n in range(8)], True)
    for number in range(8):
        (folder.path / f"n{number}").write_text("x" * MOST_BYTES)
    found = folder.call("read", paths=[f"n{number}" for number in range(8)])
    assert (len(found["files"]), found["truncated"]) == (8, False)


@pytest.mark.contract("C85")
@pytest.mark.parametrize("path", ["place", "place/secret", "docs/place", "docs/place/secret", "docs/deep/c.md/x"])
@pytest.mark.parametrize("verb", ["read", "write", "many"])
def test_links_are_refused_wherever_they_stand(folder: Folder, path: str, verb: str) -> None:
    where = folder.path / ("docs" if path.startswith("docs") else "")
    os.symlink(os.path.relpath(folder.path.parent / "outside", where), where / "place")
    request: dict[str, Any] = {"path": path}
    if verb == "write":
        request |= {"expected_sha256": sha256(b"outside"), "text": "changed"}
    if verb == "many":
        [told] = folder.call("read", paths=[path])["files"]
        code, message = told["error"]["code"], told["error"]["message"]
    elif verb == "write":
        gone = folder.error(verb, **request)
        assert (gone.code, gone.message) == ("conflict", GONE.format(path))
        code, message = refused_preview(folder, **request)
    else:
        error = folder.error(verb, **request)
        code, message = error.code, error.message
    assert code == "refused"
    if "place" in path:
        what = "it" if path.endswith("place") else "a folder in its path"
        assert message == f"{path} is refused: {what} {LINK}"
    else:
        assert message == f"there is no file {path}: what its path goes through is no folder"
    assert (folder.path.parent / "outside" / "secret").read_text() == "outside"


@pytest.mark.contract("C85")
@pytest.mark.parametrize("to", ["/etc/passwd", "../outside/secret", "a.md", "missing", "link"])
def test_a_link_is_refused_wherever_it_leads(folder: Folder, to: str) -> None:
    os.symlink(to, folder.path / "link")
    told = ("refused", f"link is refused: it {LINK}")
    error = folder.error("read", path="link")
    assert (error.code, error.message) == told
    assert refused_preview(folder, path="link", expected_sha256="0" * 64, text="") == told
    error = folder.error("write", path="link", expected_sha256="0" * 64, text="")
    assert (error.code, error.message) == ("conflict", GONE.format("link"))


def test_nothing_waits_for_what_is_no_file(folder: Folder) -> None:
    os.mkfifo(folder.path / "fifo")
    os.mkfifo(folder.path / "way")
    with closing(socket.socket(socket.AF_UNIX)) as bound:
        bound.bind(os.path.relpath(folder.path / "socket"))
        begun = time.monotonic()
        for path in ("fifo", "socket", "docs", "way"):
            assert folder.error("read", path=path).message == f"{path} is no regular file"
            assert refused_preview(folder, path, "", "0" * 64) == ("refused", f"{path} is no regular file")
            assert folder.write_error(path, "", "0" * 64).message == GONE.format(path)
        assert folder.error("read", path="way/in").code == "refused"
        assert time.monotonic() - begun < 2
    devices = Folder(Path("/dev"))
    assert devices.error("read", path="tty").message == "tty is no regular file"
    assert devices.error("read", path="zero").message == "zero is no regular file"


def test_a_path_that_the_system_cannot_have_is_missing(folder: Folder) -> None:
    assert folder.error("read", path="x" * 300).message == f"there is no file {'x' * 300}"


@pytest.mark.contract("C85")
def test_nothing_gets_into_helm_s_own_home(folder: Folder) -> None:
    home = folder.path / ".helm"
    home.mkdir()
    (home / "credentials.json").write_text("{}")
    held = Folder(folder.path, private=home)
    told = ".helm/credentials.json is refused: it is in helm's own home"
    assert held.error("read", path=".helm/credentials.json").message == told
    changed = held.error("write", path=".helm/credentials.json", expected_sha256=sha256(b"{}"), text="")
    assert changed.message == told
    assert "credentials" not in str(held.listed("**", ".helm/*"))
    inside = Folder(home, private=home)
    assert inside.error("list", paths=["**"]).message == "the workspace is refused: it is in helm's own home"
    assert folder.call("read", path=".helm/credentials.json")["text"] == "{}"


def test_a_root_that_is_gone_or_became_a_link(folder: Folder) -> None:
    gone = Folder(folder.path.parent / "gone")
    told = "the workspace is gone, or cannot be entered; see that it is there"
    assert gone.error("list", paths=["**"]).message == told
    os.symlink("root", folder.path.parent / "gone")
    assert gone.error("list", paths=["**"]).message == told
    assert Folder(gone.path / "docs").error("read", path="b.md").message == told
    project = Root("site", "/nowhere", project=True)
    with pytest.raises(HelmError, match=r"^the folder of the project site is gone"):
        files.probe(project, None, files.LIMITS)
    assert files.probe(folder.root, None, files.LIMITS) == "a folder that can be read"


def test_preparing_finds_what_a_call_would(folder: Folder) -> None:
    folder.prepare("list", paths=["**"])
    folder.prepare("read", path="a.md")
    folder.prepare("write", path="a.md", expected_sha256=folder.sha("a.md"), text="new")
    assert (folder.path / "a.md").read_text() == "text of a.md\n"
    with pytest.raises(HelmError, match=r"^there is no file b\.md$"):
        folder.prepare("read", path="b.md")
    with pytest.raises(HelmError, match="it is not the text that was read"):
        folder.prepare("write", path="a.md", expected_sha256="0" * 64, text="new")


@pytest.mark.contract("C85")
@pytest.mark.parametrize("to", ["../outside/secret", "/etc/passwd"])
def test_a_file_that_turns_into_a_link_all_the_time_is_never_followed(folder: Folder, to: str) -> None:
    os.symlink(to, folder.path / "other.md")
    texts = set()
    with swapping(folder.path, "a.md", "other.md"):
        for _ in range(ROUNDS):
            try:
                texts.add(folder.call("read", path="a.md")["text"])
            except HelmError as error:
                assert error.code == "refused"
                texts.add("refused")
    assert texts == {"text of a.md\n", "refused"}


@pytest.mark.contract("C85")
def test_a_folder_that_turns_into_a_link_all_the_time_is_never_followed(folder: Folder) -> None:
    (folder.path / "docs" / "secret").write_text("inside, and longer")
    os.symlink("../outside", folder.path / "other")
    texts, sizes = set(), set()
    with swapping(folder.path, "docs", "other"):
        for number in range(ROUNDS):
            if number % 2:
                [file] = folder.call("read", paths=["docs/secret"])["files"]
                texts.add(file.get("text", file.get("error", {}).get("code")))
            else:
                sizes |= {file["size"] for file in folder.listed("docs/secret")["files"]}
    assert texts == {"inside, and longer", "refused"}
    assert sizes == {18}


@pytest.mark.contract("C85", "C88")
@pytest.mark.parametrize(("one", "other", "path"), [("a.md", "link", "a.md"), ("docs", "linked", "docs/secret")])
def test_a_write_never_goes_through_what_turns_into_a_link(folder: Folder, one: str, other: str, path: str) -> None:
    (folder.path / "docs" / "secret").write_text("outside")
    (folder.path / "a.md").write_text("outside")
    os.symlink("../outside/secret", folder.path / "link")
    os.symlink("../outside", folder.path / "linked")
    before = folder.names()
    written = 0
    with swapping(folder.path, one, other):
        for round_ in count():
            if round_ >= 400 and (written or round_ == 20_000):
                break
            try:
                folder.write(path, "changed", sha256(b"outside"))
            except HelmError as error:
                assert error.code in ("refused", "conflict"), error
                continue
            written += 1
            # Looked at one after the other, both may be links for once: they are swapped all the time.
            real = next(place for place in cycle((one, other)) if not (folder.path / place).is_symlink())
            (folder.path / path.replace(one, real, 1)).write_text("outside")
    assert written > 0
    assert (folder.path.parent / "outside" / "secret").read_text() == "outside"
    assert (folder.path.parent / "outside").stat().st_nlink == 2
    assert os.listdir(folder.path.parent / "outside") == ["secret"]
    # What was swapped twice around a write is kept.
    assert [name for name in folder.names() if ".kept-" not in name] == before
    assert not [name for name in folder.names() if name.startswith(files_record.PREFIX)]
