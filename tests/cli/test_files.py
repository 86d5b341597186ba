"""Files through the whole program: what an approved extension may list, read and write, and how a person sees it."""

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.program import Finished, Helm, begun
from tests.rig.terminal import DOWN, ENTER, Terminal, at_terminal

HELM: Final = (sys.executable, "-m", "helm_cli")
YES: Final = (DOWN, 0.3, ENTER)
OLD: Final = "".join(f"line {number}\n" for number in range(1, 21))
NEW: Final = OLD.replace("line 10\n", "line ten\n")
MANIFEST: Final[dict[str, Any]] = {
    "id": "notes",
    "permissions": {"write": True},
    "connections": [
        {
            "id": "ws",
            "kind": "files",
            "root": "workspace",
            "paths": ["docs/**", "*.md"],
            "operations": ["list", "read", "write"],
        },
        {
            "id": "site",
            "kind": "files",
            "root": "project",
            "paths": ["**/*.md"],
            "operations": ["list", "read", "write"],
        },
        {"id": "look", "kind": "files", "root": "workspace", "paths": ["docs/**"], "operations": ["list"]},
    ],
}


def approve(helm: Helm, manifest: dict[str, Any]) -> None:
    Path("notes").mkdir(exist_ok=True)
    Path("notes", "manifest.json").write_text(json.dumps(manifest))
    digest = helm("plugin", "review", "notes", "-o", "json").json["digest"]
    approved = helm("plugin", "review", "notes", "--approve", digest)
    assert approved.status == 0, approved


