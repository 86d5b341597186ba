"""How words become arguments: typed exactly where JSON prints them so, whole objects strict, nothing given twice."""

from pathlib import Path

import pytest

from helm_cli.cli.arguments import collect, typed
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20", 20),
        ("-3", -3),
        ("0", 0),
        ("2.5", 2.5),
        ("1.0", 1.0),
        ("true", True),
        ("false", False),
        ("null", None),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("007", "007"),
        ("1.10", "1.10"),
        ("1e5", "1e5"),
        ("-0", "-0"),
        ("+1", "+1"),
        (" 1", " 1"),
        ("1e999", "1e999"),
        ("NaN", "NaN"),
        ("True", "True"),
        ('"x"', '"x"'),
        ("[1]", "[1]"),
        ("", ""),
        ("open", "open"),
        ("1_000", "1_000"),
        ("٣", "٣"),
    ],
)
def test_a_value_is_typed_only_where_json_prints_it_so(text: str, value: Json) -> None:
    assert typed(text) == value
    assert type(typed(text)) is type(value)


def test_the_three_ways_combine(tmp_path: Path) -> None:
    file = tmp_path / "args.json"
    file.write_text('{"c": [1, {"d": null}]}')
    assert collect(["a=1", "x=k=v"], ["b=1"], f"@{file}") == {"c": [1, {"d": None}], "a": 1, "x": "k=v", "b": "1"}


@pytest.mark.parametrize(
    ("pairs", "whole", "message"),
    [
        (["a"], None, "--arg takes NAME=VALUE, as in --arg status=open"),
        (["=1"], None, "--arg takes NAME=VALUE, as in --arg status=open"),
        (["a=1", "a=2"], None, "the argument a is given twice; give it once"),
        (["a=1"], '{"a": 1}', "the argument a is given twice; give it once"),
        ([], '{"a": 1, "a": 2}', '--args: the key "a" stands twice in one JSON object'),
        ([], '{"a": NaN}', "--args: NaN is not JSON"),
        ([], '{"a": "\\ud800"}', "--args: the JSON holds a lone surrogate, which no UTF-8 text can carry"),
        ([], "[1]", "--args takes one JSON object"),
        ([], "{", "--args: not JSON: expecting property name enclosed in double quotes at line 1 column 2"),
        ([], "@/nonexistent/args.json", "--args: /nonexistent/args.json cannot be read: no such file or directory"),
        (["a=\udcff"], None, "an argument is not UTF-8; write it in UTF-8"),
    ],
)
def test_what_is_no_argument_is_a_usage_error(pairs: list[str], whole: str | None, message: str) -> None:
    with pytest.raises(HelmError) as raised:
        collect(pairs, [], whole)
    assert (raised.value.code, raised.value.message) == ("usage", message)
