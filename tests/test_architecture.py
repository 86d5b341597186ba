"""The house in one test: who may import whom, where third-party code may stand, and how large things may grow."""

import ast
import re
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

from tests.program import ROOT

PACKAGE: Final = ROOT / "helm_cli"

# Layer -> the layers it may import, itself aside. "" is the package's top: the version and the entry; demo is data.
LAYERS: Final[dict[str, frozenset[str]]] = {
    "": frozenset({"cli", "complete"}),
    "model": frozenset(),
    "grammar": frozenset({"model"}),
    "dialects": frozenset({"model", "grammar"}),
    "kinds": frozenset({"model", "grammar"}),
    "store": frozenset({"model", "grammar"}),
    "drivers": frozenset({"model", "grammar"}),
    "broker": frozenset({"model", "grammar", "dialects", "kinds", "store", "drivers"}),
    "view": frozenset({"model", "grammar"}),
    "demo": frozenset(),
    "agent": frozenset({"model", "store", "drivers", "broker"}),
    "serve": frozenset({"model", "store", "drivers", "broker", "agent"}),
    "shells": frozenset({"model"}),
    "complete": frozenset({"model", "grammar", "dialects", "kinds", "store", "broker"}),
    "cli": frozenset(
        {"model", "grammar", "dialects", "kinds", "store", "drivers", "broker", "view", "demo", "agent", "serve"}
        | {"shells", "complete"}
    ),
}

# Third-party package -> the modules, by the beginning of their names, that may import it.
THIRD_PARTY: Final[dict[str, tuple[str, ...]]] = {
    "typer": ("helm_cli.cli",),
    "questionary": ("helm_cli.cli.wizard",),
    "prompt_toolkit": ("helm_cli.view",),
    "rich": ("helm_cli.view",),
    "jsonschema": ("helm_cli.dialects",),
    "yaml": ("helm_cli.dialects.yaml_events",),
    "keyring": ("helm_cli.store.keychain",),
    "secretstorage": ("helm_cli.store.secret_service",),
    "jeepney": ("helm_cli.store.secret_service",),
    "tomlkit": ("helm_cli.store.profiles",),
    "httpx": ("helm_cli.drivers",),
    "psycopg": ("helm_cli.drivers",),
    "mysql": ("helm_cli.drivers",),
    "mcp": ("helm_cli.drivers.mcp", "helm_cli.serve"),
    "mcp_types": ("helm_cli.drivers.mcp", "helm_cli.serve"),
    "anyio": ("helm_cli.drivers.mcp", "helm_cli.serve"),
    "httpx2": ("helm_cli.drivers.mcp",),
    "pydantic": ("helm_cli.drivers.mcp", "helm_cli.serve"),
}

# What reaches outside the process has no place in rules that are pure.
PURE: Final = ("model", "grammar", "kinds")
OUTSIDE: Final = frozenset(
    ("os", "io", "pathlib", "socket", "ssl", "sqlite3", "subprocess", "tempfile", "shutil", "time", "random", "secrets")
)

MOST_LINES_A_MODULE: Final = 300
MOST_LINES_A_FUNCTION: Final = 45
SILENCED: Final = re.compile(
    r"(type: *ignore(\[[\w, -]+\])?|noqa(: *[A-Z0-9, ]+)?|pragma: *no cover)[ #:-]*(?P<reason>.*)"
)


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(modules()[name].read_text())


def imports(name: str) -> Iterator[tuple[str, int]]:
    """Each module that `name` imports anywhere in its text, with the line; of our own, the module itself."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: a relative import; write the whole name"
            assert node.module
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in modules() else node.module, node.lineno


def named(name: str) -> Iterator[tuple[str, int]]:
    """Each module of ours that `name` mentions in a string, as the lazy tables do, with the line."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in modules():
            yield node.value, node.lineno


def layer(name: str) -> str:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in LAYERS else ""


