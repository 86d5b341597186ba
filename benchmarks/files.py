"""Lists of a tree of 100,000 files, held against a bare walk of what the globs can reach, and reading one of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from operator import eq
from pathlib import Path
from typing import Any, Final

from benchmarks.pairs import Row, batch, compared, held, side_by_side
from benchmarks.stage import Stage, stage

PARTS: Final = 25
FOLDERS: Final = 20
FILES: Final = 200
FOUND: Final = "note.md"
TEXT: Final = "A line.\n"
NOTE: Final = f"part-00/folder-00/{FOUND}"
LARGE: Final = "large.md"
LARGEST: Final = 256 * 1024
# Connection -> its glob, and how many of the parts it can reach. Each folder has one file that it finds.
GLOBS: Final = {"all": ("*/*/*.md", PARTS), "some": ("part-0?/*/*.md", 10)}
READ: Final = {"connection": "few", "operation": "read", "args": {"project": "tree", "path": NOTE}}
READING: Final = ("few", "read", "--arg", "project=tree", "--arg", f"path={NOTE}")


def _plant(root: Path) -> None:
    """100,000 files, 200 in each of 500 folders, one of them a note; and one large file beside them."""
    for part in range(PARTS):
        for folder in range(FOLDERS):
            where = root / f"part-{part:02}" / f"folder-{folder:02}"
            where.mkdir(parents=True)
            (where / FOUND).write_text(TEXT)
            for number in range(FILES - 1):
                (where / f"file-{number:03}.txt").touch()
    (root / LARGE).write_text("x" * LARGEST)


@contextmanager
def tree() -> Iterator[Stage]:
    """A stage with the tree as the project `tree`, and the connections of `GLOBS`, and `few` that reads."""
    with stage() as on:
        root = on.folder / "tree"
        _plant(root)
        on.well("project", "add", str(root), "--id", "tree")
        entry = {"kind": "files", "root": "project", "operations": ["list"]}
        few = {**entry, "id": "few", "operations": ["read"], "paths": ["*.md", f"*/*/{FOUND}"]}
        on.approve("notes", few, *({**entry, "id": name, "paths": [glob]} for name, (glob, _) in GLOBS.items()))
        yield on


def calls(rounds: int | None) -> Iterator[Row]:
    with tree() as on:
        root = on.folder / "tree"
        for name, (glob, parts) in GLOBS.items():
            yield _listed(on, root, rounds, name, glob, parts)
        note = str(root / NOTE)
        without, script = on.twin().call(*READING, data=_read), on.script("read", note, data=_read)
        with on.agent() as agent:
            ours, through, bare = side_by_side(rounds or 10, without, on.call(*READING, data=_read), script)
            assert agent.calls() > len(through)
        yield compared("reading one : a bare script", ours, bare, 4.5)
        yield compared("through the agent : without it", through, ours, 1)
        with on.in_memory() as quick:
            yield batch(rounds, quick.batch(READ, _read), on.loop("read", note, data=_read), on.nothing())
        little = on.peak(*READING)
        large = on.peak("few", "read", "--arg", "project=tree", "--arg", f"path={LARGE}")
        yield held("memory of reading 256 KiB, beyond a small one's", large, little, 8)
        yield held("memory of listing 100,000", on.peak("all", "list", "--arg", "project=tree"), little, 8)


def _listed(on: Stage, root: Path, rounds: int | None, name: str, glob: str, parts: int) -> Row:
    found = [
        {"path": f"part-{part:02}/folder-{folder:02}/{FOUND}", "size": len(TEXT)}
        for part in range(parts)
        for folder in range(FOLDERS)
    ]
    counted = {"files": parts * FOLDERS * FILES, "size": len(found) * len(TEXT)}
    ours = on.call(name, "list", "--arg", "project=tree", data=partial(eq, {"files": found, "truncated": False}))
    where = [str(root / f"part-{part:02}") for part in range(parts)]
    one, other = side_by_side(rounds or 5, ours, on.script("walk", *where, data=partial(eq, counted)))
    return compared(f"listing {glob} of {counted['files']:,} : a bare walk", one, other, 2)


def _read(data: Any) -> bool:
    return bool(data["text"] == TEXT and len(data["sha256"]) == 64)
