"""Base URLs, OAuth2 URLs and paths: what is let through, and what only looks as if it might be."""

import pytest

from helm_cli.grammar import url

ASCII = "must be ASCII without spaces, backslashes or control characters (percent-encode them; hosts as xn--…)"
WHOLE = "must be a whole URL, as in https://api.example.com"
CREDENTIALS = "must not contain credentials"
FRAGMENT = "must not contain a fragment"
QUERY = "must not contain a query"
SCHEME = "must begin with https:// (http:// is permitted only for 127.0.0.1 and localhost)"
HOST = "must name a host: letters, digits, - and ., or an IPv4 address of four numbers"
PORT = "must have a port from 1 to 65535, or none"
DOTS = 'must have no "." or ".." segment'
ENCODE = "has a character that must be percent-encoded"

BASES = {
    "https://api.example.com": "https://api.example.com",
    "https://api.example.com/": "https://api.example.com",
    "https://api.example.com/v2//": "https://api.example.com/v2",
    "HTTPS://API.Example.COM:443/V2": "https://api.example.com/V2",
    "https://api.example.com:8443/a%20b/~c;d=1,2": "https://api.example.com:8443/a%20b/~c;d=1,2",
    "https://10.0.0.255": "https://10.0.0.255",
    "https://xn--bcher-kva.example": "https://xn--bcher-kva.example",
    "https://localhost:0443": "https://localhost",
    "http://localhost:3000/api": "http://localhost:3000/api",
    "http://LOCALHOST:80": "http://localhost",
    "http://127.0.0.1": "http://127.0.0.1",
    "https://1password.example.com": "https://1password.example.com",
    "https://0.example.com": "https://0.example.com",
}

NO_BASES = {
    "": WHOLE,
    "api.example.com": WHOLE,
    "https:/example.com": WHOLE,
    "https:example.com": WHOLE,
    "//example.com": WHOLE,
    "https://": HOST,
    "https:///v1": HOST,
    "http://example.com": SCHEME,
    "http://localhost.evil.test": SCHEME,
    "http://127.0.0.1.evil.test": SCHEME,
    "http://127.0.0.2": SCHEME,
    "http://127.1": SCHEME,
    "http://localhost.": SCHEME,
    "http://[::1]/": SCHEME,
    "http://0x7f.1": SCHEME,
    "ftp://example.com": SCHEME,
    "file:///etc/passwd": SCHEME,
    "javascript://x": SCHEME,
    "http://127.0.0.1@evil.test": CREDENTIALS,
    "https://user:secret@example.com": CREDENTIALS,
    "https://@example.com": CREDENTIALS,
    "http://evil.test#@127.0.0.1": FRAGMENT,
    "https://example.com/#": FRAGMENT,
    "http://127.0.0.1\\@evil.test": ASCII,
    "http://127.0.0.1%2f@evil.test": CREDENTIALS,
    "https://exa%6dple.com": HOST,
    "https://example.com ": ASCII,
    " https://example.com": ASCII,
    "https://example.com\n": ASCII,
    "https://exam\tple.com": ASCII,
    "https://bücher.example": ASCII,
    "https://example.com/ü": ASCII,
    "https://a..b": HOST,
    "https://example.com.": HOST,
    "https://-a.example.com": HOST,
    "https://a_b.example.com": HOST,
    "https://[2001:db8::1]/": HOST,
    "https://127.1": HOST,
    "https://2130706433": HOST,
    "https://0x7f000001": HOST,
    "https://a.0x1": HOST,
    "https://256.0.0.1": HOST,
    "https://01.2.3.4": HOST,
    "https://1.2.3.4.5": HOST,
    f"https://{'a' * 64}.example": HOST,
    f"https://{'a.' * 127}aa": HOST,
    "https://example.com:": PORT,
    "https://example.com:0": PORT,
    "https://example.com:65536": PORT,
    "https://example.com:99999": PORT,
    "https://example.com:8a": PORT,
    "https://example.com:+80": PORT,
    "https://example.com?": QUERY,
    "https://example.com/v1?key=value": QUERY,
    "https://example.com/a/../b": DOTS,
    "https://example.com/.": DOTS,
    "https://example.com/%2e%2E/b": DOTS,
    "https://example.com/a%5C..%5Cb": DOTS,
    "https://example.com/%252e%252e/b": DOTS,
    "https://example.com/..;x/b": DOTS,
    "https://example.com/..%00/b": DOTS,
    "https://example.com/a|b": ENCODE,
    "https://example.com/%zz": ENCODE,
    "https://example.com/{a}": ENCODE,
}


@pytest.mark.parametrize("text", BASES)
def test_a_base_url_and_how_it_is_kept(text: str) -> None:
    assert url.base_fault(text) is None
    assert url.base(text) == BASES[text]
    assert url.base_fault(BASES[text]) is None
    assert url.base(BASES[text]) == BASES[text]


@pytest.mark.parametrize("text", NO_BASES)
def test_what_is_no_base_url(text: str) -> None:
    fault = url.base_fault(text)
    assert fault is not None
    assert fault.startswith(NO_BASES[text])


