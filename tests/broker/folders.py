"""The folders that reviews are tested on: one extension with all five kinds, and what writes any other."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

FIVE_KINDS: Final[dict[str, Any]] = {
    "id": "everything",
    "name": "Everything",
    "version": "2.1.0",
    "description": "One connection of each kind.",
    "permissions": {"write": True},
    "widgets": [],
    "connections": [
        {
            "id": "app",
            "kind": "db",
            "service": "local-app",
            "engine": "sqlite",
            "queries": {
                "recent": {
                    "sql": "SELECT id, title\nFROM tickets\nWHERE status = ? LIMIT ?",
                    "params": ["status", "limit"],
                },
                "close": {"sql": "UPDATE tickets SET status = 'closed' WHERE id = ?", "params": ["id"], "write": True},
            },
        },
        {
            "id": "cal",
            "kind": "http",
            "service": "calendar",
            "oauth2": {
                "authorizeUrl": "https://auth.example.com/authorize?access_type=offline",
                "tokenUrl": "https://auth.example.com/token",
                "scopes": ["calendar.read", "profile"],
            },
            "calls": {
                "events": {
                    "method": "GET",
                    "path": "/calendars/{calendar}/events",
                    "query": {"per_page": "{limit}", "state": "open"},
                },
                "search": {
                    "method": "POST",
                    "path": "/graphql",
                    "body": {"query": "query($first: Int) { events }", "variables": {"first": "{limit}"}},
                },
                "cancel": {
                    "method": "PATCH",
                    "path": "/events/{id}",
                    "body": {"state": "cancelled"},
                    "write": True,
                },
            },
        },
        {
            "id": "notes",
            "kind": "files",
            "root": "project",
            "paths": ["docs/**", "*.md"],
            "operations": ["list", "read"],
        },
        {
            "id": "gh",
            "kind": "mcp",
            "server": "github",
            "operations": ["list_issues", "delete_issue"],
            "writes": ["create_issue"],
        },
        {"id": "tdt", "kind": "tdt-mcp", "operations": ["tdt_workspace_status"]},
    ],
}


def manifest(**changes: Any) -> dict[str, Any]:
    """A small valid manifest with these members changed."""
    small: dict[str, Any] = {
        "id": "tickets",
        "connections": [
            {
                "id": "app",
                "kind": "db",
                "service": "local-app",
                "engine": "sqlite",
                "queries": {"recent": {"sql": "SELECT id FROM tickets", "params": []}},
            }
        ],
    }
    return {**small, **copy.deepcopy(changes)}


def write(folder: Path, declared: Mapping[str, Any], files: Mapping[str, bytes] = {}) -> Path:
    """An extension's folder with this manifest and these other files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(declared, indent=2))
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder
