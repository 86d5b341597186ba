"""What the browser shows where a sign-in ends: fixed pages, with nothing in them of what was asked for."""

from base64 import b64encode
from hashlib import sha256
from typing import Final, NamedTuple


class Page(NamedTuple):
    """One page: the HTTP status it comes with, its mark and the colour of it, its heading, and a line under that."""

    status: str
    mark: str
    colour: str
    heading: str
    line: str


CONNECTED: Final = Page(
    "200 OK", "✓", "ok", "You are signed in", "Helm keeps it on this machine. You can close this tab."
)
DENIED: Final = Page(
    "200 OK",
    "✕",
    "no",
    "You were not signed in",
    "The service did not allow it, so nothing changed. You can close this tab.",
)
FAILED: Final = Page(
    "200 OK", "!", "no", "You are not signed in yet", "Something went wrong on the way. Your terminal says what to do."
)
STRANGE: Final = Page(
    "400 Bad Request",
    "?",
    "no",
    "This page belongs to another sign&#8209;in",
    "Helm does not wait for this one. Go on from the address in your terminal.",
)

_STYLE: Final = """
:root { color-scheme: light dark; --back: #f4f5f7; --card: #fff; --edge: #dfe3e8; --text: #1b2330; --soft: #5a6675;
  --ok: #16794c; --no: #b3401f; }
@media (prefers-color-scheme: dark) { :root { --back: #12161c; --card: #1b2129; --edge: #2d3641; --text: #eef2f6;
  --soft: #a3b0be; --ok: #55c994; --no: #f0916f; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--back);
  color: var(--text); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { width: 100%; max-width: 27rem; padding: 2.5rem 2rem; text-align: center; background: var(--card);
  border: 1px solid var(--edge); border-radius: 1rem; }
.mark { display: grid; place-items: center; width: 3.5rem; height: 3.5rem; margin: 0 auto 1.25rem; border-radius: 50%;
  border: 2px solid currentColor; font-size: 1.5rem; line-height: 1; }
.ok { color: var(--ok); } .no { color: var(--no); }
h1 { margin: 0 0 .5rem; font-size: 1.35rem; line-height: 1.3; text-wrap: balance; }
p { margin: 0; color: var(--soft); text-wrap: balance; }
footer { margin-top: 1.75rem; font-size: .875rem; color: var(--soft); letter-spacing: .04em; }
"""
_HTML: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{heading} - Helm</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main>
<div class="mark {colour}" aria-hidden="true">{mark}</div>
<h1>{heading}</h1>
<p>{line}</p>
<footer>helm</footer>
</main>
</body>
</html>
"""
# Nothing is loaded, run, framed or sent, and the address, which holds the code, is told to nobody.
_HEADERS: Final = (
    "HTTP/1.1 {status}",
    "Content-Type: text/html; charset=utf-8",
    "Content-Length: {length}",
    "Content-Security-Policy: default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy: no-referrer",
    "X-Content-Type-Options: nosniff",
    "Cache-Control: no-store",
    "Connection: close",
    "",
    "",
)


def response(page: Page) -> bytes:
    """A page as the whole of an HTTP response."""
    body = _HTML.format(heading=page.heading, line=page.line, mark=page.mark, colour=page.colour, style=_STYLE).encode()
    style = b64encode(sha256(_STYLE.encode()).digest()).decode()
    return "\r\n".join(_HEADERS).format(status=page.status, length=len(body), style=style).encode() + body
