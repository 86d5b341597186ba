"""A service profile that is signed in, without a browser or a callback: what calls and renewals start from."""

import base64
import hashlib
import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from helm_cli.broker import profiles, signin
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.drivers import oauth_token
from helm_cli.drivers.oauth_token import Client, Grant
from helm_cli.model.profile import Service
from tests.program import Helm
from tests.rig import oidc
from tests.rig.oidc import Provider

NAME: Final = "cal"
ASKED: Final = ("calendar.read", "offline_access", "openid")
VERIFIER: Final = "a-code-verifier-of-the-tests-that-is-long-enough"


def grant(provider: Provider, asked: tuple[str, ...] = ASKED) -> Grant:
    """What the provider grants once somebody signed in and consented."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
    query = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": oidc.REDIRECT,
        "scope": " ".join(asked),
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "prompt": "consent",
    }
    callback = oidc.consent(f"{provider.authorize_url}?{urlencode(query)}")
    code = parse_qs(urlsplit(callback).query)["code"][0]
    client = Client(provider.token_url, provider.client_id, provider.client_secret)
    return oauth_token.redeem(client, code, VERIFIER, oidc.REDIRECT, asked=asked, now=time.time())


def add(stores: Stores, provider: Provider) -> Service:
    """The profile of the provider's API, with its client secret."""
    profile = Service(NAME, provider.base_url, client_id=provider.client_id)
    return profiles.add(stores, profile, provider.client_secret, force=False)


def sign_in(stores: Stores, provider: Provider, asked: tuple[str, ...] = ASKED) -> Service:
    """The profile, signed in."""
    service = add(stores, provider)
    signin.keep(stores, service, grant(provider, asked), Connected(provider.authorize_url, provider.token_url, asked))
    return service


def age(home: Path, left: float = -1.0) -> None:
    """Let the access token end in so many seconds."""
    with closing(sqlite3.connect(home / "state.db", timeout=15)) as db, db:
        db.execute("UPDATE signins SET expires = ?", (time.time() + left,))


def kept(home: Path, field: str) -> str:
    """What the file of secrets holds in this field of the service, without what it is bound to; "" for nothing."""
    found: dict[str, str] = json.loads((home / "credentials.json").read_text())
    return found.get(f"service/{NAME}/{field}", "").partition(" ")[2]


def extension(oauth2: dict[str, Any] | None) -> dict[str, Any]:
    """The manifest of an extension that reads and writes on the service."""
    connection: dict[str, Any] = {
        "id": "cal",
        "kind": "http",
        "service": NAME,
        "calls": {
            "events": {"method": "GET", "path": "/events"},
            "cancel": {"method": "DELETE", "path": "/events/{id}", "write": True},
        },
    }
    if oauth2 is not None:
        connection["oauth2"] = oauth2
    return {
        "id": "calendar",
        "name": "Calendar",
        "version": "1.0.0",
        "permissions": {"write": True},
        "connections": [connection],
    }


def write(workspace: Path, oauth2: dict[str, Any] | None) -> Path:
    """The extension's folder in this workspace."""
    folder = workspace / "calendar"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(extension(oauth2)))
    return folder


def approve(helm: Helm, workspace: Path, oauth2: dict[str, Any] | None) -> None:
    """The extension in this workspace, approved and enabled."""
    folder = write(workspace, oauth2)
    told = helm("plugin", "review", str(folder), "-o", "json", cwd=workspace)
    assert told.status == 17, told
    approved = helm("plugin", "review", str(folder), "--approve", told.json["digest"], cwd=workspace)
    assert approved.status == 0, approved


def without_a_rate(home: Path) -> None:
    """Any number of calls a minute."""
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("[limits]\ncalls_per_minute = 100000\n")
