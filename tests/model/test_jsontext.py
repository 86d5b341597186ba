"""What JSON means in helm: what is refused, what is kept exactly, and what every digest is taken over."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from helm_cli.model import jsontext
from helm_cli.model.jsontext import Json

VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | some.text(),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', 'the key "a" stands twice in one JSON object'),
        (f'{{"{"a" * 50}": 1, "{"a" * 50}": 2}}', f'the key "{"a" * 40}"… stands twice in one JSON object'),
        ("[NaN]", "NaN is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ("1e999", "the number 1e999 is too large"),
        ('"\\ud800"', "the JSON holds a lone surrogate, which no UTF-8 text can carry"),
        ('{"\\udfff": 1}', "the JSON holds a lone surrogate, which no UTF-8 text can carry"),
        ("[" * 201 + "]" * 201, "the JSON is nested too deeply"),
        ('{"a":' * 100_000, "the JSON is nested too deeply"),
        ("[" * 100_000, "the JSON is nested too deeply"),
        ("9" * 4_001, "an integer of 4001 digits is too long"),
        (b'"\xff"', "the JSON is not UTF-8"),
        ("", "not JSON: expecting value at line 1 column 1"),
        ("[1,]", "not JSON: expecting value at line 1 column 4"),
        ("01", "not JSON: extra data at line 1 column 2"),
        ("\ufeff1", "not JSON: unexpected UTF-8 BOM (decode using utf-8-sig) at line 1 column 1"),
    ],
)
def test_what_is_no_strict_json_is_refused_in_one_clause(text: str | bytes, message: str) -> None:
    with pytest.raises(ValueError) as refused:
        jsontext.parse(text)
    assert str(refused.value) == message


def test_of_what_somebody_else_sent_half_an_emoji_is_mended_and_no_key_is_repeated() -> None:
    assert jsontext.parse('{"a": ["\\ud83d", "b\\ud83d\\ude00"]}', mend=True) == {"a": ["\ufffd", "b😀"]}
    with pytest.raises(ValueError, match=r"\Aa key stands twice in one JSON object\Z"):
        jsontext.parse('{"canary": 1, "canary": 2}', mend=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[" * 200 + "]" * 200, None),
        ("9" * 4_000, int("9" * 4_000)),
        ("12345678901234567890", 12345678901234567890),
        ('"\\ud83d\\ude00"', "😀"),
        ("-0.0", -0.0),
        (b"[1, 2.5, true, null]", [1, 2.5, True, None]),
        ("[" + "[]," * 1_000 + "{}]", [*([[]] * 1_000), {}]),
    ],
)
def test_what_is_json_is_read_exactly(text: str | bytes, value: Json) -> None:
    parsed = jsontext.parse(text)
    if value is not None:
        assert parsed == value
        assert type(parsed) is type(value)


@given(VALUES)
def test_what_is_dumped_is_read_back(value: Json) -> None:
    text = jsontext.dump(value)
    assert "\n" not in text
    assert jsontext.parse(text) == value


@given(VALUES)
def test_the_canonical_form_is_one_for_each_value(value: Json) -> None:
    text = jsontext.canonical(value)
    assert text.isascii()
    assert jsontext.canonical(json.loads(text)) == text
    assert jsontext.digest(value) == hashlib.sha256(text).hexdigest()


def test_the_order_of_keys_makes_no_other_digest_and_a_type_does() -> None:
    assert jsontext.digest({"a": 1, "b": [2, "x"]}) == jsontext.digest({"b": [2, "x"], "a": 1})
    kinds: list[Json] = [1, "1", 1.0, True, None, [1], {"1": 1}, [], {}, ""]
    assert len({jsontext.digest(kind) for kind in kinds}) == len(kinds)


KEYS = ("\ud800", "\ufffd", "\udc00", "\ufffd (2)", "b")


def test_no_key_is_lost_that_no_json_can_carry() -> None:
    assert jsontext.repaired(dict(zip(KEYS, (1, 2, 3, 4, {"\udfff": 5}), strict=True))) == {
        "\ufffd (3)": 1,
        "\ufffd": 2,
        "\ufffd (4)": 3,
        "\ufffd (2)": 4,
        "b": {"\ufffd": 5},
    }
    many: Json = {f"\ud800{chr(0xD800 + number % 1024)}{number // 1024}": number for number in range(20_000)}
    made = jsontext.repaired(many)
    assert isinstance(made, dict) and [*made.values()] == [*range(20_000)]


def test_what_no_json_can_carry_is_repaired_and_the_rest_is_left() -> None:
    nan, infinity = float("nan"), float("inf")
    assert jsontext.repaired({"a\ud800": [nan, infinity, -infinity, 1.5, "é😀", "\udfff", None, True]}) == {
        "a\ufffd": ["NaN", "Infinity", "-Infinity", 1.5, "é😀", "\ufffd", None, True]
    }
