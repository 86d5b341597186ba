"""A valid plugin.yaml becomes exactly the extension that it declares; a copy that is not valid becomes none."""

import subprocess
import sys
import time

import pytest

from helm_cli import dialects
from helm_cli.model.content import Content
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.plugin import Instructions, Plugin, Publish, Setting, Trigger
from tests.dialects.yaml_samples import FULL, HEAD, content

EXPECTED = Extension(
    id="acme/marketing",
    name="acme/marketing",
    version="1.2.0-rc.1+build.5",
    description="Drafts posts from release notes.",
    dialect="plugin.yaml",
    write_permitted=True,
    connections=(
        Connection(
            "sanity",
            "mcp",
            "mcp",
            "sanity",
            (
                Operation("list_issues", "read", None, {"risk": "read"}),
                Operation("create_issue", "write", None, {"risk": "write"}),
            ),
            {"globs": (("get_*", "read"), ("create_*", "write"))},
        ),
        Connection("github", "mcp", "mcp", "github", (), {"globs": (("*", "consequential"),)}),
        Connection(
            "_tools",
            "tools",
            None,
            None,
            (
                Operation(
                    "read_notes",
                    "read",
                    None,
                    {"kind": "builtin", "risk": "read", "description": "Reads the notes."},
                ),
                Operation("send_mail", "write", None, {"kind": "http", "risk": "consequential", "description": ""}),
            ),
            {},
        ),
    ),
    unused=(),
    plugin=Plugin(
        agents=(Instructions("agents/writer.md", "writer", "Writes.", "Write a draft."),),
        skills=(Instructions("skills/style/SKILL.md", "style", "How we sound.", "# Style"),),
        settings=(
            Setting("audience", "string", None, (), False),
            Setting("codename", "string", None, (), True),
            Setting("api_key", "secret", None, (), True),
            Setting("crm", "connection", "oauth2", ("contacts.read", "contacts.write"), True),
        ),
        triggers=(
            Trigger("manual", {"brief": "text", "tone": ("plain", "playful")}, ""),
            Trigger("manual", {"brief": "text"}, ""),
            Trigger("schedule", {}, "0 14 * * MON"),
            Trigger("github.release", {}, ""),
        ),
        draft_kinds=("blog", "social", "email"),
        publishes=(Publish("send_mail", "marketing_editor", 2), Publish("send_mail", None, 1)),
        monthly_tokens=2_000_000,
    ),
)


@pytest.mark.contract("P3", "P8", "P16", "P19", "P22", "P24", "P25", "P32")
def test_every_field() -> None:
    reading = dialects.read(content())
    assert reading.faults == ()
    assert reading.extension == EXPECTED
    assert dialects.build(content()) == EXPECTED


@pytest.mark.contract("P8")
def test_the_smallest_plugin() -> None:
    reading = dialects.read(Content({"plugin.yaml": HEAD.encode()}))
    expected = Extension("a", "a", "1.0.0", "d", "plugin.yaml", True, (), (), Plugin((), (), (), (), (), (), None))
    assert (reading.faults, reading.extension) == ((), expected)


@pytest.mark.contract("P22")
@pytest.mark.parametrize(
    ("tools", "risk"),
    [
        ("[{ref: mcp:a, allow: ['create_*']}, {ref: mcp:a, allow: [create_issue], risk: write}]", "write"),
        ("[{ref: mcp:a, allow: ['create_*'], risk: write}, {ref: mcp:a, allow: [create_issue]}]", "write"),
        ("[{ref: mcp:a, allow: [create_issue]}, {ref: mcp:a, allow: ['*'], risk: consequential}]", "consequential"),
        ("[{ref: mcp:a, allow: [create_issue]}, {ref: mcp:b, allow: [create_issue], risk: write}]", "read"),
        (
            "[{ref: mcp:a, allow: [create_issue]}, {ref: mcp:a, allow: ['Create*', 'create_', '*x'], risk: write}]",
            "read",
        ),
    ],
)
def test_the_highest_risk_of_the_entries_that_match_holds(tools: str, risk: str) -> None:
    reading = dialects.read(content(f"{HEAD}tools: {tools}\n"))
    assert reading.faults == () and reading.extension is not None
    operation = reading.extension.connections[0].operations[0]
    assert operation == Operation("create_issue", "read" if risk == "read" else "write", None, {"risk": risk})


