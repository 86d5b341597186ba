"""What a reader of a plugin should look at twice: instructions that name tools which no run can call."""

import pytest

from helm_cli import dialects
from helm_cli.dialects import plugin_yaml_cautions
from helm_cli.model.content import Content
from tests.dialects.yaml_samples import FULL, HEAD, SKILL, content


def told(copy: Content) -> list[str]:
    extension = dialects.read(copy).extension
    assert extension is not None
    return [caution.message for caution in plugin_yaml_cautions.of(extension)]


def agent(text: str) -> Content:
    return content(FULL, agents__writer=f"---\n---\n{text}\n")


@pytest.mark.contract("P23")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Call `delete_doc`, then `delete_doc()`.", ["delete_doc"]),
        ("Call mcp__sanity__delete_doc and mcp__nobody__x.", ["sanity's delete_doc", "nobody's x"]),
        ("Call mcp__sanity__get_x, mcp__sanity__create_issue and mcp__github__anything.", []),
        ("Call `get_post`, `create_issue`, `read_notes`, `send_mail` or `list_issues`.", []),
        ("The setting `api_key`, the role `marketing_editor`, a word_without_code, `Word_other` and `word`.", []),
    ],
)
def test_tools_that_are_not_listed(text: str, named: list[str]) -> None:
    # "github" allows every name, so a word in a code span could be one of its tools.
    copy = Content({**agent(text).files, "plugin.yaml": FULL.replace("allow: ['*']", "allow: [any]").encode()})
    if "anything" in text:
        copy = agent(text)
    assert told(copy) == [
        f"agents/writer.md names {name}, which tools does not list: if that is a tool, no run can call it"
        for name in named
    ]


@pytest.mark.contract("P23")
def test_skills_are_looked_at_too_and_many_names_are_counted() -> None:
    files = content(HEAD).files
    skill = SKILL + " ".join(f"`tool_{letter}`" for letter in "abcdefgh")
    found = told(Content({**files, "skills/style/SKILL.md": skill.encode()}))
    assert len(found) == 6
    assert found[0].startswith("skills/style/SKILL.md names tool_a, ")
    assert found[-1] == "skills/style/SKILL.md names 3 more that tools does not list"


def test_a_plugin_without_agents() -> None:
    expected = ["the plugin has no agent: no file of it is one by agents, agents/*.md where it names none"]
    assert told(Content({"plugin.yaml": HEAD.encode()})) == expected


def test_another_dialect_has_none() -> None:
    assert told(Content({"manifest.json": b'{"id": "x", "connections": []}'})) == []
