"""Manifests that are no text, no strict JSON, or far too much of it: a clear fault, quickly."""

import json
import time

import pytest

from helm_cli import dialects
from helm_cli.dialects import json_source
from helm_cli.model.content import MOST_BYTES_A_FILE, Content
from helm_cli.model.extension import Fault


def faults(data: bytes) -> tuple[Fault, ...]:
    return dialects.read(Content({"manifest.json": data})).faults


def told(data: bytes) -> list[str]:
    return [f"{fault.line}:{fault.column} {fault.message}" for fault in faults(data)]


def test_byte_order_marks_and_other_codings() -> None:
    text = '{"id": "x", "connections": []}'
    assert told(b"\xef\xbb\xbf" + text.encode()) == [
        "1:1 the file begins with a byte order mark; save it as UTF-8 without one"
    ]
    assert told(text.encode("utf-16")) == ["1:1 the file is UTF-16; save it as UTF-8"]
    assert told(b"\xfe\xff" + text.encode("utf-16-be")) == ["1:1 the file is UTF-16; save it as UTF-8"]
    assert told(text.encode("utf-16-le")) == ["1:1 the file is UTF-16; save it as UTF-8"]
    for coding in ("utf-32", "utf-32-le", "utf-32-be"):
        assert told(text.encode(coding)) == ["1:1 the file is UTF-32; save it as UTF-8"]
    assert told(b"\x00\x00\xfe\xff" + text.encode("utf-32-be")) == ["1:1 the file is UTF-32; save it as UTF-8"]


def test_a_byte_that_is_not_utf8() -> None:
    assert told('{"id": "x",\n "name": "é'.encode() + b'\xe9"}') == [
        "2:12 this byte is not UTF-8; save the file as UTF-8"
    ]
    assert told(b'{"id": "\xed\xa0\x80"}') == ["1:9 this byte is not UTF-8; save the file as UTF-8"]


def test_columns_count_characters_and_lines_end_with_a_line_feed() -> None:
    assert told('{"name": "\U0001f600é",\r\n "id": "X", "connections": []}'.encode())[0].startswith('2:8 "id" must be')
    assert told('{"name": "\U0001f600é", "id": "X", "connections": []}'.encode())[0].startswith('1:22 "id" must be')


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"connections":[', '[{"a":[0,'])
@pytest.mark.parametrize("closed", [True, False])
def test_a_hundred_thousand_brackets(opening: str, closed: bool) -> None:
    text = opening * 100_000
    if closed:
        text += "1" + "".join({"[": "]", "{": "}"}[mark] for mark in reversed(text) if mark in "[{")
    assert [fault.message for fault in faults(text.encode())] == ["brackets are nested deeper than 200 levels"]


def test_two_hundred_levels_that_nobody_reads_are_no_fault() -> None:
    nested = "[" * 199 + "]" * 199
    assert faults(f'{{"id": "x", "connections": [], "widgets": {nested}}}'.encode()) == ()


def test_brackets_in_text_do_not_nest() -> None:
    text = json.dumps({"id": "x", "name": '[{"\\' * 300, "connections": []})
    assert faults(text.encode()) == ()


@pytest.mark.parametrize(
    "value", ["true", "false", "null", "0", "-1", "1.5", "-1.5e-3", "1e308", '"\\u00e9"', "[]", "{}"]
)
def test_a_value_that_json_has_is_no_fault(value: str) -> None:
    assert json_source.faults(f'{{"a": [{value}, {value}]}}') == []


def test_huge_integers() -> None:
    for digits in (4_001, 4_301, 1_000_000):
        assert told(b'{"id": "x", "connections": [], "widgets":\n [-' + b"1" * digits + b"]}") == [
            "2:3 this integer has more than 4000 digits; write it as text"
        ]
    assert faults(b'{"id": "x", "connections": [], "widgets": ' + b"1" * 4_000 + b"}") == ()


FULL = MOST_BYTES_A_FILE - 200
LARGE = {
    "text": '"' + "x" * FULL + '"',
    "escapes": '"' + "\\n" * (FULL // 2) + '"',
    "open text": '"' + "x" * FULL,
    "a wrong escape": '"' + "\\n" * (FULL // 2) + '\\q"',
    "escaped quotes that are never closed": "[]" * 300 + '"' + '\\"' * (FULL // 2 - 600),
    "an integer": "1" * FULL,
    "broken lists": "[" + "[]," * (FULL // 3) + "]",
    "short lists": "[" + "[]," * (FULL // 3) + "[]]",
    "keys": "{" + ",".join(f'"k{index}":1' for index in range(FULL // 12)) + "}",
    "one key": "{" + ",".join(['"k":1'] * (FULL // 6)) + "}",
    "white space": " " * FULL,
}


@pytest.mark.parametrize("name", LARGE)
def test_four_mebibytes(name: str) -> None:
    began = time.process_time()
    found = faults(f'{{"name": 1, "connections": {LARGE[name]}}}'.encode())
    assert found
    assert len(found) <= 1_002
    assert time.process_time() - began < 10


def test_a_large_text_that_is_no_strict_json_tells_where_it_breaks() -> None:
    large = b'{"id": "x", "connections": [], "widgets": "' + b"x" * 1024 * 1024 + b'",\n "pages": %s}'
    assert told(large % b"nul") == ["2:11 this is not JSON from here on"]
    assert told(large % b"NaN") == ["1:1 NaN is not JSON"]
    assert told(large % (b"1" * 4_001)) == ["1:1 an integer of 4001 digits is too long"]
    assert told(large % (b"1" * 4_301)) == ["1:1 an integer of 4301 digits is too long"]
    assert told(large % (b"[" * 300)) == ["2:210 brackets are nested deeper than 200 levels"]


def test_more_connections_than_can_be_checked() -> None:
    connections = [{"id": f"c{index}", "kind": "mcp", "server": "s", "operations": ["t"]} for index in range(5_000)]
    text = json.dumps({"id": "x", "connections": connections})
    assert [(fault.path, fault.message) for fault in faults(text.encode())] == [
        ("connections", "there are more values in the connections than helm checks; split the extension")
    ]


def test_over_five_hundred_faults() -> None:
    text = json.dumps({"id": "x", "connections": [], **{f"k{index}": 1 for index in range(2_000)}})
    found = faults(text.encode())
    assert len(found) == 501
    assert found[0] == Fault(
        "manifest.json", 1, 1, "", "there are 500 faults or more; these are the first that were found"
    )


def test_over_five_hundred_keys_that_stand_twice() -> None:
    text = '{"id": "x", "connections": [], "widgets": {' + ", ".join(['"k": 1'] * 2_000) + "}}"
    found = faults(text.encode())
    assert len(found) == 500
    assert {fault.message for fault in found} == {'the key "k" stands twice in one object; keep one of them'}


def test_white_space_around_a_manifest_is_no_fault() -> None:
    assert faults(b'\r\n\t {"id": "x", "connections": []} \n\n') == ()
