"""The review page of a team's plugin, whole: what is asked, the closed list of tools, and what a run begins with."""

import io
import json
from typing import Any

import pytest

from helm_cli import dialects
from helm_cli.kinds import tools
from helm_cli.model.content import Content
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.plugin import Bound
from helm_cli.model.review import Change, FileChange, Listed, Profiled, Review, State
from helm_cli.model.tool import tool
from helm_cli.view import review as view
from helm_cli.view import review_json
from helm_cli.view.streams import Streams
from tests.rig.plugins import AGENT, allow, named

PIPE = Streams(io.StringIO(), io.StringIO(), False, False, 80, False)
SECTIONS: dict[str, Any] = {
    "name": "acme/marketing",
    "version": "1.2.0",
    "description": "Writes the posts of a release.",
    "settings": [
        {"key": "tone", "type": "string"},
        {"key": "region", "type": "string", "sensitive": True},
        {"key": "api_key", "type": "secret"},
        {"key": "drive", "type": "connection", "provider": "oauth2", "scopes": ["drive.read", "profile"]},
    ],
    "tools": [
        allow("github", "list_issues", "get_*", "find_*"),
        allow("github", "create_issue", "get_secret", risk="write"),
        allow("sanity", "publish_*", risk="consequential"),
        named("find_posts", description="Finds posts."),
        named("save_draft", "write"),
        named("post_update", "consequential", description="Publishes."),
        named("release_notes", kind="builtin"),
    ],
    "triggers": [
        {"on": "manual", "form": {"brief": "text", "tone": ["dry", "warm"]}},
        {"on": "schedule", "cron": "0 14 * * MON"},
        {"on": "github.release"},
    ],
    "outputs": [
        {"type": "draft", "kinds": ["blog", "social"]},
        {"type": "publish", "via": "post_update", "approval": {"role": "editor", "min": 2}},
    ],
    "budget": {"monthly_tokens": 1000000},
}
FILES = {
    "plugin.yaml": "".join(f"{name}: {json.dumps(value)}\n" for name, value in SECTIONS.items()),
    "agents/writer.md": AGENT,
    "skills/tone/SKILL.md": "---\nname: tone\ndescription: How we sound.\n---\nBe kind.\n",
}
BOUND = Bound("save_draft", "blog", "POST", "/posts/{id}?v={v}", '{"title": "{title}"}')


def extension() -> Extension:
    """The plugin, with what one server lets in and one tool bound."""
    built = dialects.build(Content({path: text.encode() for path, text in FILES.items()}))

    def filled(connection: Connection) -> Connection:
        operations = tuple(tools.bound(one, BOUND) if one.name == BOUND.tool else one for one in connection.operations)
        if connection.id == "github":
            operations += (Operation("get_issue", "read", None, {"risk": "read", "let_in_by": ("get_*",)}),)
        return connection._replace(operations=operations)

    return built._replace(connections=tuple(filled(connection) for connection in built.connections))


def review(**members: Any) -> Review:
    found = extension()
    states: dict[str, State] = {"github": "configured", "sanity": "missing"}
    claims = [tool({"name": name, "description": f"Does {name}."}) for name in ("list_issues", "get_issue")]
    return Review(
        workspace="/code/app",
        workspace_found="the enclosing Git work tree",
        folder="/code/app/plugin",
        content=Content({path: text.encode() for path, text in FILES.items()}),
        digest="sha256:" + "0" * 64,
        extension=found,
        status="new",
        enabled=False,
        approved_folder="",
        approved_digest="",
        connections=tuple(Profiled(one, states.get(one.id, "none needed"), "") for one in found.connections),
        warnings=(),
        changes=(),
        files=(),
        elsewhere=(),
        servers=(Listed("github", {one.name: one for one in claims if one}, ("list_issues", "get_issue")),),
        bindings=(BOUND,),
    )._replace(**members)


PAGE = """\
Extension acme/marketing
  1.2.0
  Writes the posts of a release.
  status    new, not approved in this workspace
  folder    /code/app/plugin
  workspace /code/app (the enclosing Git work tree)
  digest    sha256:0000000000000000000000000000000000000000000000000000000000000000
  content   3 files, 1,318 bytes

Settings: 4; what the team fills in
    tone: string
    region: string, sensitive
    api_key: secret, sensitive
    drive: connection, provider oauth2, scopes drive.read profile, sensitive

Connections
  github: mcp, profile github: configured
      glob get_* of risk read lets in get_issue
      glob find_* of risk read lets in no tool that is not listed by its name
  sanity: mcp, profile sanity: missing
      glob publish_* of risk consequential lets in nothing until its server was asked at a review
  _tools: tools

Tools: a tool that is not listed here does not exist for this plugin

Consequential tools: 1; each is shown and confirmed by a person before it is sent

  _tools: tools, the plugin's own tools
    CONSEQUENTIAL _tools post_update
        Publishes.
        not bound to a service: every call is refused until it is (helm plugin bind)
        runs only for an approved draft: helm draft publish

Write tools: 3; each is shown and confirmed by a person before it is sent

  github: mcp, profile github; a tool gets the caller's arguments as they are
    WRITE github create_issue
        the server has no such tool

    WRITE github get_secret
        also let in by get_* (read); the highest risk holds
        the server has no such tool

  _tools: tools, the plugin's own tools
    WRITE _tools save_draft(id, v, title)
        bound to the service profile blog
        POST /posts/{id}
        query v={v}
        body {
          "title": "{title}"
        }

Read tools: 4; they run without asking

  github: mcp, profile github; a tool gets the caller's arguments as they are
    github list_issues
        the server says: nothing on whether it only reads
        Does list_issues.

    github get_issue
        let in by the glob get_*
        the server says: nothing on whether it only reads
        Does get_issue.

  _tools: tools, the plugin's own tools
    _tools find_posts
        Finds posts.
        not bound to a service: every call is refused until it is (helm plugin bind)

    _tools release_notes
        builtin, which this helm does not have: every call is refused

Triggers: 3; what starts a run
    manual: brief (text), tone (dry | warm)
    schedule: 0 14 * * MON
    github.release

Outputs: 2; what a run produces
    drafts: of the kinds blog, social
    publish through post_update: approved by 2 different people of the role editor, never the one who asked for it

Budget: 1,000,000 tokens a month

Agents: 1; instructions for a model
    writer: agents/writer.md, Writes posts.

Skills: 1; instructions for a model
    tone: skills/tone/SKILL.md, How we sound.
"""


