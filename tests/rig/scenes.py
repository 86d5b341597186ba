"""Places made ready for one command or one act, which a test then kills, or lets go fifty times at once."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

from tests import example
from tests.program import Finished
from tests.rig import http_server, signing, team
from tests.rig.http_server import Peer, Received, Script
from tests.rig.place import Place, yes
from tests.rig.stepped import Job

# A user that every machine has.
DAEMON: Final = "1"
COUNTING: Final[dict[str, Any]] = {
    "id": "counting",
    "permissions": {"write": True},
    "connections": [
        {
            "id": "app",
            "kind": "db",
            "service": "local-app",
            "engine": "sqlite",
            "queries": {"note": {"sql": "INSERT INTO notes VALUES (?)", "params": ["text"], "write": True}},
        }
    ],
}
FILES: Final[dict[str, Any]] = {
    "id": "notes",
    "permissions": {"write": True},
    "connections": [
        {"id": "ws", "kind": "files", "root": "workspace", "paths": ["*.md"], "operations": ["read", "write"]}
    ],
}


def tickets(place: Place) -> None:
    """The example."""

    def helm(*words: str, cwd: Path) -> Finished:
        ran = place.helm(*words)
        return Finished(ran.status, ran.out, ran.err)

    example.ready(helm, place.workspace)


def confirming(place: Place) -> Job:
    """A write that can be counted."""
    with closing(sqlite3.connect(place.workspace / "app.db")) as db:
        db.execute("CREATE TABLE notes (text)")
    place.well("db", "add", "local-app", "--engine", "sqlite", "--path", str(place.workspace / "app.db"))
    assert place.run(place.approve("counting", COUNTING)).status == 0
    asked = place.helm("call", "app", "note", "--arg", "text=once").json
    return yes("confirmed", asked["error"]["confirmation"])


def marketing(place: Place) -> None:
    """A team's plugin, approved."""
    team.write(place.workspace / "marketing", team.PLUGIN)
    assert place.run(place.pinned("marketing")).status == 0


def shared(place: Place) -> str:
    """The id of a draft in the folder of the team, which another user asked for."""
    (place.home / "config.toml").write_text(f'drafts_dir = "{place.root / "drafts"}"\n')
    (place.home / "config.toml").chmod(0o600)
    marketing(place)
    return str(place.act("drafted", team.ID, "blog", DAEMON))


def publishing(place: Place) -> Job:
    """A draft that is approved, sent to the place's own server."""
    id_ = shared(place)
    place.well("service", "add", "blog", "--base-url", place.server.url, "--no-token")
    place.act("bound", team.ID, "send_post", "blog", "/posts")
    assert place.act("approved", id_) == "approved"
    return yes("published", id_, "send_post")


def rotating() -> Script:
    """A service that takes each refresh token once, and ends the sign-in of whoever sends one again."""
    living, served = ["the-old-secret-refresh"], ["the-old-secret-access"]

    def script(peer: Peer, request: Received) -> None:
        if request.target != "/token":
            known = request.header("Authorization") == [f"Bearer {served[-1]}"]
            peer.send(http_server.response(b"{}", "200 OK" if known else "401 Unauthorized"))
            return
        sent = parse_qs(request.body.decode()).get("refresh_token")
        if sent is None:
            return  # It was killed before all of it was sent.
        if sent != living[-1:]:
            living.append("ended")
            peer.send(http_server.response(b'{"error": "invalid_grant"}', "400 Bad Request"))
            return
        living.append(f"the-new-secret-refresh-{len(living)}")
        served.append(f"the-new-secret-access-{len(living)}")
        grant = {"access_token": served[-1], "refresh_token": living[-1], "token_type": "Bearer", "expires_in": 3600}
        peer.send(http_server.response(json.dumps(grant).encode()))

    return script


def renewing(place: Place) -> Job:
    """A call whose access token has ended; for a server that does as `rotating`."""
    url = place.server.url
    place.act("signed_in", url, "the-old-secret-access", "the-old-secret-refresh", "the-old-secret-of-the-client")
    oauth2 = {"authorizeUrl": f"{url}/authorize", "tokenUrl": f"{url}/token", "scopes": ["a"]}
    assert place.run(place.approve("calendar", signing.extension(oauth2))).status == 0
    return Job(("call", "cal", "events"))
