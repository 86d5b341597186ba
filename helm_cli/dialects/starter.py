"""What `helm plugin new` writes: an extension that is valid as it stands and shows one read and one write."""

import json
import re

from helm_cli.model.errors import HelmError

_README = """# {id}

An extension for `helm`: `manifest.json` declares every call that it may make.

- `helm plugin validate .` checks the manifest.
- `helm plugin review .` shows what it asks for, and asks whether you approve it.
- `helm db add local-app --engine sqlite --path FILE` adds the database that it uses.
- `helm call app recent --arg status=open --arg limit=20` makes a call.

Every change of a file in this folder asks for approval again. `helm plugin reference` lists all fields.
"""


def files(identifier: str) -> dict[str, str]:
    """Path -> text. Raises HelmError("usage") for an id that no manifest can have."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", identifier):
        allowed = "lower-case letters, digits and -, starting with a letter or digit, at most 64 characters"
        raise HelmError("usage", f"the id of an extension must be {allowed}; choose another")
    manifest = {
        "id": identifier,
        "name": identifier,
        "version": "0.1.0",
        "description": "What this extension is for, in one line.",
        "permissions": {"write": True},
        "connections": [{"id": "app", "kind": "db", "service": "local-app", "engine": "sqlite", "queries": _QUERIES}],
    }
    return {
        "manifest.json": json.dumps(manifest, indent=2) + "\n",
        "README.md": _README.format(id=identifier),
        # Approval pins bytes: a checkout that turned the line ends would ask for approval again.
        ".gitattributes": "* -text\n",
    }


_QUERIES = {
    "recent": {
        "sql": "SELECT id, title, status FROM tickets WHERE status = ? ORDER BY id DESC LIMIT ?",
        "params": ["status", "limit"],
    },
    "close": {"sql": "UPDATE tickets SET status = 'closed' WHERE id = ?", "params": ["id"], "write": True},
}