@pytest.mark.contract("P33")
@pytest.mark.parametrize(
    ("value", "limit"), [("", None), ("null", None), ("~", None), ("0", None), ("1000000", 1_000_000)]
)
def test_no_limit_of_its_own(value: str, limit: int | None) -> None:
    reading = dialects.read(content(f"{HEAD}budget:\n  monthly_tokens: {value}\n"))
    assert reading.faults == () and reading.extension is not None and reading.extension.plugin is not None
    assert reading.extension.plugin.monthly_tokens == limit
    empty = dialects.read(content(f"{HEAD}budget: {{}}\n")).extension
    assert empty is not None and empty.plugin is not None and empty.plugin.monthly_tokens is None


@pytest.mark.contract("P5", "P6", "P7")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("name", name) for name in ("a", "'9'", "a-b-", "a" * 64, f"{'b' * 39}/{'a' * 64}", "acme/marketing")),
        *(("version", version) for version in ("1.2.0", "0.0.0", "1.2.0-rc.1+b", "10.20.30+x", "1.0.0-0")),
        *(
            ("description", text)
            for text in ("x" * 240, "\U0001f680" * 240, "yes", "12:30", "a#b", "'1.10'", "1.10.1", "0b1", "1e", "0xg")
        ),
    ],
)
def test_what_is_valid(field: str, value: str) -> None:
    lines = {"name": "a", "version": "1.0.0", "description": "d", field: value}
    reading = dialects.read(content("".join(f"{name}: {text}\n" for name, text in lines.items())))
    assert reading.faults == ()
    assert reading.extension is not None
    assert getattr(reading.extension, "id" if field == "name" else field) == value.strip("'")


@pytest.mark.contract("P26", "P27")
@pytest.mark.parametrize(
    "cron", ["0 14 * * MON", "'*/15 9-17 * * 1-5'", "0 0 1,15 * *", "59 23 31 DEC sun", "0 0 29 2 *"]
)
def test_schedules(cron: str) -> None:
    reading = dialects.read(content(f"{HEAD}triggers:\n  - on: schedule\n    cron: {cron}\n"))
    assert reading.faults == () and reading.extension is not None and reading.extension.plugin is not None
    assert reading.extension.plugin.triggers == (Trigger("schedule", {}, cron.strip("'")),)


@pytest.mark.contract("P18")
@pytest.mark.parametrize(
    "allow", ["['get_*']", '["*"]', "[get_*]", "\n      - list_docs\n      - get_*_x", "[a.b-c/d]"]
)
def test_names_and_globs(allow: str) -> None:
    assert dialects.read(content(f"{HEAD}tools:\n  - ref: mcp:sanity\n    allow: {allow}\n")).faults == ()


@pytest.mark.contract("P24", "P37")
def test_scalars_are_those_of_yaml_1_2() -> None:
    form = "{no: text, on: [yes, '1.10', 1.1.0, 12:30:00, 2024-01-01, nan, 0b1], off: [on]}"
    reading = dialects.read(content(f"{HEAD}triggers:\n  - on: manual\n    form: {form}\n"))
    assert reading.faults == () and reading.extension is not None and reading.extension.plugin is not None
    assert reading.extension.plugin.triggers[0].form == {
        "no": "text",
        "on": ("yes", "1.10", "1.1.0", "12:30:00", "2024-01-01", "nan", "0b1"),
        "off": ("on",),
    }