def test_every_folder_is_a_layer() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if any(path.glob("*.py"))}
    assert folders == LAYERS.keys() - {""}


@pytest.mark.parametrize("name", modules())
def test_imports_go_down_only(name: str) -> None:
    ours = layer(name)
    for other, line in (*imports(name), *named(name)):
        if other in modules() and other != "helm_cli":
            assert layer(other) == ours or layer(other) in LAYERS[ours], f"{name}:{line} reaches up to {other}"


@pytest.mark.parametrize("name", modules())
def test_third_party_code_stays_in_its_place(name: str) -> None:
    for other, line in imports(name):
        package = other.partition(".")[0]
        if package != "helm_cli" and package not in sys.stdlib_module_names:
            assert package in THIRD_PARTY, f"{name}:{line} imports {package}, which has no place here"
            assert name.startswith(THIRD_PARTY[package]), f"{name}:{line} imports {package}"


@pytest.mark.parametrize("name", [name for name in modules() if layer(name) in PURE])
def test_pure_rules_reach_nothing_outside(name: str) -> None:
    assert not [(other, line) for other, line in imports(name) if other in OUTSIDE]


def test_no_pattern_repeats_a_group_possessively() -> None:
    """The first releases of Python 3.11, which Debian 12 has, match such patterns wrongly."""
    possessive = re.compile(r"\)[*+?]\+|\)\{[0-9,]*\}\+|\(\?>")
    set_of_characters = re.compile(r"\[[^\]]*\]")
    for name, path in modules().items():
        texts = (node.value for node in ast.walk(tree(name)) if isinstance(node, ast.Constant))
        assert not any(
            isinstance(text, str) and possessive.search(set_of_characters.sub("", text)) for text in texts
        ), path


def test_no_module_needs_itself() -> None:
    needs = {name: {other for other, _ in imports(name) if other in modules()} - {name} for name in modules()}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


@pytest.mark.parametrize("name", modules())
def test_a_module_opens_with_one_sentence(name: str) -> None:
    sentence = (ast.get_docstring(tree(name)) or "").partition("\n\n")[0]
    assert re.fullmatch(r"[A-Z`].{10,240}\.", sentence, re.DOTALL), f"{name} opens with {sentence!r}"


@pytest.mark.parametrize("name", modules())
def test_nothing_grows_past_its_cap(name: str) -> None:
    lines = len(modules()[name].read_text().splitlines())
    assert lines <= MOST_LINES_A_MODULE, f"{name} has {lines} lines"
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # The parameters of a command are the table of its options, not code.
            first = node.body[0] if any(_is_command(mark) for mark in node.decorator_list) else node
            length = (node.end_lineno or node.lineno) - first.lineno + 1
            assert length <= MOST_LINES_A_FUNCTION, f"{name}.{node.name} has {length} lines"


def _is_command(mark: ast.expr) -> bool:
    return isinstance(mark, ast.Call) and isinstance(mark.func, ast.Attribute) and mark.func.attr == "command"


@pytest.mark.parametrize("folder", ["helm_cli", "tests", "benchmarks"])
def test_what_is_silenced_says_why(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        with tokenize.open(path) as text:
            comments = {
                token.start[0]: token.string.lstrip("# ")
                for token in tokenize.generate_tokens(text.readline)
                if token.type == tokenize.COMMENT
            }
        for line, comment in comments.items():
            if silenced := SILENCED.match(comment):
                assert silenced["reason"] or line - 1 in comments, f"{path}:{line}: {comment}"


def test_tests_patch_nothing_of_ours() -> None:
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [*(alias.name for alias in node.names), getattr(node, "module", None) or ""]
                assert not any(name.startswith(("unittest.mock", "mock")) for name in names), f"{path}:{node.lineno}"


def test_the_guide_names_files_that_exist() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    named_files = re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", guide)
    assert len(named_files) > 15
    assert not [name for name in named_files if not ((ROOT / name).exists() or (PACKAGE / name).exists())]