@pytest.mark.contract("C49", "C50", "C51")
@pytest.mark.parametrize("text", [text for text, fault in NO_BASES.items() if fault not in (QUERY, DOTS)])
def test_an_oauth_url_has_the_rules_of_a_base_url(text: str) -> None:
    assert url.authorize_fault(text) == NO_BASES[text]
    assert url.token_fault(text) == NO_BASES[text]


@pytest.mark.contract("C51")
def test_only_an_authorize_url_has_a_query() -> None:
    text = "https://auth.example.com/authorize?access_type=offline&a=%20/?:@"
    assert url.authorize_fault(text) is None
    assert url.token_fault(text) == "must not contain a query; only authorizeUrl can have one"
    assert url.token_fault("https://auth.example.com/token?") is not None
    assert url.token_fault("https://auth.example.com/token") is None
    assert url.authorize_fault("https://a.example.com/?a|b") == (
        "has a character in its query that must be percent-encoded"
    )


START = 'must start with exactly one "/", because it is added to the base URL of the service'
BRACE = "has a brace that belongs to no {name} placeholder"
PATHS = {
    "/": None,
    "/a": None,
    "/a/": None,
    "/a//b": None,
    "/repos/{owner}/{repo}/issues": None,
    "/{a}{b}.{c}-x": None,
    "/...": None,
    "/a/.b/..c/d..": None,
    "/a%2Fb%20c": None,
    "/a:b@c;d=1,2!$&'()*+~_": None,
    "": START,
    "x": START,
    "//x": START,
    "///": START,
    "\\x": START,
    " /x": START,
    "https://evil.test/": START,
    "{path}": START,
    "/a/../b": DOTS,
    "/./a": DOTS,
    "/..": DOTS,
    "/a/.": DOTS,
    "/%2e": DOTS,
    "/.%2E/a": DOTS,
    "/a%2f..%2fb": DOTS,
    "/a%5c..": DOTS,
    "/a\\..\\b": DOTS,
    "/a/%252e%252e/b": DOTS,
    "/..;a=b/c": DOTS,
    "/..%00": DOTS,
    "/.%09/a": DOTS,
    "/a;..": None,
    "/..a;/b": None,
    "/a\\b": ENCODE,
    "/a b": ENCODE,
    "/a\nb": ENCODE,
    "/a\n": ENCODE,
    "/é": ENCODE,
    "/a%": ENCODE,
    "/a%2": ENCODE,
    "/a%{x}2e": ENCODE,
    "/a%2{x}": ENCODE,
    "/{x}%2e{y}": None,
    "/a|b": ENCODE,
    '/"': ENCODE,
    "/a?b=c": 'must not contain "?"; declare parameters under "query"',
    "/a?": 'must not contain "?"; declare parameters under "query"',
    "/a#b": 'must not contain "#"',
    "/{": BRACE,
    "/}": BRACE,
    "/{}": BRACE,
    "/{a b}": BRACE,
    "/{1}": BRACE,
    "/{{a}}": BRACE,
    "/{a": BRACE,
}


@pytest.mark.contract("C35")
@pytest.mark.parametrize("path", PATHS)
def test_paths(path: str) -> None:
    assert url.path_fault(path) == PATHS[path]


@pytest.mark.contract("C25")
@pytest.mark.parametrize(
    ("path", "does"),
    [
        ("/a/b", False),
        ("/.../.a/b./a..b", False),
        ("/a/..", True),
        ("/./a", True),
        ("/a/%2e%2E/b", True),
        ("/a/%252e%252e", True),
        ("/a%2f.%2fb", True),
        ("/a\\..\\b", True),
        ("/a%255c..", True),
        ("/..;", True),
        ("/..;x/b", True),
        ("/.;/b", True),
        ("/%2e%2e%3b", True),
        ("/..\0", True),
        ("/%2e%2e%2500x", True),
        ("/.. ", True),
        ("/..%20", True),
        ("/..%20x", True),
        ("/..\t", True),
        ("/.\n", True),
        ("/..\x7f", True),
        ("/..\u00a0", True),
        ("/..\u2003x", True),
        ("/...;", False),
        ("/..a;", False),
        ("/;..", False),
        ("/ ..", False),
        ("/é..", False),
        ("/%", False),
        ("/%25252525", False),
        # No server decodes so often, and nobody means it.
        ("/%" + "25" * 9, True),
    ],
)
def test_a_path_that_climbs_however_often_it_is_decoded(path: str, does: bool) -> None:
    assert url.climbs(path) is does


def test_a_url_is_as_long_as_somebody_may_mean() -> None:
    long = "https://api.example.com/" + "a" * (url.MOST_CHARACTERS - len("https://api.example.com/"))
    for fault in (url.base_fault, url.authorize_fault, url.token_fault, url.server_fault):
        assert fault(long) is None
        assert fault(long + "a") == "must have at most 4,096 characters"


def test_no_clause_repeats_the_url() -> None:
    for text in NO_BASES:
        for fault in (url.base_fault(text), url.authorize_fault(text), url.token_fault(text)):
            assert fault is None or not {"evil", "secret", "user"} & set(fault.replace(".", " ").split())