@pytest.mark.contract("P40", "P23")
def test_the_page_shows_every_section_and_the_tools_by_risk() -> None:
    assert view.page(review(), PIPE) == PAGE


@pytest.mark.contract("P40", "P16", "P19")
def test_a_program_gets_the_same_with_every_default_filled_in() -> None:
    told = review_json.reviewed(review())
    assert {name: told[name] for name in ("outputs", "budget", "agents", "skills", "bindings")} == {
        "outputs": [
            {"type": "draft", "kinds": ["blog", "social"]},
            {"type": "publish", "via": "post_update", "approval": {"role": "editor", "min": 2}},
        ],
        "budget": {"monthly_tokens": 1_000_000, "team_tokens": None},
        "agents": [{"path": "agents/writer.md", "name": "writer", "description": "Writes posts."}],
        "skills": [{"path": "skills/tone/SKILL.md", "name": "tone", "description": "How we sound."}],
        "bindings": [BOUND._asdict()],
    }
    assert told["settings"] == [
        {"key": "tone", "type": "string", "provider": None, "scopes": [], "sensitive": False},
        {"key": "region", "type": "string", "provider": None, "scopes": [], "sensitive": True},
        {"key": "api_key", "type": "secret", "provider": None, "scopes": [], "sensitive": True},
        {
            "key": "drive",
            "type": "connection",
            "provider": "oauth2",
            "scopes": ["drive.read", "profile"],
            "sensitive": True,
        },
    ]
    assert told["triggers"] == [
        {"on": "manual", "form": {"brief": "text", "tone": ["dry", "warm"]}},
        {"on": "schedule", "cron": "0 14 * * MON"},
        {"on": "github.release"},
    ]
    connections: Any = told["connections"]
    assert [connection.get("globs") for connection in connections] == [
        [
            {"glob": "get_*", "risk": "read", "lets_in": ["get_issue"]},
            {"glob": "find_*", "risk": "read", "lets_in": []},
        ],
        [{"glob": "publish_*", "risk": "consequential", "lets_in": None}],
        None,
    ]
    assert [(one["name"], one["risk"]) for one in connections[0]["operations"]] == [
        ("list_issues", "read"),
        ("create_issue", "write"),
        ("get_secret", "write"),
        ("get_issue", "read"),
    ]
    assert connections[2]["operations"][1] == {
        "name": "save_draft",
        "effect": "write",
        "params": ["id", "v", "title"],
        "method": "POST",
        "path": "/posts/{id}",
        "query": {"v": "{v}"},
        "body": {"title": "{title}"},
        "risk": "write",
        "kind": "http",
        "description": "",
        "service": "blog",
    }


@pytest.mark.contract("P41")
def test_of_a_long_text_only_what_changed_is_shown() -> None:
    old = "".join(f"line {number}\n" for number in range(30))
    new = old.replace("line 15\n", "line fifteen\n")
    changed = review(
        status="changed",
        approved_digest="sha256:" + "1" * 64,
        changes=(Change("changed", "agent writer (agents/writer.md): its text changed", old, new),),
        files=(FileChange("agents/writer.md", "changed"),),
    )
    page = view.page(changed, PIPE)
    first = page.index("Changed since it was approved")
    assert page[first:].split("\n\n")[0].split("\n")[1:] == [
        "  changed       agent writer (agents/writer.md): its text changed",
        "      … 12 lines unchanged",
        "        line 12",
        "        line 13",
        "        line 14",
        "      - line 15",
        "      + line fifteen",
        "        line 16",
        "        line 17",
        "        line 18",
        "      … 11 lines unchanged",
        "  file changed  agents/writer.md",
    ]


def test_nothing_of_a_plugin_acts_on_the_terminal() -> None:
    odd = "x\x1b[31m\u202ey"
    found = extension()
    assert found.plugin is not None
    agents = tuple(one._replace(name=odd, description=odd, path=odd) for one in found.plugin.agents)
    settings = tuple(one._replace(key=odd, provider=odd, scopes=(odd,)) for one in found.plugin.settings)
    publishes = tuple(one._replace(via=odd, role=odd) for one in found.plugin.publishes)
    plugin = found.plugin._replace(agents=agents, settings=settings, publishes=publishes, draft_kinds=(odd,))
    page = view.page(review(extension=found._replace(plugin=plugin)), PIPE)
    assert "\x1b" not in page and "\u202e" not in page
    assert page.count("x\\u{1b}[31m\\u{202e}y") > 10
