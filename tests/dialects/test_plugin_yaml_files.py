"""The agents and skills of a plugin: which files they are, and what is wrong with each, at its own line."""

import pytest

from helm_cli import dialects
from helm_cli.model.content import Content
from helm_cli.model.plugin import Instructions
from tests.dialects.yaml_samples import AGENT, HEAD, SKILL

GOOD = AGENT.encode()


def folder(top: str = "", **files: str) -> Content:
    """A plugin whose `top` comes after its three required lines; `agents__x_md` is agents/x.md."""
    named = {path.replace("__", "/").replace("_md", ".md"): text.encode() for path, text in files.items()}
    return Content({"plugin.yaml": (HEAD + top).encode(), **named})


def told(content: Content) -> list[str]:
    return [
        f"{fault.file}:{fault.line}:{fault.column} {fault.path or '.'}: {fault.message}"
        for fault in dialects.read(content).faults
    ]


def paths(content: Content) -> tuple[list[str], list[str]]:
    reading = dialects.read(content)
    assert reading.faults == () and reading.extension is not None and reading.extension.plugin is not None
    plugin = reading.extension.plugin
    return [agent.path for agent in plugin.agents], [skill.path for skill in plugin.skills]


SKILLS = ["skills/SKILL.md", "skills/s/SKILL.md", "skills/s/more/SKILL.md"]
FILES = {
    "plugin.yaml": HEAD.encode(),
    **dict.fromkeys(("agents/b.md", "agents/a.md", "agents/deep/c.md", "agents/[x].md", "other/d.md"), GOOD),
    **dict.fromkeys(SKILLS, SKILL.encode()),
    "agents/a.txt": b"",
    "skills/s/notes.md": b"no skill",
}


@pytest.mark.contract("P8", "P9")
@pytest.mark.parametrize(
    ("declared", "agents", "skills"),
    [
        ("", ["agents/[x].md", "agents/a.md", "agents/b.md"], ["skills/s/SKILL.md"]),
        ("agents: []\nskills: []", [], []),
        ("agents: [agents/b.md, agents/a.md, agents/*a.md]", ["agents/a.md", "agents/b.md"], ["skills/s/SKILL.md"]),
        ("agents: ['*/d.md', 'agents/[x].md']", ["agents/[x].md", "other/d.md"], ["skills/s/SKILL.md"]),
        ("agents: ['agents/**/c.md']", ["agents/deep/c.md"], ["skills/s/SKILL.md"]),
        ("agents: [agents/?.md, none/*.md]", ["agents/a.md", "agents/b.md"], ["skills/s/SKILL.md"]),
        ("agents: []\nskills: ['skills/**/SKILL.md']", [], SKILLS),
    ],
)  # fmt: skip
def test_which_files(declared: str, agents: list[str], skills: list[str]) -> None:
    # Brackets are ordinary characters: x.md is no file of agents/[x].md, and has no front matter.
    more = {"agents/x.md": b"x"} if "[x]" in declared else {}
    assert paths(Content({**FILES, **more, "plugin.yaml": (HEAD + declared).encode()})) == (agents, skills)


@pytest.mark.contract("P9")
def test_a_file_that_no_default_matches_is_not_read() -> None:
    assert paths(folder(README_md="no front matter", agents__deep__x_md="none", skills__x_md="none")) == ([], [])


@pytest.mark.contract("P10")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nname: w\ndescription: D\nmodel: x\n---\n\nWrite.\n\n", Instructions("agents/x.md", "w", "D", "Write.")),
        ("---\n---\nWrite.", Instructions("agents/x.md", "x", "", "Write.")),
        ("---  \r\nname: on\r\n---\r\nA\r\n---\r\nB", Instructions("agents/x.md", "on", "", "A\r\n---\r\nB")),
        ("---\n# only a comment\n---\n# Title", Instructions("agents/x.md", "x", "", "# Title")),
        ("---\nname: 'a: b'\n--- \nx: [", Instructions("agents/x.md", "a: b", "", "x: [")),
    ],
)
def test_an_agent(text: str, expected: Instructions) -> None:
    reading = dialects.read(folder(agents__x_md=text))
    assert reading.faults == () and reading.extension is not None and reading.extension.plugin is not None
    assert reading.extension.plugin.agents == (expected,)


NO_FRONT = "the file must begin with front matter: a line ---, fields such as description, and another line ---"


