"""An HTTP call's plan: what the placeholders become, what stays as it is, and what never leaves its base URL."""

import json
import math
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helm_cli import kinds
from helm_cli.grammar import template
from helm_cli.kinds import http
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Service

BASE = "https://api.example.test/api/v2"
NONE: Any = object()


def call(
    path: str = "/x", query: dict[str, str] | None = None, body: Any = NONE, method: str = "GET", effect: Any = "read"
) -> Operation:
    """An operation as the dialect makes it of a declaration."""
    spec = {"method": method, "path": path, "query": query or {}, "path_names": template.names(path)}
    used = [*template.names(path), *(name for value in (query or {}).values() for name in template.names(value))]
    if body is not NONE:
        spec["body"] = body
        used += template.body_names(body)
    return Operation("op", effect, tuple(dict.fromkeys(used)), spec)


def plan(operation: Operation, arguments: dict[str, Any] | None = None, base: str = BASE) -> Plan:
    connection = Connection("gh", "http", "service", "github", (operation,), {})
    extension = Extension("issues", "Issues", "1", "", "manifest.json", True, (connection,), ())
    return http.plan(extension, connection, operation, arguments or {}, Service("github", base))


def url(operation: Operation, **arguments: Any) -> str:
    found = plan(operation, arguments).request["url"]
    assert isinstance(found, str)
    return found


def body(template_: Any, **arguments: Any) -> Any:
    return plan(call(body=template_, method="POST"), arguments).request["body"]


def refusal(operation: Operation, arguments: dict[str, Any]) -> str:
    with pytest.raises(HelmError) as caught:
        plan(operation, arguments)
    assert caught.value.code == "refused"
    assert BASE not in caught.value.message
    return caught.value.message


ISSUES = call("/repos/{owner}/{repo}/issues", {"per_page": "{limit}", "state": "open"})


@pytest.mark.contract("C22", "C36")
def test_a_read() -> None:
    assert plan(ISSUES, {"owner": "me", "repo": "app", "limit": 20}) == Plan(
        kind="http",
        effect="read",
        extension="issues",
        connection="gh",
        operation="op",
        group="service",
        profile="github",
        driver="http",
        shape="json",
        title="Confirm request",
        verb="Send",
        noun="call",
        request={
            "method": "GET",
            "url": "https://api.example.test/api/v2/repos/me/app/issues?per_page=20&state=open",
        },
    )


@pytest.mark.contract("C45", "C111")
def test_a_write_has_the_text_of_its_body() -> None:
    close = call("/issues/{number}", None, {"state": "{state}", "ü": ["\x7f"]}, "PATCH", "write")
    found = plan(close, {"number": 7, "state": "closed"})
    assert (found.effect, found.title, found.verb, found.driver) == ("write", "Confirm request", "Send", "http")
    assert found.request == {
        "method": "PATCH",
        "url": f"{BASE}/issues/7",
        "body": '{"state":"closed","\\u00fc":["\\u007f"]}',
    }
    assert plan(call("/x", method="DELETE", effect="write")).request == {"method": "DELETE", "url": f"{BASE}/x"}


@pytest.mark.contract("C23")
@pytest.mark.parametrize("arguments", [{}, {"a": None}])
def test_a_path_value_is_required(arguments: dict[str, Any]) -> None:
    assert refusal(call("/x/{a}"), arguments) == "op needs the argument a, which is part of its path"


@pytest.mark.contract("C24")
@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("me", "me"),
        ("a/b?c#d é", "a%2Fb%3Fc%23d%20%C3%A9"),
        ("group/project", "group%2Fproject"),
        ("100%", "100%25"),
        ("a%2Fb", "a%252Fb"),
        ("a\r\nHost: x", "a%0D%0AHost%3A%20x"),
        ("\0", "%00"),
        ("a;b=c,d", "a%3Bb%3Dc%2Cd"),
        ("~._-", "~._-"),
        ("...", "..."),
        (".git", ".git"),
        ("a..b", "a..b"),
        ("v1.", "v1."),
        (" ", "%20"),
        ("\U0001f600", "%F0%9F%98%80"),
        ("{b}", "%7Bb%7D"),
        (7, "7"),
        (-1.5, "-1.5"),
        (10**30, "1" + "0" * 30),
        (1e21, "1e%2B21"),
        (True, "true"),
        (False, "false"),
    ],
)
def test_a_path_value_is_one_encoded_segment(value: Any, written: str) -> None:
    found = url(call("/p/{a}/z"), a=value)
    assert found == f"{BASE}/p/{written}/z"
    assert str(httpx.URL(found)) == found


