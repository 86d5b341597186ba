"""Lines and messages: whatever a server writes is a message, or is skipped, or breaks off; nothing of it crashes."""

import json

import mcp_types as types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helm_cli.drivers.mcp_watch import MOST_ERRORS, Watch
from helm_cli.drivers.mcp_wire import MOST_LINE, Lines, TooLarge, Unreadable, line, message


@given(st.binary(), st.lists(st.integers(1, 7)))
def test_lines_do_not_depend_on_how_they_come(text: bytes, sizes: list[int]) -> None:
    lines, got = Lines(), []
    for size in [*sizes, len(text)]:
        got += lines.feed(text[:size])
        text = text[size:]
    whole = Lines()
    assert got == whole.feed(b"".join([*(part + b"\n" for part in got)]))


def test_a_line_has_its_most() -> None:
    assert Lines().feed(b"x" * MOST_LINE + b"\n") == [b"x" * MOST_LINE]
    with pytest.raises(TooLarge, match="sent a message over 4 MiB"):
        Lines().feed(b"x" * (MOST_LINE + 1) + b"\n")
    lines = Lines()
    lines.feed(b"x" * MOST_LINE)
    with pytest.raises(TooLarge):
        lines.feed(b"x")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"   ",
        b"[]",
        b"null",
        b"{}",
        b"1",
        b"listening on 8080",
        b"\xff\xfe",
        b'{"id":null,"error":{}}',
        b'{"id":7}',
        b'{"id":[1],"result":{}}',
        b'{"id":true,"result":{}}',
        b'{"method":7}',
        b"NaN",
        b'{"jsonrpc":"2.0"',
        b"\x00",
    ],
)
def test_what_is_no_message_is_skipped(text: bytes) -> None:
    assert message(text) is None


def test_messages() -> None:
    assert message(b'\xef\xbb\xbf{"id":"7","result":{"a":"\xe9","b":NaN}}\r') is not None
    answer = message(b'{"id":7,"result":{"content":[],"extra":"\\ud800"}}')
    assert isinstance(answer, types.JSONRPCResponse)
    assert (answer.id, answer.result) == (7, {"content": [], "extra": "\ud800"})
    for text in (b'{"id":7,"error":"no"}', b'{"id":7,"error":{"code":"x","message":3}}'):
        error = message(text)
        assert isinstance(error, types.JSONRPCError)
        assert (error.error.code, error.error.message, error.error.data) == (-32603, "", None)
    request = message(b'{"id":"a","method":"ping","params":[1]}')
    assert isinstance(request, types.JSONRPCRequest)
    assert (request.id, request.method, request.params) == ("a", "ping", None)
    assert isinstance(message(b'{"method":"notifications/progress","params":{}}'), types.JSONRPCNotification)


@pytest.mark.parametrize("text", [b'{"id":1,"result":[]}', b'{"id":1,"result":null}', b'{"id":1,"a":' + b"[" * 10**6])
def test_what_may_be_the_answer_is_not_skipped(text: bytes) -> None:
    with pytest.raises(Unreadable):
        message(text)


@given(st.binary())
def test_nothing_crashes(text: bytes) -> None:
    message(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(st.characters(codec="utf-8")), json_values))
def test_what_is_sent_is_one_line_and_the_same(arguments: dict[str, object]) -> None:
    params = {"name": "x", "arguments": arguments}
    try:
        text = line(types.JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/call", params=params))
    except UnicodeEncodeError:  # refused when the call was planned
        return
    assert len(text.decode().splitlines()) == 1
    assert json.loads(text)["params"] == params


def test_the_end_of_what_a_server_said_is_kept() -> None:
    watch = Watch("the secret")
    for _ in range(100):
        watch.heard(b"drowning\n" * 1000)
    assert len(watch.errors) == MOST_ERRORS
    watch.heard(b"\x1b[1;31mfatal:\x1b[0m\tno \x07route with the secret \xff\n\n  \n\x1b]0;title\x07\n")
    assert watch.last_words() == "; it said: fatal: no route with *** �"
    assert watch.safe("x" * 1000) == "x" * 300 + "…"
    assert Watch(None).last_words() == ""


@pytest.mark.parametrize(
    ("reports", "ending"),
    [
        (b"", None),
        (b"started 7\n", None),
        (b"started 7\nended 0\n", "ended with status 0"),
        (b"started 7\nended 768\n", "ended with status 3"),
        (b"started 7\nended 9\n", "was ended by signal 9"),
        (b"started 7\nfailed command 2\nended 32512\n", "could not be started: its command was not found"),
        (b"failed command 13\n", "could not be started: its command may not be executed"),
        (b"failed command 8\n", "could not be started: its command is no program"),
        (b"failed command 7\n", "could not be started: the system refused its command"),
        (b"failed folder 2\n", "could not be started: the workspace cannot be entered"),
    ],
)
def test_how_a_server_ended(reports: bytes, ending: str | None) -> None:
    watch = Watch(None)
    watch.reports += reports
    assert watch.ending() == ending
