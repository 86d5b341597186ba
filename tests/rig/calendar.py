"""What the tests of signing in stand on: extensions that declare the sign-in to one service, and are approved."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from helm_cli.broker import content
from helm_cli.broker.stores import Stores
from helm_cli.store import approvals
from helm_cli.store.approvals import Approval

SERVICE: Final = "calendar"


def oauth2(*scopes: str, authorize: str = "https://id.example/auth", token: str = "https://id.example/token") -> Any:
    """What an extension declares of the sign-in."""
    return {"authorizeUrl": authorize, "tokenUrl": token, "scopes": list(scopes)}


def write(folder: Path, *signins: Mapping[str, Any] | None, service: str = SERVICE) -> Path:
    """An extension with the id of its folder, with a connection for each of these sign-ins (None: it declares none)."""
    connections = [
        {
            "id": f"{folder.name}{number or ''}",
            "kind": "http",
            "service": service,
            "calls": {"events": {"method": "GET", "path": "/events"}},
            **({"oauth2": signin} if signin is not None else {}),
        }
        for number, signin in enumerate(signins)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps({"id": folder.name, "connections": connections}))
    return folder


def approve(stores: Stores, folder: Path) -> None:
    """Approve and enable an extension for the workspace that is the folder of its folder."""
    found = content.read(str(folder))
    assert found.faults == ()
    approval = Approval(
        str(folder.parent), folder.name, str(folder), found.content.digest, True, stores.clock(), "person"
    )
    approvals.approve(stores.db, approval, found.content, found.stamps)