@pytest.mark.contract("C25")
@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("/p/{a}/z", {"a": ".."}),
        ("/p/{a}/z", {"a": "."}),
        ("/p/{a}/z", {"a": "%2e%2e"}),
        ("/p/{a}/z", {"a": "%2E."}),
        ("/p/{a}/z", {"a": "%252e%252e"}),
        ("/p/{a}/z", {"a": "%25252525252e."}),
        ("/p/{a}/z", {"a": "%" + "25" * 100 + "2e."}),
        ("/p/{a}/z", {"a": "x/../y"}),
        ("/p/{a}/z", {"a": "../y"}),
        ("/p/{a}/z", {"a": "y/.."}),
        ("/p/{a}/z", {"a": "..\\y"}),
        ("/p/{a}/z", {"a": "x%2f..%5cy"}),
        ("/p/{a}{b}/z", {"a": ".", "b": "."}),
        ("/p/.{a}/z", {"a": "."}),
        ("/p/{a}", {"a": ".."}),
        ("/%2e{a}", {"a": "%2e"}),
    ],
)
def test_a_path_value_makes_no_segment_of_dots(path: str, arguments: dict[str, Any]) -> None:
    assert 'make a "." or ".." segment of its path' in refusal(call(path), arguments)


@pytest.mark.contract("C25")
def test_a_path_value_is_not_empty() -> None:
    told = "the argument a is empty, but is part of the path; give it a text"
    assert refusal(call("/p/{a}/z"), {"a": ""}) == told
    assert refusal(call("/p/x{a}"), {"a": ""}) == told


@pytest.mark.contract("C26", "C27")
@pytest.mark.parametrize(
    ("query", "arguments", "written"),
    [
        ({"per_page": "{limit}"}, {"limit": 20}, "?per_page=20"),
        ({"per_page": "{limit}"}, {"limit": None}, ""),
        ({"per_page": "{limit}"}, {}, ""),
        ({"a": "{limit}", "b": "1"}, {}, "?b=1"),
        ({"q": "{text}"}, {"text": ""}, "?q="),
        ({"q": "{text}"}, {"text": "a b&c=d+e#f/é"}, "?q=a%20b%26c%3Dd%2Be%23f%2F%C3%A9"),
        ({"q": "{yes}"}, {"yes": True}, "?q=true"),
        ({"q": "{number}"}, {"number": 1e21}, "?q=1e%2B21"),
        ({"q": "{number}"}, {"number": 0.1}, "?q=0.1"),
        ({"q": "is:{state} by:{who}"}, {"state": "open", "who": "me"}, "?q=is%3Aopen%20by%3Ame"),
        ({"q": "is:{state} by:{who}"}, {"state": "open"}, ""),
        ({"q": "{text}"}, {"text": "{limit}"}, "?q=%7Blimit%7D"),
        ({"filter[x]": "{ a }"}, {}, "?filter%5Bx%5D=%7B%20a%20%7D"),
        ({"q": "{dots}"}, {"dots": ".."}, "?q=.."),
    ],
)
def test_the_query(query: dict[str, str], arguments: dict[str, Any], written: str) -> None:
    found = url(call("/x", query), **arguments)
    assert found == f"{BASE}/x{written}"
    assert str(httpx.URL(found)) == found


GRAPHQL = "query($first: Int) { teams(first: $first) { nodes { id name } } }"


@pytest.mark.contract("C28", "C29", "C30")
@pytest.mark.parametrize(
    ("declared", "arguments", "sent"),
    [
        ({"n": "{limit}"}, {"limit": 20}, '{"n":20}'),
        ({"n": "{limit}"}, {"limit": "20"}, '{"n":"20"}'),
        ({"n": "{limit}"}, {"limit": None}, '{"n":null}'),
        ({"n": "{limit}"}, {}, '{"n":null}'),
        ({"n": "{limit}"}, {"limit": False}, '{"n":false}'),
        ({"n": "{limit}"}, {"limit": 10**40}, '{"n":1' + "0" * 40 + "}"),
        ({"n": "{limit}"}, {"limit": 1.5}, '{"n":1.5}'),
        ("{limit}", {"limit": 1}, "1"),
        (None, {}, "null"),
        ({"a": "x{limit}", "b": "{limit} ", "c": "{{limit}}"}, {}, '{"a":"x{limit}","b":"{limit} ","c":"{{limit}}"}'),
        ({"{limit}": "{limit}"}, {"limit": 1}, '{"{limit}":1}'),
        ([[{"a": ["{x}", {"b": "{y}"}]}], "{x}"], {"x": 1, "y": "z"}, '[[{"a":[1,{"b":"z"}]}],1]'),
        ({"n": "{limit}"}, {"limit": "{limit}"}, '{"n":"{limit}"}'),
        ({"n": "{t}"}, {"t": 'a"b\\\n\u202e\u00e9\U0001f600'}, '{"n":"a\\"b\\\\\\n\\u202e\\u00e9\\ud83d\\ude00"}'),
        (
            {"query": GRAPHQL, "variables": {"first": "{limit}"}},
            {"limit": 20},
            '{"query":"' + GRAPHQL + '","variables":{"first":20}}',
        ),
    ],
)
def test_the_body(declared: Any, arguments: dict[str, Any], sent: str) -> None:
    assert body(declared, **arguments) == sent


