"""Whatever comes in, helm takes it or says no: arguments, URLs, bodies, JSON, SQL and profiles.

Manifests, plugin.yaml, globs, cron, connection URLs and the lines of an MCP server have theirs beside their own tests.
`python -m tests.proofs.fuzz` runs one of them all for as long as one likes, led by coverage.
"""

import json
import re
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helm_cli import dialects, kinds
from helm_cli.cli import arguments
from helm_cli.grammar import sql
from helm_cli.model import jsontext
from helm_cli.model.content import Content
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Extension
from helm_cli.model.profile import Database, Profile, Server, Service
from helm_cli.store import groups, profiles
from tests.proofs import fuzz

NUMBERS: Final = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
SCALARS: Final = st.none() | st.booleans() | NUMBERS | st.text(max_size=20)
JSON: Final = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


# --- arguments


@given(st.text(alphabet='0123456789-+.eE truefalsn"[]{}\u0661\ud800', max_size=12) | JSON.map(json.dumps))
@example("007")
@example("1.10")
@example("1e5")
@example("-0")
@example("\uff19")
def test_an_argument_is_what_json_prints_back_or_else_the_text(text: str) -> None:
    found = arguments.typed(text)
    if isinstance(found, str):
        assert found == text
        return
    assert not isinstance(found, list | dict)
    assert jsontext.dump(found) == text
    assert json.loads(text) == found and type(json.loads(text)) is type(found)


@given(st.lists(st.text(max_size=12), max_size=4), st.lists(st.text(max_size=12), max_size=3), st.none() | st.text())
def test_any_words_are_arguments_or_a_usage_error(pairs: list[str], texts: list[str], whole: str | None) -> None:
    if whole is not None and whole[:1] in ("@", "-"):
        return
    try:
        found = arguments.collect(pairs, texts, whole)
    except HelmError as error:
        assert error.code == "usage"
        return
    assert jsontext.parse(jsontext.dump(found)) == found
    assert {word.partition("=")[0] for word in (*pairs, *texts)} <= found.keys()


