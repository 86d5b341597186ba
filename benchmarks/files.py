"""Lists of a tree of 100,000 files, held against a bare walk of what the globs can reach."""

from collections.abc import Iterator
from functools import partial
from operator import eq
from pathlib import Path
from typing import Final

from benchmarks.pairs import Row, compared, side_by_side
from benchmarks.stage import stage

PARTS: Final = 25
FOLDERS: Final = 20
FILES: Final = 200
FOUND: Final = "note.md"
TEXT: Final = "A line.\n"
# Glob -> how many of the parts it can reach. Each folder has one file that it finds.
GLOBS: Final = {"all": ("**/*.md", PARTS), "some": ("part-0?/*/*.md", 10)}


def tree(root: Path) -> None:
    """100,000 files, 200 in each of 500 folders, one of them a note."""
    for part in range(PARTS):
        for folder in range(FOLDERS):
            where = root / f"part-{part:02}" / f"folder-{folder:02}"
            where.mkdir(parents=True)
            (where / FOUND).write_text(TEXT)
            for number in range(FILES - 1):
                (where / f"file-{number:03}.txt").touch()


def listing(rounds: int | None) -> Iterator[Row]:
    with stage() as on:
        root = on.folder / "tree"
        tree(root)
        on.well("project", "add", str(root), "--id", "tree")
        entry = {"kind": "files", "root": "project", "operations": ["list"]}
        on.approve("notes", *({**entry, "id": name, "paths": [glob]} for name, (glob, _) in GLOBS.items()))
        for name, (glob, parts) in GLOBS.items():
            found = [
                {"path": f"part-{part:02}/folder-{folder:02}/{FOUND}", "size": len(TEXT)}
                for part in range(parts)
                for folder in range(FOLDERS)
            ]
            counted = {"files": parts * FOLDERS * FILES, "size": len(found) * len(TEXT)}
            ours = on.call(
                name, "list", "--arg", "project=tree", data=partial(eq, {"files": found, "truncated": False})
            )
            where = [str(root / f"part-{part:02}") for part in range(parts)]
            bare = on.script("walk", *where, data=partial(eq, counted))
            one, other = side_by_side(rounds or 10, ours, bare)
            yield compared(f"helm lists {glob} of {counted['files']:,} files : bare walk", one, other, 2)