@pytest.mark.contract("C31")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "the argument a is a list; pass a string, a number, true, false or null"),
        ({}, "the argument a is an object; pass a string, a number, true, false or null"),
        ("x" * 4097, "the argument a has 4097 characters; at most 4096 are allowed"),
        (math.inf, "the argument a is not a finite number; pass a number, a string, true, false or null"),
        ("\ud800", "the argument a holds a lone surrogate, which no UTF-8 text can carry"),
    ],
)
@pytest.mark.parametrize("operation", [call("/x/{a}"), call("/x", {"q": "{a}"}), call("/x", None, "{a}", "POST")])
def test_an_argument_is_a_scalar(operation: Operation, value: Any, message: str) -> None:
    assert refusal(operation, {"a": value}) == message


@pytest.mark.contract("C31")
def test_a_text_of_4096_characters_passes() -> None:
    text = "é" * 4096
    assert url(call("/x/{a}"), a=text) == f"{BASE}/x/{'%C3%A9' * 4096}"
    assert json.loads(body("{a}", a=text)) == text


@pytest.mark.contract("C32", "C34")
@pytest.mark.parametrize("name", ["body", "url", "headers", "Limit"])
def test_an_unknown_argument_is_refused(name: str) -> None:
    told = f"op has no argument {name}; it takes owner, repo, limit"
    assert refusal(ISSUES, {"owner": "me", "repo": "app", name: "x"}) == told


def test_a_url_that_nothing_sends_is_refused() -> None:
    long = call("/{a}/{b}")
    text = "\U0001f600" * 4096
    assert refusal(long, {"a": text, "b": text}) == "the arguments of op make its URL longer than 65,536 characters"


@pytest.mark.contract("C36")
@pytest.mark.parametrize("base", ["https://a.test", "http://127.0.0.1:8080/x", "http://localhost/a/b%2Fc"])
def test_the_path_is_added_to_the_base_as_text(base: str) -> None:
    assert plan(call("/y//z"), base=base).request["url"] == f"{base}/y//z"


TEXTS = st.text(max_size=40) | st.sampled_from(
    ["..", ".", "%2e%2e", "..%2f", "%5c..", "//evil.test", "@evil.test", "#", "?", "\\", ";..", "%", "%zz"]
)


@given(TEXTS, TEXTS, TEXTS)
@example("%", "2e", "/")
def test_whatever_the_values_are_the_url_stays_what_it_is(owner: str, repo: str, text: str) -> None:
    operation = call("/a/{owner}.{repo}/b", {"q": "x{text}"})
    try:
        found = url(operation, owner=owner, repo=repo, text=text)
    except HelmError as error:
        assert error.code == "refused"
        return
    assert found.isascii()
    assert str(httpx.URL(found)) == found
    path, _, query = found.removeprefix(f"{BASE}/a/").partition("?")
    segment, last = path.split("/")
    assert (unquote(segment), last) == (f"{owner}.{repo}", "b")
    assert unquote(query.removeprefix("q=x")) == text


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text() | st.just("{a}"), st.lists, max_leaves=8))
def test_a_body_is_always_plain_ascii_that_reads_back(declared: Any) -> None:
    operation = call(body=declared, method="POST")
    found = plan(operation, {"a": "é"} if operation.params == ("a",) else {}).request["body"]
    assert isinstance(found, str)
    assert found.isascii()
    assert "\n" not in found


def test_the_schema_of_its_arguments() -> None:
    assert kinds.kind("http").schema(Connection("gh", "http", None, None, (), {}), ISSUES) == {
        "type": "object",
        "properties": {
            "owner": {"type": ["string", "number", "boolean"], "maxLength": 4096},
            "repo": {"type": ["string", "number", "boolean"], "maxLength": 4096},
            "limit": {"type": ["string", "number", "boolean", "null"], "maxLength": 4096},
        },
        "required": ["owner", "repo"],
        "additionalProperties": False,
    }


def test_a_plan_can_be_made_of_the_sample() -> None:
    assert kinds.sample(ISSUES) == {"owner": "x", "repo": "x", "limit": None}
    assert plan(ISSUES, kinds.sample(ISSUES)).request["url"] == f"{BASE}/repos/x/x/issues?state=open"