@pytest.mark.contract("P10", "P35")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [f"1:1 .: {NO_FRONT}"]),
        ("Write.\n", [f"1:1 .: {NO_FRONT}"]),
        ("\n---\n---\nWrite.\n", [f"1:1 .: {NO_FRONT}"]),
        ("----\n---\nWrite.\n", [f"1:1 .: {NO_FRONT}"]),
        ("---\nname: w\nWrite.\n", ["1:1 .: the front matter is never closed; end it with a line ---"]),
        ("---", [f"1:1 .: {NO_FRONT}"]),
        (
            "---\nname: w\n---\n\n  \n",
            ["3:1 .: the agent has no instructions below its front matter; write them there"],
        ),
        ("---\nname: w\n---", ["3:1 .: the agent has no instructions below its front matter; write them there"]),
        ("---\nname: [a\n---\nWrite.\n", ['2:7 .: this "[" is never closed with "]"']),
        ("---\nname: a\n\tb: c\n---\nWrite.\n", ["3:1 .: a tab does not indent in YAML; use spaces"]),
        ("---\nx: 1\nname: a\nname: b\n---\nWrite.\n", [
            '4:1 name: the key "name" stands twice, first in line 3; keep one of them'
        ]),
        ("---\nname: &x a\n---\nWrite.\n", ["2:7 name: &x is an anchor in YAML, and none is read; remove it"]),
        ("---\n- a\n---\nWrite.\n", ["2:1 .: the front matter must be a mapping, not a list"]),
        ("---\nname: true\ndescription: 5\n---\nWrite.\n", [
            '2:7 name: "name" must be text, not true; put it in quotes: "true"',
            '3:14 description: "description" must be text, not a number; put it in quotes: "5"',
        ]),
        ("---\nname: ''\ndescription:\n---\nWrite.\n", [
            '2:7 name: "name" must not be empty',
            '3:13 description: "description" must be text, not null',
        ]),
        ("\ufeff---\n---\nWrite.\n", ["1:1 .: the file begins with a byte order mark; save it as UTF-8 without one"]),
        ("---\nx: " + "y" * 300_000 + "\n---\nWrite.\n", ["1:1 .: the front matter has more than 262,144 characters"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_agent(text: str, expected: list[str]) -> None:
    assert told(folder(agents__x_md=text)) == [f"agents/x.md:{fault}" for fault in expected]


@pytest.mark.contract("P10")
def test_an_agent_that_is_not_utf8() -> None:
    content = folder()
    files = {**content.files, "agents/x.md": b"---\nname: a\n---\nWrite \xe9.\n"}
    assert told(Content(files)) == ["agents/x.md:4:7 .: this byte is not UTF-8; save the file as UTF-8"]


@pytest.mark.contract("P11")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Style\n", [f"1:1 .: {NO_FRONT}"]),
        ("---\n---\n", [
            '1:1 .: the front matter lacks the required field "description"',
            '1:1 .: the front matter lacks the required field "name"',
        ]),
        ("---\nname: style\n---\nx\n", ['1:1 .: the front matter lacks the required field "description"']),
        ("---\ndescription: d\n---\nx\n", ['1:1 .: the front matter lacks the required field "name"']),
        ("---\nname: style\ndescription: ' '\n---\nx\n", ['3:14 description: "description" must not be empty']),
        ("---\nname: style\ndescription: Use it: always\n---\nx\n", [
            '3:20 .: no ":" is expected here; put text in quotes, or mend the indentation'
        ]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_skill(text: str, expected: list[str]) -> None:
    assert told(folder(skills__s__SKILL_md=text)) == [f"skills/s/SKILL.md:{fault}" for fault in expected]


@pytest.mark.contract("P11")
def test_a_skill_needs_no_text_and_may_have_other_fields() -> None:
    text = "---\nname: s\ndescription: d\nlicense: MIT\nmetadata: {version: 1.0}\nallowed-tools: Read Grep\n---\n"
    assert told(folder(skills__s__SKILL_md=text)) == []


@pytest.mark.contract("P10", "P34")
def test_faults_of_all_files_come_in_one_run() -> None:
    content = folder("tolls: []\n", agents__b_md="x", agents__a_md="x", skills__s__SKILL_md="x")
    assert [fault.split(" ")[0] for fault in told(content)] == [
        "agents/a.md:1:1",
        "agents/b.md:1:1",
        "plugin.yaml:4:1",
        "skills/s/SKILL.md:1:1",
    ]


def test_a_thousand_broken_agents_are_500_faults() -> None:
    content = Content({**{f"agents/{number}.md": b"x" for number in range(1_000)}, "plugin.yaml": HEAD.encode()})
    assert len(dialects.read(content).faults) == 500
