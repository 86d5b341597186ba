"""A files call's plan: what of the declaration and the arguments is sent, and every refusal in its words."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.kinds import files
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.jsontext import Json, dump
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Root

GLOBS = ("docs/**", "*.md")
SHA = "a" * 64
ROOTS = {"workspace": Root("workspace", "/w"), "project": Root("site", "/p", project=True)}


def plan(verb: str, arguments: dict[str, Any], root: str = "workspace") -> Plan:
    operation = Operation(verb, "write" if verb == "write" else "read", None, {})
    connection = Connection("notes", "files", None, None, (operation,), {"root": root, "paths": GLOBS})
    extension = Extension("x", "X", "1", "", "helm", True, (connection,), ())
    return files.plan(extension, connection, operation, arguments, ROOTS[root])


def fault(verb: str, arguments: dict[str, Any], root: str = "workspace") -> HelmError:
    with pytest.raises(HelmError) as caught:
        plan(verb, arguments, root)
    assert caught.value.message.isprintable()
    return caught.value


def refusal(verb: str, arguments: dict[str, Any], root: str = "workspace") -> str:
    error = fault(verb, arguments, root)
    assert error.code == "refused"
    return error.message


def test_a_list_asks_for_the_declared_globs() -> None:
    assert plan("list", {"project": "site"}, "project") == Plan(
        kind="files",
        effect="read",
        extension="x",
        connection="notes",
        operation="list",
        group=None,
        profile=None,
        driver="files",
        shape="files",
        title="Confirm file change",
        verb="Write",
        noun="operation",
        request={"root": "project site", "paths": ["docs/**", "*.md"]},
    )


def test_a_read_asks_for_one_file_or_for_many() -> None:
    one, many = plan("read", {"path": "docs/a"}), plan("read", {"paths": ["a.md", "docs/b", "a.md"]})
    assert (one.shape, one.request) == ("text", {"root": "workspace", "path": "docs/a"})
    assert (many.shape, many.request) == ("json", {"root": "workspace", "paths": ["a.md", "docs/b", "a.md"]})


@pytest.mark.contract("C87", "C108")
def test_a_write_names_the_file_its_expected_hash_and_the_new_text() -> None:
    made = plan("write", {"text": "new\0\r\n\ufeff", "path": "a.md", "expected_sha256": SHA})
    assert (made.effect, made.shape, made.title, made.verb, made.previewed) == (
        "write",
        "object",
        "Confirm file change",
        "Write",
        True,
    )
    assert list(made.request.items()) == [
        ("root", "workspace"),
        ("path", "a.md"),
        ("expected_sha256", SHA),
        ("text", "new\0\r\n\ufeff"),
    ]


@pytest.mark.parametrize(
    ("verb", "arguments", "root", "message"),
    [
        ("list", {"path": "a.md"}, "workspace", "list has no argument path; it takes no arguments"),
        ("list", {"project": "x"}, "workspace", "notes works in the workspace itself, so it takes no project"),
        ("list", {"x\n": 1}, "project", "list has no argument 'x\\n'; it takes project"),
        ("read", {}, "workspace", "read needs the argument path, or paths for many files, and only one of them"),
        (
            "read",
            {"path": "a.md", "paths": ["a.md"]},
            "workspace",
            "read needs the argument path, or paths for many files, and only one of them",
        ),
        ("read", {"path": "a.md", "text": ""}, "workspace", "read has no argument text; it takes path, paths"),
        ("read", {"path": "a.md", "sha": ""}, "project", "read has no argument sha; it takes project, path, paths"),
        (
            "read",
            {"path": None},
            "workspace",
            "the argument path must be a string: the path of a file, relative to the root",
        ),
        (
            "read",
            {"paths": [7]},
            "workspace",
            "the argument paths[0] must be a string: the path of a file, relative to the root",
        ),
        (
            "write",
            {"text": "", "expected_sha256": SHA},
            "workspace",
            "write needs the argument path: the path of a file, relative to the root",
        ),
        (
            "write",
            {"path": "a.md", "expected_sha256": SHA},
            "workspace",
            "write needs the argument text: the whole new text of the file",
        ),
        (
            "write",
            {"path": "a.md", "text": ""},
            "workspace",
            "write needs the argument expected_sha256: the sha256 that a read gave (-o json shows it)",
        ),
        (
            "write",
            {"path": "a.md", "text": 1, "expected_sha256": SHA},
            "workspace",
            "the argument text must be a string: the whole new text of the file",
        ),
        (
            "write",
            {"path": "a.md", "text": "\ud800", "expected_sha256": SHA},
            "workspace",
            "the argument text holds a lone surrogate, which no UTF-8 text can carry",
        ),
        (
            "write",
            {"path": "a.md", "text": "", "expected_sha256": "A" * 64},
            "workspace",
            "the argument expected_sha256 must be the sha256 that read gave: 64 hexadecimal digits",
        ),
        (
            "read",
            {"path": "a.md", "paths": float("nan")},
            "workspace",
            "the arguments hold a number that is not finite",
        ),
    ],
)
def test_arguments_that_do_not_fit(verb: str, arguments: dict[str, Any], root: str, message: str) -> None:
    assert refusal(verb, arguments, root) == message


@pytest.mark.contract("C84")
@pytest.mark.parametrize("paths", [[], ["a.md"] * 101, "a.md", None, {"0": "a.md"}])
def test_many_are_one_to_a_hundred(paths: Any) -> None:
    assert refusal("read", {"paths": paths}) == "the argument paths must be a list of 1 to 100 paths"
    assert len(plan("read", {"paths": ["a.md"] * 100}).request["paths"]) == 100  # type: ignore[arg-type]  # a list here


def test_no_paths_take_long_to_be_compared_with_the_globs() -> None:
    operation = Operation("read", "read", None, {})
    hostile = tuple("a*/**/" * 170 + str(number) for number in range(16))
    connection = Connection("notes", "files", None, None, (operation,), {"root": "workspace", "paths": hostile})
    extension = Extension("x", "X", "1", "", "helm", True, (connection,), ())
    paths: list[Json] = ["/".join(f"a{number}{at}" for at in range(500)) for number in range(30)]
    begun = time.process_time()
    with pytest.raises(HelmError) as caught:
        files.plan(extension, connection, operation, {"paths": paths}, ROOTS["workspace"])
    told = "so many paths take too long to be compared with the globs; ask for fewer at once"
    assert (caught.value.code, caught.value.message) == ("too_large", told)
    with pytest.raises(HelmError, match="is not declared"):
        files.plan(extension, connection, operation, {"paths": ["/".join("abcd" * 25)]}, ROOTS["workspace"])
    assert time.process_time() - begun < 2


@pytest.mark.contract("C82", "C85", "C80")
@pytest.mark.parametrize(
    ("path", "clause"),
    [
        ("", "must have 1 to 4096 bytes"),
        ("docs/" + "é" * 2046, "must have 1 to 4096 bytes"),
        ("/etc/passwd", "must be relative to the root"),
        ("/docs/a", "must be relative to the root"),
        ("docs/../a", 'must have no "." or ".." segment'),
        ("..", 'must have no "." or ".." segment'),
        ("./a.md", 'must have no "." or ".." segment'),
        ("docs/.", 'must have no "." or ".." segment'),
        ("docs//a", "must have no empty segment"),
        ("docs/", "must have no empty segment"),
        ("docs\\a", 'must have no backslash; its segments are separated by "/"'),
        ("docs/\0", "must have no control characters"),
        ("docs/a\nb", "must have no control characters"),
        ("docs/\x9b", "must have no control characters"),
        ("docs/\udc80", "holds a lone surrogate, which no UTF-8 text can carry"),
    ],
)
def test_what_is_no_path(path: str, clause: str) -> None:
    assert refusal("read", {"path": path}) == f"the argument path {clause}"
    assert refusal("read", {"paths": ["a.md", path]}) == f"the argument paths[1] {clause}"
    assert refusal("write", {"path": path, "text": "", "expected_sha256": SHA}) == f"the argument path {clause}"


@pytest.mark.contract("C80", "C82")
@pytest.mark.parametrize("path", ["b.txt", "src/a.md", "docs", "DOCS/a", "a.MD", "docs\u2215a", ".env", "~"])
def test_what_is_not_declared(path: str) -> None:
    told = f"{path} is not declared: it matches none of the paths of notes"
    assert refusal("read", {"path": path}) == told
    assert refusal("read", {"paths": ["a.md", path]}) == told
    assert refusal("write", {"path": path, "text": "", "expected_sha256": SHA}) == told


@pytest.mark.parametrize(
    "path", ["docs/.hidden", "docs/a b", "docs/é\u0301", "docs/\u200b", "*.md", "docs/...", "docs/~"]
)
def test_what_is_a_path(path: str) -> None:
    assert plan("read", {"path": path}).request["path"] == path


@pytest.mark.contract("C87")
@pytest.mark.parametrize(("letter", "size"), [("x", 1), ("é", 2), ("\n", 1), ('"', 1), ("\0", 1)])
def test_the_whole_call_has_at_most_256_kib(letter: str, size: int) -> None:
    def arguments(text: str) -> dict[str, Any]:
        return {"path": "a.md", "text": text, "expected_sha256": SHA}

    empty = len(dump({"connection": "notes", "operation": "write", "arguments": arguments("")}))
    written = len(dump(letter).encode()) - 2
    most, rest = divmod(files.MOST_BYTES - empty, written)
    fits = arguments(letter * most + "x" * rest)
    assert plan("write", fits).request["text"] == fits["text"]
    error = fault("write", arguments(letter * most + "x" * (rest + 1)))
    told = f"the call is {files.MOST_BYTES + 1} bytes as JSON; at most 262144 are allowed, so give a shorter text"
    assert (error.code, error.message) == ("too_large", told)
    error = fault("write", arguments(letter * (files.MOST_BYTES // size + 1)))
    assert error.code == "too_large"
    assert error.message.endswith("at most 262144 can be written")


@given(st.dictionaries(st.text(max_size=9), st.none() | st.text() | st.lists(st.text(), max_size=3), max_size=3))
def test_any_arguments_have_a_verdict(arguments: dict[str, Any]) -> None:
    for verb in ("list", "read", "write"):
        try:
            plan(verb, arguments)
        except HelmError as error:
            assert error.code == "refused"
            assert error.message.isprintable()


@pytest.mark.parametrize("root", ROOTS)
def test_the_schema_of_each_verb_names_what_it_takes(root: str) -> None:
    def schema(verb: str) -> Any:
        operation = Operation(verb, "read", None, {})
        return files.schema(
            Connection("n", "files", None, None, (operation,), {"root": root, "paths": GLOBS}), operation
        )

    project = ["project"] if root == "project" else []
    assert (list(schema("list")["properties"]), schema("list")["required"]) == (project, project)
    assert (list(schema("read")["properties"]), schema("read")["required"]) == ([*project, "path", "paths"], project)
    assert schema("write")["required"] == [*project, "path", "text", "expected_sha256"]
    assert not any(schema(verb)["additionalProperties"] for verb in ("list", "read", "write"))