def strict(text: str) -> Any:
    """What Python's own reader makes of it, with each of our refusals said again in other words."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError
        return dict(pairs)

    def never(name: str) -> Any:
        raise ValueError

    value = json.loads(text, object_pairs_hook=once, parse_constant=never)
    # No infinity, of which 1e999 makes one, and no lone surrogate.
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    return value


@settings(max_examples=250)
@given(
    st.text(alphabet='{}[]",:\\ud8cf0e19+-.NaInfinty \n', max_size=24)
    | st.builds(
        lambda value, at, mark: _with(json.dumps(value), at, mark), JSON, st.integers(0, 60), st.text(max_size=1)
    )
)
@example('{"a":1,"a":1}')
@example('["\\ud83d\\ude00"]')
@example('["\\ud83d"]')
@example("1e400")
@example("[-Infinity]")
def test_json_is_read_as_python_reads_it_where_both_may(text: str) -> None:
    try:
        expected = strict(text)
    except (ValueError, RecursionError):
        with pytest.raises(ValueError):
            jsontext.parse(text)
        return
    assert json.dumps(jsontext.parse(text)) == json.dumps(expected)


def _with(text: str, at: int, mark: str) -> str:
    return text[: at % (len(text) + 1)] + mark + text[at % (len(text) + 1) :]


# --- what an HTTP call sends

BASES: Final = (
    "https://a.example.com",
    "https://a.example.com/api/v2",
    "http://127.0.0.1:8080/x/y",
    "http://localhost",
)
HOSTILE: Final = st.sampled_from(
    (
        *("..", ".", "%2e%2e", "%252e%252e", "..%2f", "%5c..", "//evil.example.com", "@evil.example.com", "#", "?"),
        *("\\", ";x", "..;", ". ", "..\t", "\0", "\uff052e", "\u3002\u3002", "\r\nX-Evil: 1", "a&b=c", "+", "%", "%zz"),
        *("\u202e", "é", "{a}", "{b}"),
    )
)
VALUES: Final = SCALARS | HOSTILE | st.lists(HOSTILE, max_size=3).map("".join)
FIXED: Final = st.fixed_dictionaries({"a": VALUES, "b": VALUES, "c.d": VALUES})
PIECES: Final = st.sampled_from(
    ["x", "{a}", "{b}", "{c.d}", ".", "..", "%2e", "-", "%20", "{", "}", "é", ":", "@", ";"]
)
PATHS: Final = st.lists(st.lists(PIECES, min_size=1, max_size=3).map("".join), min_size=1, max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)
QUERIES: Final = st.dictionaries(
    st.sampled_from(["q", "page", "a b", "c&d", "é"]), st.lists(PIECES, max_size=3).map("".join), max_size=3
)
PLACEHOLDER: Final = re.compile(r"\{(a|b|c\.d)\}")


def filled(text: str, values: dict[str, Any]) -> str:
    """The text with its placeholders replaced, in another way than helm does it."""
    parts = PLACEHOLDER.split(text)
    parts[1::2] = [value if isinstance(value := values[name], str) else json.dumps(value) for name in parts[1::2]]
    return "".join(parts)


@cache
def declared(call: str) -> Extension | None:
    """The extension of a manifest with this call, which is JSON; None where it is no valid one."""
    connection = {"id": "gh", "kind": "http", "service": "s", "calls": {"op": json.loads(call)}}
    manifest = {"id": "e", "permissions": {"write": True}, "connections": [connection]}
    return dialects.read(Content({"manifest.json": json.dumps(manifest).encode()})).extension


def request(call: dict[str, Any], values: dict[str, Any], base: str) -> dict[str, Any] | None:
    """What is sent; None where the declaration is none, or the values are refused."""
    extension = declared(json.dumps(call))
    if extension is None:
        return None
    connection = extension.connections[0]
    operation = connection.operations[0]
    used = {name: value for name, value in values.items() if name in (operation.params or ())}
    try:
        return {**kinds.kind("http").plan(extension, connection, operation, used, Service("s", base)).request}
    except HelmError as error:
        assert error.code == "refused"
        return None


@settings(max_examples=300)
@given(st.sampled_from(BASES), PATHS, QUERIES, FIXED)
@example("https://a.example.com/api", "/x/{a}{b}", {}, {"a": ".", "b": ".", "c.d": ""})
@example("https://a.example.com/api", "/{a}e{b}", {}, {"a": "%2", "b": "%2e", "c.d": ""})
@example("https://a.example.com", "/{a}", {"q": "{b}", "page": "x{c.d}"}, {"a": "a/b", "b": None, "c.d": "&q=1"})
def test_no_value_changes_where_a_url_leads(
    base: str, path: str, query: dict[str, str], values: dict[str, Any]
) -> None:
    sent = request({"method": "GET", "path": path, "query": query}, values, base)
    if sent is None:
        return
    assert re.fullmatch("[!-~]+", sent["url"])
    parts, meant = urlsplit(sent["url"]), urlsplit(base)
    assert (parts.scheme, parts.netloc, parts.fragment) == (meant.scheme, meant.netloc, "")
    assert parts.path.startswith(meant.path + "/")
    segments, written = parts.path.removeprefix(meant.path).split("/"), path.split("/")
    assert len(segments) == len(written)
    for segment, template in zip(segments, written, strict=True):
        assert unquote(segment) not in (".", "..")
        assert "%" in template or unquote(segment) == filled(template, values)
    pairs = [pair.partition("=") for pair in parts.query.split("&")] if parts.query else []
    assert [(unquote(name), unquote(value)) for name, _, value in pairs] == [
        (name, filled(template, values))
        for name, template in query.items()
        if all(values[one] is not None for one in PLACEHOLDER.findall(template))
    ]


BODIES: Final = st.recursive(
    SCALARS | st.sampled_from(["{a}", "{b}", "{c.d}", "x{a}", "{a}{b}", "{ a }", "{a", "{{a}}", "{no name}", "{}"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["k", "{a}", "é", ""]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=200)
@given(BODIES, st.fixed_dictionaries({"a": SCALARS, "b": SCALARS, "c.d": SCALARS}))
@example(["{a}", {"{a}": "x{a}"}], {"a": "{b}", "b": 10**30, "c.d": 1e300})
def test_a_body_is_the_declared_one_with_each_value_in_its_own_type(body: Any, values: dict[str, Any]) -> None:
    sent = request({"method": "POST", "path": "/x", "body": body}, values, BASES[0])
    if sent is not None:
        # As texts, for there True is not 1, and 1 not 1.0.
        assert json.dumps(json.loads(sent["body"])) == json.dumps(_filled_in(body, values))


def _filled_in(body: Any, values: dict[str, Any]) -> Any:
    if isinstance(body, list):
        return [_filled_in(part, values) for part in body]
    if isinstance(body, dict):
        return {key: _filled_in(part, values) for key, part in body.items()}
    alone = PLACEHOLDER.fullmatch(body) if isinstance(body, str) else None
    return values[alone[1]] if alone else body


# --- SQL, and profiles

SQL: Final = st.lists(
    st.sampled_from(
        (
            *(
                "?",
                "'",
                "''",
                '"',
                "`",
                "[",
                "]",
                "--",
                "\n",
                "/*",
                "*/",
                ";",
                ",",
                " ",
                "1",
                "x",
                "'a'",
                "(",
                ")",
                "+",
            ),
            *("SELECT 1", "/**/", "-- c\n", '"?"', "[?]", "`?`", "'?'", "/*?*/", "||", "\\", "$1", "E'", "é", "\ufeff"),
        )
    ),
    max_size=7,
).map("".join)


@settings(max_examples=500)
@given(SQL)
@example("/*?*/ 1 -- ;?")
@example("'a'';?'")
@example("?;--")
@example("?;/*")
def test_what_sqlite_runs_is_counted_as_sqlite_counts_it(more: str) -> None:
    text = f"SELECT {more}"
    found = sql.scan(text, "sqlite")
    with closing(sqlite3.connect(":memory:")) as db:
        for values in range(8):
            try:
                db.execute(text, [1] * values).fetchall()
            except sqlite3.ProgrammingError as error:
                if "one statement at a time" in str(error):
                    assert found.statements > 1 or found.fault is not None
                    return
                # "The current statement uses 2, and there are 1 supplied."
            except sqlite3.Error:
                # What SQLite cannot prepare may be taken for anything: it is never run.
                return
            else:
                assert found.fault is not None or found == (1, values, None)
                return


TEXTS: Final = st.text(max_size=12) | st.sampled_from(
    ['"', "\\", "#", "\n", "'" * 3, '"' * 3, "\x7f", "é", "\u2028", "= 1", "\r", "\t"]
)
CREDENTIAL: Final = st.none() | st.sampled_from(["keychain", "file"])


def of(record: type[Profile], **members: st.SearchStrategy[Any]) -> st.SearchStrategy[Profile]:
    return st.fixed_dictionaries(members).map(lambda found: record(**{"name": "p", **found}))


SERVERS: Final = of(
    Database,
    engine=st.sampled_from(["postgres", "mysql"]),
    host=st.none() | st.sampled_from(["db.example.com", "::1", "10.0.0.1", "a,b"]),
    port=st.none() | st.integers(0, 65_536),
    socket=st.none() | TEXTS.map(lambda text: f"/run/{text}"),
    database=TEXTS,
    user=TEXTS,
    tls=st.none() | st.sampled_from(["disable", "require", "verify-full"]),
    tls_ca=st.none() | TEXTS.map(lambda text: f"/ca/{text}"),
    credential=CREDENTIAL,
)
FILES: Final = of(Database, engine=st.just("sqlite"), path=TEXTS.map(lambda text: f"/data/{text}"))
SERVICES: Final = of(
    Service,
    base_url=st.sampled_from(BASES),
    header=st.sampled_from(["Authorization", "X-Api-Key", "x_1", "Cookie"]),
    format=st.sampled_from(["bearer", "raw"]),
    client_id=st.none() | TEXTS,
    redirect_port=st.none() | st.integers(0, 65_536),
    credential=CREDENTIAL,
)
COMMANDS: Final = of(
    Server,
    command=st.none() | st.lists(TEXTS, min_size=1, max_size=4).map(tuple),
    url=st.none() | st.just("https://a.example.com/mcp?x=1"),
    token_env=st.none() | st.sampled_from(["TOKEN", "PATH", "1"]),
    start_seconds=st.integers(0, 700),
    credential=CREDENTIAL,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "home"


@settings(max_examples=150)
@given(SERVERS | FILES | SERVICES | COMMANDS)
def test_a_profile_that_may_be_kept_comes_back_as_it_was(folder: Path, profile: Profile) -> None:
    profiles.remove(folder, profile.group, "p")
    if groups.GROUPS[profile.group].fault(profile) is not None:
        with pytest.raises(HelmError):
            profiles.create(folder, profile)
        return
    assert profiles.create(folder, profile)
    assert profiles.load(folder, profile.group, "p") == profile


@given(
    st.lists(st.sampled_from(["engine", " = ", '"sqlite"', "\n", "path", '"/a"', "[", "]", "#", "'", "1", "\\", "é"]))
)
@example(["engine", " = ", '"sqlite"', "\n", "path", " = ", '"/a"'])
def test_any_text_is_a_profile_or_is_told_to_be_none(folder: Path, pieces: list[str]) -> None:
    path = folder / "profiles" / "db" / "q.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(pieces))
    try:
        assert isinstance(profiles.load(folder, "db", "q"), Database)
    except HelmError as error:
        assert error.code == "state" and str(path) in error.message


def test_what_runs_for_long_are_tests_that_run_here_too() -> None:
    for name in fuzz.TARGETS:
        for data in (b"", b"\0" * 64, bytes(range(256))):
            fuzz.target(name)(data)