@pytest.fixture
def workspace(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with the extension, some files, and the project `site` beside it."""
    where = tmp_path / "workspace"
    (where / "docs").mkdir(parents=True)
    (where / "docs" / "a.md").write_text(OLD)
    (where / "docs" / "b.txt").write_text("b\n")
    (where / "secret.txt").write_text("secret")
    (tmp_path / "site" / "pages").mkdir(parents=True)
    (tmp_path / "site" / "pages" / "index.md").write_text("# Site\n")
    monkeypatch.chdir(where)
    approve(helm, MANIFEST)
    assert helm("project", "add", str(tmp_path / "site")).status == 0
    return where


def sha(path: str | Path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def args(**arguments: Any) -> tuple[str, str]:
    return "--args", json.dumps(arguments)


def writing(path: str = "docs/a.md", text: str = NEW, **more: Any) -> tuple[str, ...]:
    expected = more.pop("expected_sha256", None) or sha(path)
    return ("call", "ws", "write", *args(path=path, text=text, expected_sha256=expected, **more))


def refused(finished: Finished, code: str = "refused") -> str:
    status = {"refused": 3, "too_large": 11, "not_text": 11, "conflict": 15, "rate_limited": 8}[code]
    assert finished.status == status, finished
    envelope = finished.json
    assert (envelope["ok"], envelope["data"], envelope["error"]["code"]) == (False, None, code)
    assert finished.err == f"helm: {envelope['error']['message']}\n"
    return str(envelope["error"]["message"])


def terminal(*words: str, size: tuple[int, int] = (110, 40)) -> Any:
    return at_terminal(*HELM, *words, size=size)


def asked(screen: Terminal) -> list[str]:
    screen.wait_for("Any other key cancels")
    return [line for line in screen.screen() if line.strip()]


@pytest.mark.contract("C81")
def test_a_list(workspace: Path, helm: Helm) -> None:
    assert helm("call", "ws", "list").json == {
        "ok": True,
        "data": {
            "files": [{"path": "docs/a.md", "size": len(OLD)}, {"path": "docs/b.txt", "size": 2}],
            "truncated": False,
        },
        "error": None,
    }
    assert helm("call", "ws", "list", "-o", "csv").out == f"path,size\r\ndocs/a.md,{len(OLD)}\r\ndocs/b.txt,2\r\n"
    assert helm("call", "ws", "list", "-o", "ndjson").out.endswith('{"path":"docs/b.txt","size":2}\n')
    assert helm("call", "ws", "list", "-o", "text").status == 2


@pytest.mark.contract("C81")
def test_its_arguments_are_told(workspace: Path, helm: Helm) -> None:
    told = helm("call", "site")
    assert (told.status, told.err) == (
        2,
        "helm: a call of site names one of its operations: list(project), read(project, path or paths),"
        " write(project, path, text, expected_sha256) (writes)\n",
    )
    page = helm("plugin", "show", "notes").out
    assert "    WRITE site write(project, path, text, expected_sha256)\n" in page
    reference = helm("plugin", "reference").out
    assert all(f"`{name}`" in reference for name in ("path", "paths", "text", "expected_sha256", "project"))
    assert " yet" not in reference


def test_more_than_a_thousand_files_say_so(workspace: Path, helm: Helm) -> None:
    for number in range(1000):
        Path("docs", f"n{number:04}").touch()
    data = helm("call", "ws", "list").json["data"]
    assert (len(data["files"]), data["files"][-1]["path"], data["truncated"]) == (1000, "docs/n0997", True)
    Path("docs", "\x1bodd").touch()
    with terminal("call", "ws", "list", size=(100, 20)) as screen:
        assert screen.status() == 0
        assert (
            screen.screen()[-1].strip()
            == "1000 rows; more files match; 1 left out, whose names cannot be shown or which cannot be read"
        )


@pytest.mark.contract("C82")
def test_a_read(workspace: Path, helm: Helm) -> None:
    Path("docs", "c.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\0")
    assert helm("call", "ws", "read", "--arg", "path=docs/c.md").json["data"] == {
        "path": "docs/c.md",
        "text": "\ufeffone\r\ntwo\0",
        "sha256": sha("docs/c.md"),
    }
    assert helm("call", "ws", "read", "--arg", "path=docs/c.md", "-o", "text").out == "\ufeffone\r\ntwo\0"
    with terminal("call", "ws", "read", "--arg", "path=docs/c.md") as screen:
        assert screen.status() == 0
        assert screen.screen()[:2] == ["\\u{feff}one\\u{d}", "two\\u{0}"]
    Path("docs", "latin").write_bytes(b"caf\xe9")
    told = refused(helm("call", "ws", "read", "--arg", "path=docs/latin"), "not_text")
    assert told == "docs/latin is not UTF-8 at byte 3, so it cannot be given as text"


@pytest.mark.contract("C82", "C79", "C85")
@pytest.mark.parametrize(
    "path",
    ["secret.txt", "../site/pages/index.md", "/etc/passwd", "docs/../secret.txt", "docs", "docs/none", "docs/link"],
)
def test_a_read_of_anything_else_is_refused(workspace: Path, helm: Helm, path: str) -> None:
    os.symlink("../secret.txt", "docs/link")
    refused(helm("call", "ws", "read", "--arg", f"path={path}"))
    refused(helm(*writing(path, expected_sha256=sha("secret.txt"))))
    assert Path("secret.txt").read_text() == "secret"


@pytest.mark.contract("C83")
def test_a_read_of_256_kib(workspace: Path, helm: Helm) -> None:
    Path("docs", "big").write_text("x" * 262_144)
    assert len(helm("call", "ws", "read", "--arg", "path=docs/big").json["data"]["text"]) == 262_144
    Path("docs", "big").write_text("x" * 262_145)
    told = refused(helm("call", "ws", "read", "--arg", "path=docs/big"), "too_large")
    assert told == "docs/big has more than 262144 bytes, the most of a file that can be used"


@pytest.mark.contract("C84")
def test_a_read_of_many(workspace: Path, helm: Helm) -> None:
    paths = []
    for number in range(10):
        paths.append(f"docs/n{number}")
        Path(paths[-1]).write_text("x" * 250 * 1024)
    data = helm("call", "ws", "read", *args(paths=["docs/none", "docs/a.md", *paths])).json["data"]
    error = {"code": "refused", "message": "there is no file docs/none"}
    assert data["files"][0] == {"path": "docs/none", "error": error}
    assert data["files"][1] == {"path": "docs/a.md", "text": OLD, "sha256": sha("docs/a.md")}
    assert (len(data["files"]), data["truncated"]) == (10, True)
    told = "the argument paths must be a list of 1 to 100 paths"
    assert refused(helm("call", "ws", "read", *args(paths=[]))) == told
    assert refused(helm("call", "ws", "read", *args(paths=["docs/a.md"] * 101))) == told
    assert len(helm("call", "ws", "read", *args(paths=["docs/a.md"] * 100)).json["data"]["files"]) == 100


@pytest.mark.contract("C78")
def test_a_project_is_named_registered_and_there(workspace: Path, helm: Helm) -> None:
    call = ("call", "site", "list")
    assert helm(*call, "--arg", "project=site").json["data"]["files"] == [{"path": "pages/index.md", "size": 7}]
    needed = "every call of site needs the argument project, the id of a registered project; see helm project list"
    assert refused(helm(*call)) == needed
    assert refused(helm(*call, "--arg", "project=7")) == needed
    assert refused(helm(*call, "--arg", "project=none")) == (
        "the workspace has no project none; register it with helm project add, or see helm project list"
    )
    told = "ws works in the workspace itself, so it takes no project"
    assert refused(helm("call", "ws", "list", "--arg", "project=site")) == told
    (workspace.parent / "site").rename(workspace.parent / "moved")
    gone = "the folder of the project site is missing or was moved; see helm project list, and add it anew"
    assert refused(helm(*call, "--arg", "project=site")) == gone
    os.symlink("moved", workspace.parent / "site")
    assert refused(helm(*call, "--arg", "project=site")) == gone


@pytest.mark.contract("C80")
def test_what_the_globs_of_a_connection_match(workspace: Path, helm: Helm) -> None:
    globs = ["*.txt", "src/?.py", "a/**", "**/x/*.md", "[1]"]
    connection = {"id": "g", "kind": "files", "root": "workspace", "paths": globs, "operations": ["list"]}
    approve(helm, {"id": "notes", "connections": [connection]})
    matched = ["[1]", "a/.hidden", "a/b/c", "deep/x/a.md", "secret.txt", "src/a.py", "x/a.md"]
    others = ["1", "A/b", "deep/x/y/a.md", "docs/c.txt", "src/ab.py", "src/a/b.py", "x/a.mdx", "src/a.PY"]
    for path in matched + others:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    assert [file["path"] for file in helm("call", "g", "list").json["data"]["files"]] == matched


@pytest.mark.contract("C79")
@pytest.mark.parametrize(
    "paths", [[], ["/etc/*"], ["../x"], ["a/./b"], [f"n{number}" for number in range(17)], ["a//b"]]
)
def test_globs_that_cannot_be_declared(workspace: Path, helm: Helm, paths: list[str]) -> None:
    connection = {"id": "g", "kind": "files", "root": "workspace", "paths": paths, "operations": ["list"]}
    Path("notes", "manifest.json").write_text(json.dumps({"id": "notes", "connections": [connection]}))
    assert helm("plugin", "validate", "notes").status == 16
    assert helm("call", "ws", "list").status == 3


@pytest.mark.contract("C86")
def test_a_write_is_declared_and_permitted(workspace: Path, helm: Helm) -> None:
    told = refused(helm("call", "look", "write", *args(path="docs/a.md", text="", expected_sha256=sha("docs/a.md"))))
    assert told == "look declares no operation write; it has list"
    manifest = {**MANIFEST, "permissions": {"write": False}}
    Path("notes", "manifest.json").write_text(json.dumps(manifest))
    assert helm("plugin", "validate", "notes").status == 16
    assert Path("docs/a.md").read_text() == OLD


@pytest.mark.contract("C87")
def test_a_write_needs_its_arguments_and_is_bounded(workspace: Path, helm: Helm) -> None:
    call = ("call", "ws", "write")
    lacks = "write needs the argument"
    told = refused(helm(*call, *args(path="docs/a.md", text="")))
    assert told == f"{lacks} expected_sha256: the sha256 that a read gave (-o json shows it)"
    told = refused(helm(*call, *args(path="docs/a.md", expected_sha256="0" * 64)))
    assert told == f"{lacks} text: the whole new text of the file"
    told = refused(helm(*call, *args(text="", expected_sha256="0" * 64)))
    assert told == f"{lacks} path: the path of a file, relative to the root"
    whole: dict[str, Any] = {"path": "docs/a.md", "text": "", "expected_sha256": sha("docs/a.md")}
    empty = len(json.dumps({"connection": "ws", "operation": "write", "arguments": whole}, separators=(",", ":")))

    def written(size: int) -> Finished:
        return helm(*call, "--args", "-", stdin=json.dumps({**whole, "text": "x" * size}))

    assert written(262_144 - empty).status == 7
    assert "262145 bytes as JSON" in refused(written(262_145 - empty), "too_large")
    assert refused(written(262_145), "too_large") == "the text is 262145 bytes; at most 262144 can be written"


@pytest.mark.contract("C90", "C91", "C111")
def test_the_dialog_shows_where_and_a_line_diff(workspace: Path) -> None:
    Path("docs/a.md").chmod(0o640)
    expected = sha("docs/a.md")
    with terminal(*writing()) as screen:
        assert asked(screen) == [
            "Confirm file change",
            "  extension        notes",
            f"  workspace        {workspace}",
            "  connection       ws",
            "  operation        write",
            "  root             workspace",
            "  path             docs/a.md",
            f"  expected_sha256  {expected}",
            "  change of docs/a.md: 1 line out, 1 line in",
            "    … 6 lines unchanged",
            "      line 7",
            "      line 8",
            "      line 9",
            "    - line 10",
            "    + line ten",
            "      line 11",
            "      line 12",
            "      line 13",
            "    … 7 lines unchanged",
            "> Cancel",
            "  Write",
            screen.screen()[-1],
        ]
        assert screen.screen()[-1].startswith("Down, then Enter: Write. Any other key cancels.")
        assert b"\x1b[31m- line 10" in screen.raw
        assert b"\x1b[32m+ line ten" in screen.raw
        screen.send(*YES)
        assert screen.status() == 0
        assert f"sha256  {sha('docs/a.md')}" in screen.screen()
    assert Path("docs/a.md").read_text() == NEW
    assert Path("docs/a.md").stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir("docs")) == ["a.md", "b.txt"]


@pytest.mark.contract("C91")
def test_a_long_diff_is_paged_in_full(workspace: Path) -> None:
    with terminal(*writing(text=NEW * 60)) as screen:
        screen.wait_for("Space: go on")
        screen.send(b"G")
        screen.wait_for("    + line 20")
        screen.wait_for("Enter: answer")
        screen.send(ENTER)
        asked(screen)
        screen.send(ENTER)
        assert screen.status() == 6
    assert Path("docs/a.md").read_text() == OLD


@pytest.mark.contract("C91")
def test_a_write_in_a_project_says_which_and_is_confirmed_elsewhere(workspace: Path, helm: Helm) -> None:
    page = workspace.parent / "site" / "pages" / "index.md"
    more = args(project="site", path="pages/index.md", text="# My site\n", expected_sha256=sha(page))
    ended = helm("call", "site", "write", *more)
    assert ended.status == 7
    with terminal("confirm", ended.json["error"]["confirmation"]) as screen:
        shown = asked(screen)
        assert "  root             project site" in shown
        assert shown[-5:-1] == ["    - # Site", "    + # My site", "> Cancel", "  Write"]
        assert page.read_text() == "# Site\n"
        screen.send(*YES)
        assert screen.status() == 0
    assert page.read_text() == "# My site\n"


def test_hostile_texts_are_shown_and_do_nothing(workspace: Path) -> None:
    text = "\x1b]0;owned\x07\x1b[2J\u202eevil\n> Cancel\n\x9b31m\r\n" + OLD
    with terminal(*writing(text=text)) as screen:
        shown = asked(screen)
        assert "    + \\u{1b}]0;owned\\u{7}\\u{1b}[2J\\u{202e}evil" in shown
        assert "    + > Cancel" in shown
        assert "    + \\u{9b}31m\\u{d}" in shown
        for hostile in (b"\x1b]0;", b"\x07", "\u202e".encode(), "\x9b".encode()):
            assert hostile not in screen.raw
        screen.send(ENTER)
        assert screen.status() == 6


@pytest.mark.contract("C88", "C91")
def test_a_change_before_it_is_asked_about_is_a_conflict(workspace: Path, helm: Helm) -> None:
    call = writing()
    Path("docs/a.md").write_text("changed\n")
    told = "docs/a.md was left as it is: it is not the text that was read; read it again"
    assert refused(helm(*call), "conflict") == told
    with terminal(*call) as screen:
        assert screen.status() == 15
        screen.wait_for(told)
    assert helm("confirm", "--list", "-o", "json").json == []
    assert Path("docs/a.md").read_text() == "changed\n"


@pytest.mark.contract("C88")
@pytest.mark.parametrize("change", ["edit", "delete", "link", "save"])
def test_a_change_between_the_question_and_the_write_is_a_conflict(workspace: Path, change: str) -> None:
    with terminal(*writing()) as screen:
        asked(screen)
        file = Path("docs/a.md")
        if change == "edit":
            file.write_text("changed\n")
        elif change == "save":
            Path("docs/new").write_text("changed\n")
            os.replace("docs/new", file)
        else:
            file.unlink()
            if change == "link":
                os.symlink("../secret.txt", file)
        screen.send(*YES)
        assert screen.status() == 15
        screen.wait_for("docs/a.md")
    assert Path("secret.txt").read_text() == "secret"
    if change == "delete":
        assert not file.exists()
    else:
        assert os.readlink(file) == "../secret.txt" if change == "link" else file.read_text() == "changed\n"
    assert sorted(os.listdir("docs")) == (["b.txt"] if change == "delete" else ["a.md", "b.txt"])


@pytest.mark.contract("C88")
@pytest.mark.parametrize("change", ["edit", "grow", "delete", "link", "not text"])
def test_who_waits_is_told_of_a_conflict_that_shows_when_it_is_looked_at(
    workspace: Path, helm: Helm, change: str
) -> None:
    file = Path("docs/a.md")
    with begun(*writing(), "--wait") as call:
        assert call.stderr
        id_ = call.stderr.readline().split("helm confirm ")[1].split()[0]
        file.unlink()
        if change == "link":
            os.symlink("../secret.txt", file)
        elif change != "delete":
            file.write_bytes({"edit": b"changed\n", "grow": b"x" * 262_145, "not text": b"\xff"}[change])
        with terminal("confirm", id_) as screen:
            assert screen.status() == 15
        out, _ = call.communicate(timeout=20)
    assert (call.returncode, json.loads(out)["error"]["code"]) == (15, "conflict")
    assert helm("confirm", "--list", "-o", "json").json == []
    assert [entry["outcome"] for entry in helm("history", "-o", "json").json] == ["conflict"]


@pytest.mark.contract("C89")
def test_a_write_of_a_file_that_is_not_there_creates_none(workspace: Path, helm: Helm) -> None:
    before = sorted(os.listdir("docs"))
    told = refused(helm(*writing("docs/none.md", expected_sha256="0" * 64)))
    assert told == "there is no file docs/none.md"
    assert sorted(os.listdir("docs")) == before


@pytest.mark.contract("C13", "C85")
def test_nothing_of_helm_s_own_home_is_read_through_a_workspace_that_holds_it(
    helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELM_CLI_HOME", str(tmp_path / "docs" / "home"))
    monkeypatch.chdir(tmp_path)
    approve(helm, MANIFEST)
    Path("docs", "home", "credentials.json").write_text("{}")
    assert helm("call", "ws", "list").json["data"]["files"] == []
    told = refused(helm("call", "ws", "read", "--arg", "path=docs/home/credentials.json"))
    assert told == "docs/home/credentials.json is refused: it is in helm's own home"


def test_a_dry_run_of_a_write_sends_nothing(workspace: Path, helm: Helm) -> None:
    ended = helm(*writing(), "--dry-run")
    request = {"root": "workspace", "path": "docs/a.md", "expected_sha256": sha("docs/a.md"), "text": NEW}
    assert ended.json["data"]["request"] == request
    assert helm(*writing(text="x"), "--dry-run", "-o", "data").json["kind"] == "files"
    assert Path("docs/a.md").read_text() == OLD
