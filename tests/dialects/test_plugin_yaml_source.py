"""Texts that are no YAML that is read, or far too much of it: refused by name, at their place, and quickly."""

import time

import pytest
import yaml

from helm_cli import dialects
from helm_cli.dialects import yaml_document, yaml_events
from helm_cli.dialects.yaml_document import Document
from tests.dialects.test_plugin_yaml_faults import CASES
from tests.dialects.yaml_samples import BOMB, BYTES, FULL, HEAD, content

# Of the processor's time, for others may need it too.
SECONDS = 1.0


def told(data: bytes | str) -> list[str]:
    return [f"{fault.line}:{fault.column} {fault.message}" for fault in dialects.read(content(data)).faults]


@pytest.mark.contract("P36", "P38")
@pytest.mark.parametrize("name", BYTES)
def test_bytes_that_are_refused(name: str) -> None:
    data, expected = BYTES[name]
    began = time.process_time()
    found = told(data)
    assert time.process_time() - began < SECONDS
    if name == "50,000 brackets":
        # libyaml looks further ahead than PyYAML's own parser, and ends by itself.
        assert found in ([expected], ["4:1007 lists and mappings are nested too deeply"])
    else:
        assert found[0] == expected


@pytest.mark.contract("P38")
def test_a_bomb_of_aliases() -> None:
    began = time.process_time()
    found = told(HEAD + BOMB)
    assert time.process_time() - began < SECONDS
    assert found[0] == '4:1 the field "a" is unknown here; allowed are ' + (
        "name, version, description, skills, agents, settings, tools, triggers, outputs, budget"
    )
    assert "4:4 &a is an anchor in YAML, and none is read; remove it" in found
    assert '5:8 *a is an alias in YAML, and none is read; put a glob in quotes, as in "*a"' in found


@pytest.mark.contract("P38")
@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}tools:\n" + "- {}\n" * 6_000,
        f"{HEAD}tools:\n" + "- ref: mcp:a\n  allow: [x]\n" * 6_000,
        f"{HEAD}tools:\n" + "".join(f"- {{name: t{n}, kind: http, risk: read}}\n" for n in range(4_000)),
        f"{HEAD}settings:\n" + "- key: a\n" * 9_000,
        f"{HEAD}outputs:\n" + "- {type: publish, via: x}\n" * 6_000,
        f"{HEAD}triggers:\n" + "- {on: schedule, cron: 0 0 31 2 *}\n" * 6_000,
        f"{HEAD}tools:\n"
        + "".join(f"- {{name: tool_{n}, kind: http, risk: consequential}}\n" for n in range(600))
        + "outputs:\n"
        + "".join(f"- {{type: publish, via: toll_{n}}}\n" for n in range(600)),
        f"{HEAD}agents: [" + ", ".join(f"agents/writer{n}.md" for n in range(4_000)) + "]\n",
        f"{HEAD}tools: [{{ref: mcp:a, allow: ["
        + ", ".join(f"'{'a*' * 50}{n}', {'a' * 120}{n}" for n in range(250))
        + "]}]\n",
        f"{HEAD}agents: [" + ", ".join(f"'{'*a' * 40}{n}'" for n in range(2_000)) + "]\n",
        f"{HEAD}x: '" + "\\" * 250_000 + "'\n",
        f"version: {'1' * 260_000}\n",
        f"version: 1.0.0-{'.' * 260_000}\n",
        f"triggers: [{{on: schedule, cron: {'x ' * 100_000}y}}]\n",
        "\t" * 260_000,
        "\x1b" * 260_000,
        ": " * 100_000,
        "? " * 100_000,
        "&a " * 80_000,
        "! " * 100_000,
        "%YAML 1.2\n" * 20_000,
        "---\n" * 60_000,
        "'" * 260_000,
        "# " + "x" * 250_000,
        "a: |\n" + " " * 250_000,
        "a:\n" + " x\n" * 80_000,
    ],
    ids=lambda text: text[len(HEAD) if text.startswith(HEAD) else 0 :][:24].encode("unicode_escape").decode(),
)
def test_large_files_end_soon(text: str) -> None:
    began = time.process_time()
    found = told(text[: 256 * 1024])
    assert time.process_time() - began < SECONDS
    assert len(found) <= 1_000


@pytest.mark.contract("P36")
@pytest.mark.parametrize(
    "text", [FULL, *(case.manifest for case in CASES)], ids=["full", *(case.name for case in CASES)]
)
def test_both_parsers_read_the_same(text: str) -> None:
    """Where libyaml is not there, PyYAML's own parser says the same; where a text breaks, it may be a column aside."""

    def shown(found: Document) -> object:
        lines = [(fault.line, fault.path, fault.message) for fault in found.faults]
        places = {path: place.key for path, place in found.places.items()}
        return found.value, lines, found.holes, found.broken, places if not found.broken else None

    assert shown(yaml_document.read(text)) == shown(yaml_document.read(text, parser=yaml.BaseLoader))


@pytest.mark.contract("P36")
def test_a_lone_surrogate_is_refused_by_both() -> None:
    for parser in (yaml_events.PARSER, yaml.BaseLoader):
        found = yaml_document.read('a: "\\ud800"\n', parser=parser)
        assert len(found.faults) == 1 and found.value in (None, {"a": "\ud800"})


@pytest.mark.parametrize("parser", [yaml_events.PARSER, yaml.BaseLoader])
def test_what_a_parser_takes_for_no_text_at_all_is_no_yaml(parser: object) -> None:
    with pytest.raises(yaml_events.Broken) as broken:
        list(yaml_events.events("a: \x01\n", 3, parser))
    assert (broken.value.line, broken.value.column, broken.value.message) == (4, 1, "this is not YAML")


@pytest.mark.parametrize("parser", [yaml_events.PARSER, yaml.BaseLoader])
@pytest.mark.parametrize(("text", "closing"), [("a: [b", "]"), ("a: {b", "}"), ("a: [b\n\n", "]")])
def test_what_is_open_at_the_end_of_the_text_is_told_where_it_opens(text: str, closing: str, parser: object) -> None:
    with pytest.raises(yaml_events.Broken) as broken:
        list(yaml_events.events(text, 0, parser))
    told = f'this "{text[3]}" is never closed with "{closing}"'
    assert (broken.value.line, broken.value.column, broken.value.message) == (1, 4, told)


def test_windows_line_ends_and_places() -> None:
    text = FULL.replace("\n", "\r\n")
    assert dialects.read(content(text)).extension == dialects.read(content()).extension
    assert told(text.replace("kind: http", "kind: htp")) == [
        '34:11 "kind" must be builtin or http, not "htp"; did you mean "http"?'
    ]


def test_columns_count_characters() -> None:
    assert told(f"{HEAD}tools: [{{name: é\U0001f600, kind: x, risk: read}}]\n") == [
        '4:16 "name" must be lower-case letters, digits and _, starting with a letter, at most 64 characters',
        '4:26 "kind" must be builtin or http, not "x"',
    ]


@pytest.mark.contract("P36")
def test_twenty_levels_are_read_and_the_next_is_not() -> None:
    assert not yaml_document.read("[" * 20 + "]" * 20).faults
    (fault,) = yaml_document.read("[" * 21 + "]" * 21).faults
    assert (fault.line, fault.column, fault.message) == (1, 21, "lists and mappings are nested deeper than 20 levels")