BROKEN = {
    "name": "name: [a]",
    "version": "version: 1",
    "description": "description: null",
    "settings": "settings: {}",
    "setting": "settings: [a]",
    "type": "settings: [{key: a, type: secrets}]",
    "sensitive": "settings: [{key: a, type: string, sensitive: yes}]",
    "provider": "settings: [{key: a, type: connection}]",
    "scopes": "settings: [{key: a, type: connection, provider: x, scopes: a}]",
    "ref": "tools: [{ref: http:a, allow: [x]}]",
    "both": "tools: [{ref: mcp:a, allow: [x], name: x, kind: http, risk: read}]",
    "allow": "tools: [{ref: mcp:a, allow: x}]",
    "risk of a server": "tools: [{ref: mcp:a, allow: [x], risk: none}]",
    "neither": "tools: [{}]",
    "kind": "tools: [{name: x, kind: https, risk: read}]",
    "risk": "tools: [{name: x, kind: http}]",
    "on": "triggers: [{on: never}]",
    "form": "triggers: [{on: manual, form: {a: textarea}}]",
    "cron": "triggers: [{on: schedule}]",
    "output": "outputs: [{type: drafts}]",
    "draft": "outputs: [{type: draft, kinds: [tweet]}]",
    "via": "outputs: [{type: publish}]",
    "min": "outputs: [{type: publish, via: x, approval: {min: 0}}]",
    "min of text": "outputs: [{type: publish, via: x, approval: {min: '2'}}]",
    "min of true": "outputs: [{type: publish, via: x, approval: {min: true}}]",
    "budget": "budget: 5",
    "tokens": "budget: {monthly_tokens: -1}",
    "agents": "agents: agents/*.md",
    "globs": "agents: [" + ", ".join(f"'{'?' * 500}{number}'" for number in range(400)) + "]",
    "key twice": "name: b",
    "second document": "---",
    "alias": "tools: &x []\nagents: *x",
    "no YAML": "tools: [",
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_an_approved_copy_that_cannot_be_read_grants_nothing(name: str) -> None:
    field = BROKEN[name].partition(":")[0]
    kept = "" if name == "key twice" else "".join(line for line in HEAD.splitlines(True) if not line.startswith(field))
    unreadable(content(f"{kept or HEAD}{BROKEN[name]}\n"))


@pytest.mark.parametrize("text", ["", "[]", "a", "\xff", HEAD.replace("name", "nam"), "[" * 5_000])
def test_an_approved_copy_that_is_no_manifest(text: str) -> None:
    unreadable(Content({"plugin.yaml": text.encode("latin-1")}))


@pytest.mark.parametrize("agent", ["", "Write.", "---\nWrite.", "---\n[]\n---\nWrite.", "---\nname: 5\n---\nWrite."])
def test_an_approved_copy_with_an_agent_that_cannot_be_read(agent: str) -> None:
    unreadable(content(agents__other=agent))


def unreadable(copy: Content) -> None:
    with pytest.raises(HelmError) as raised:
        dialects.build(copy)
    assert (raised.value.code, raised.value.message) == (
        "state",
        "the approved copy of plugin.yaml cannot be read; review the extension again",
    )
    assert dialects.read(copy).extension is None


def test_building_loads_nothing_that_checks() -> None:
    program = (
        "import sys; from helm_cli import dialects; from helm_cli.model.content import Content;"
        f"dialects.build(Content({{'plugin.yaml': {FULL.encode()!r}}}));"
        "print(*sorted({'jsonschema', 'difflib', 'helm_cli.dialects.plugin_yaml_check', 'helm_cli.grammar.cron',"
        " 'helm_cli.dialects.schema_faults', 'helm_cli.grammar.sql', 'helm_cli.grammar.url'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_the_other_dialect_does_not_load_yaml() -> None:
    program = (
        "import sys; from helm_cli import dialects; from helm_cli.model.content import Content;"
        'dialects.build(Content({\'manifest.json\': b\'{"id": "x", "connections": []}\'}));'
        'print("yaml" in sys.modules)'
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_building_a_typical_plugin_takes_no_time() -> None:
    took = []
    for _ in range(50):
        began = time.perf_counter()
        dialects.build(content())
        took.append(time.perf_counter() - began)
    assert min(took) < 0.005
