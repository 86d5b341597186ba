"""A real OAuth2 service, npm's oidc-provider, and a robot that signs in, consents or denies as a person would."""

import html
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin

import httpx

from tests.rig import peers

SCOPES: Final = ("calendar.read", "calendar.write")
REDIRECT: Final = "http://127.0.0.1:8914/oauth/callback"


class Provider(NamedTuple):
    """A running service. Its API, at `base_url`, answers any path under it to who brings an access token."""

    issuer: str
    client_id: str
    client_secret: str

    @property
    def authorize_url(self) -> str:
        return f"{self.issuer}/auth"

    @property
    def token_url(self) -> str:
        return f"{self.issuer}/token"

    @property
    def base_url(self) -> str:
        return f"{self.issuer}/api"

    def seen(self) -> list[dict[str, Any]]:
        """What came to the token endpoint: {"grant", "secret", "scope", "header", "status", "error"} each."""
        with _client() as client:
            found: list[dict[str, Any]] = client.get(f"{self.issuer}/-/seen").json()
            return found

    def renewals(self) -> list[int]:
        """The statuses that refresh tokens were answered with."""
        return [request["status"] for request in self.seen() if request["grant"] == "refresh_token"]

    def oauth2(self, *scopes: str) -> dict[str, Any]:
        """What an extension declares for it."""
        return {"authorizeUrl": self.authorize_url, "tokenUrl": self.token_url, "scopes": list(scopes)}


@contextmanager
def provider(
    *,
    client_id: str = "helm-of-the-tests",
    client_secret: str = "the client secret/+",
    redirects: tuple[str, ...] = (REDIRECT,),
    scopes: tuple[str, ...] = SCOPES,
    access_seconds: int = 3600,
    refresh_seconds: int = 86400,
    rotate: bool = True,
    slow_ms: int = 0,
) -> Iterator[Provider]:
    """The service, on a port of its own. An empty `client_secret` is a public client.

    Any port of 127.0.0.1 is taken in a redirect URI. Refresh tokens rotate, and one that is replayed ends the whole
    sign-in. `slow_ms` is how long an answer of the token endpoint takes, after it took effect.
    """
    settings = {
        "id": client_id,
        "secret": client_secret,
        "redirects": redirects,
        "scopes": scopes,
        "access": access_seconds,
        "refresh": refresh_seconds,
        "rotate": rotate,
        "slow": slow_ms,
    }
    script = str(Path(__file__).with_name("oidc.mjs"))
    process = subprocess.Popen(
        [peers.NODE, "--no-warnings", script, peers.script("oidc-provider/lib/index.js"), json.dumps(settings)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdin is not None and process.stdout is not None
        try:
            for line in process.stdout:
                if line.startswith(b'{"port"'):
                    yield Provider(f"http://127.0.0.1:{json.loads(line)['port']}", client_id, client_secret)
                    break
            else:
                raise AssertionError("oidc-provider did not start")
        finally:
            process.stdin.close()
            process.kill()


def consent(authorize_url: str, account: str = "ada") -> str:
    """Signs in and consents to all that is asked; the URL of the callback, with code, state and iss."""
    with _client() as browser:
        page = _walk(browser, authorize_url)
        page = _walk(browser, page, {"prompt": "login", "login": account, "password": "x"})
        return _walk(browser, page, {"prompt": "consent"})


def deny(authorize_url: str) -> str:
    """Signs in and refuses; the URL of the callback, with error, state and iss."""
    with _client() as browser:
        page = _walk(browser, authorize_url)
        page = _walk(browser, page, {"prompt": "login", "login": "ada", "password": "x"})
        return _walk(browser, f"{page}/abort")


def _walk(browser: httpx.Client, url: str, form: Mapping[str, str] | None = None) -> str:
    """Follows redirects to the next page that asks something, or out of the service: the URL of that."""
    service = httpx.URL(url).netloc
    if form is None:
        reply = browser.get(url)
    else:
        page = browser.get(url).text
        found = re.search(r'<form[^>]* action="([^"]+)"', page)
        assert found, page
        reply = browser.post(urljoin(url, html.unescape(found[1])), data=dict(form))
    while reply.has_redirect_location:
        url = urljoin(str(reply.url), reply.headers["location"])
        if httpx.URL(url).netloc != service:
            return url
        reply = browser.get(url)
    assert reply.status_code == 200, reply.text
    return str(reply.url)


def _client() -> httpx.Client:
    return httpx.Client(trust_env=False, timeout=20.0)
