"""What a command may come to, read off the code: every function that it names, those that these name, and so on."""

import ast
import inspect
from functools import cache
from typing import Any

from helm_cli.cli import load
from tests.program import ROOT

_PACKAGE = ROOT / "helm_cli"


class Code:
    """The functions, classes and constants of the package by their dotted names, and what each of them names."""

    def __init__(self) -> None:
        self.definitions: dict[str, tuple[str, ast.AST]] = {}
        self._names: dict[str, dict[str, str]] = {}
        self._named: dict[str, set[str]] = {}
        for path in sorted(_PACKAGE.rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            self._read(".".join(parts[:-1] if parts[-1] == "__init__" else parts), ast.parse(path.read_text()))

    def reached(self, name: str) -> set[str]:
        """Everything that is reached from a function of this name, itself included."""
        found, left = {name}, [name]
        while left:
            new = self._refers(left.pop()) - found
            found |= new
            left += new
        return found

    def _read(self, module: str, tree: ast.Module) -> None:
        names = self._names[module] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        for top in tree.body:
            for name in _defined(top):
                names[name] = f"{module}.{name}"
                self.definitions[f"{module}.{name}"] = (module, top)

    def _refers(self, name: str) -> set[str]:
        if name not in self._named:
            module, node = self.definitions[name]
            words = (_dotted(one) for one in ast.walk(node))
            found = {self._resolved(module, word) for word in words if word}
            self._named[name] = {one for one in found if one is not None}
        return self._named[name]

    def _resolved(self, module: str, words: list[str]) -> str | None:
        """The definition that dotted words begin with, also where a module only hands it on."""
        name = self._names[module].get(words[0])
        for word in (*words[1:], ""):
            before = None
            while name is not None and name not in self.definitions and name != before:
                before, (home, _, last) = name, name.rpartition(".")
                name = self._names.get(home, {}).get(last, name)
            if name in self.definitions:
                return name
            name = f"{name}.{word}"
        return None


@cache
def code() -> Code:
    return Code()


@cache
def command(path: tuple[str, ...]) -> frozenset[str]:
    """Everything that a command may come to, by the words that lead to it."""
    found: Any = load(path[0])
    for word in path[1:]:
        found = found.commands[word]
    function = inspect.unwrap(found.callback)
    return frozenset(code().reached(f"{function.__module__}.{function.__name__}"))


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [one.id for one in targets if isinstance(one, ast.Name)]


def _dotted(node: ast.AST) -> list[str] | None:
    """The words of `a.b.c`; None for anything else."""
    if isinstance(node, ast.Name):
        return [node.id]
    before = _dotted(node.value) if isinstance(node, ast.Attribute) else None
    return [*before, node.attr] if before and isinstance(node, ast.Attribute) else None
