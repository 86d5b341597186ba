"""`helm plugin validate|new|schema|reference` in both dialects: every output, every exit status."""

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml

from helm_cli import dialects
from tests.dialects.yaml_samples import AGENT, FULL, HEAD, SKILL
from tests.program import ROOT, Helm, run
from tests.rig.terminal import at_terminal

HELM = (sys.executable, "-m", "helm_cli")
FIVE = """\
name: A
version: 1.0
description: "100%: done, more or less"
tolls: []
budget:
  monthly_tokens: -1
triggers:
  - on: never
"""


def write(folder: Path, text: str = FULL) -> Path:
    for path, body in {"plugin.yaml": text, "agents/writer.md": AGENT, "skills/style/SKILL.md": SKILL}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(body, encoding="utf-8")
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a valid plugin in `good` and one with five faults in `bad`."""
    write(tmp_path / "good")
    write(tmp_path / "bad", FIVE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.contract("P3", "P39")
def test_a_valid_plugin(helm: Helm, here: Path, home: Path) -> None:
    for path in ("good", "good/", "good/plugin.yaml", str(here / "good")):
        done = helm("plugin", "validate", path)
        assert (done.status, done.out) == (0, "")
        assert re.search(r"^helm: acme/marketing is valid; its digest is sha256:[0-9a-f]{64}$", done.err, re.M)
    assert not home.exists()


@pytest.mark.contract("P34", "P35", "P39")
def test_every_fault_as_text(helm: Helm, here: Path, home: Path) -> None:
    done = helm("plugin", "validate", "bad")
    assert done.status == 16
    assert done.err == f"helm: {here / 'bad'} holds no valid extension: 5 faults\n"
    name = (
        "lower-case letters, digits and -, as in marketing or acme/marketing,"
        " at most 64 characters and 39 for the publisher"
    )
    assert done.out.splitlines() == [
        f'bad/plugin.yaml:1:7: "name" must be {name}',
        'bad/plugin.yaml:2:10: "version" must be text, not a number; put it in quotes: "1.0"',
        'bad/plugin.yaml:4:1: the field "tolls" is unknown here; did you mean "tools"?',
        'bad/plugin.yaml:6:19: "monthly_tokens" must be at least 0, not -1',
        'bad/plugin.yaml:8:9: "on" must be manual, schedule or github.release, not "never"',
    ]
    assert helm("plugin", "validate", "bad", "--format", "text").out == done.out
    assert not home.exists()
    assert helm("plugin", "review", "bad").out == done.out


@pytest.mark.contract("P39")
def test_every_fault_as_json(helm: Helm, here: Path) -> None:
    done = helm("plugin", "validate", "bad", "-o", "json")
    assert (done.status, list(done.json), len(done.json["errors"])) == (16, ["errors", "warnings"], 5)
    assert done.json["errors"][4] == {
        "file": "plugin.yaml",
        "line": 8,
        "column": 9,
        "path": "triggers[0].on",
        "message": '"on" must be manual, schedule or github.release, not "never"',
    }
    assert done.json["warnings"] == []


@pytest.mark.contract("P39")
def test_every_fault_as_annotations(helm: Helm, here: Path) -> None:
    done = helm("plugin", "validate", "bad", "--format", "github")
    assert (done.status, done.err) == (16, f"helm: {here / 'bad'} holds no valid extension: 5 faults\n")
    lines = done.out.splitlines()
    assert len(lines) == 5
    assert lines[2] == (
        "::error file=bad/plugin.yaml,line=4,col=1,title=helm plugin validate::"
        'the field "tolls" is unknown here; did you mean "tools"?'
    )
    inside = helm("plugin", "validate", ".", "--format", "github", cwd=here / "bad")
    assert inside.out.splitlines()[2].startswith("::error file=plugin.yaml,line=4,col=1,title=")


@pytest.mark.contract("P39")
def test_what_a_workflow_command_must_not_hold_is_escaped(helm: Helm, here: Path) -> None:
    write(here / "50%, done: yes", HEAD + '"a%0A::error::b": 1\n')
    done = helm("plugin", "validate", "50%, done: yes", "--format", "github")
    assert done.out == (
        "::error file=50%25%2C done%3A yes/plugin.yaml,line=4,col=1,title=helm plugin validate::"
        'the field "a%250A::error::b" is unknown here; allowed are name, version, description, skills, agents,'
        " settings, tools, triggers, outputs, budget\n"
    )
    warned = helm("plugin", "validate", str(write(here / "50%, fine").name), "--format", "github")
    line = FULL[: FULL.index("name: read_notes")].count("\n") + 1
    assert (warned.status, warned.out) == (
        0,
        f"::warning file=50%25%2C fine/plugin.yaml,line={line},col=11,title=helm plugin validate::_tools read_notes: it"
        " is a builtin tool of CoderHelm, and this helm has none: every call is refused\n",
    )


@pytest.mark.contract("P8", "P16", "P19", "P39")
def test_a_valid_plugin_as_json_shows_what_takes_effect(helm: Helm, here: Path) -> None:
    write(here / "small", HEAD)
    done = helm("plugin", "validate", "small", "-o", "json")
    assert (done.status, done.err, done.json) == (
        0,
        "",
        {
            "errors": [],
            "warnings": [],
            "effective": {
                "name": "a",
                "version": "1.0.0",
                "description": "d",
                "skills": ["skills/*/SKILL.md"],
                "agents": ["agents/*.md"],
                "settings": [],
                "tools": [],
                "triggers": [],
                "outputs": [],
            },
        },
    )
    full = helm("plugin", "validate", "good", "-o", "json").json["effective"]
    assert full["tools"][0] == {"ref": "mcp:sanity", "allow": ["get_*", "list_issues", "create_issue"], "risk": "read"}
    assert [setting["sensitive"] for setting in full["settings"]] == [False, True, True, True]


@pytest.mark.contract("P10", "P35")
def test_faults_of_agents_name_their_files(helm: Helm, here: Path) -> None:
    (here / "good/agents/writer.md").write_text("---\nname: w\nname: x\n---\n")
    done = helm("plugin", "validate", "good")
    assert (done.status, done.out.splitlines()) == (
        16,
        [
            'good/agents/writer.md:3:1: the key "name" stands twice, first in line 2; keep one of them',
            "good/agents/writer.md:4:1: the agent has no instructions below its front matter; write them there",
        ],
    )


@pytest.mark.contract("P9")
def test_a_link_is_no_file_of_a_plugin(helm: Helm, here: Path) -> None:
    (here / "good/agents/linked.md").symlink_to("writer.md")
    done = helm("plugin", "validate", "good")
    assert (done.status, done.out) == (16, "good/agents/linked.md:1:1: a link; only regular files are allowed\n")


@pytest.mark.contract("P23")
def test_a_validation_warns_of_tools_that_agents_name(helm: Helm, here: Path) -> None:
    write(here / "small", HEAD)
    (here / "small/agents/writer.md").write_text("---\n---\nCall `delete_all`.\n")
    done = helm("plugin", "validate", "small")
    assert done.status == 0
    assert done.err.splitlines()[0] == (
        "helm: warning: small/agents/writer.md:3:6: agents/writer.md names delete_all, which tools does not list:"
        " if that is a tool, no run can call it"
    )


@pytest.mark.contract("P1", "P39")
def test_no_manifest_is_a_usage_error(helm: Helm, here: Path) -> None:
    (here / "empty" / "deeper").mkdir(parents=True)
    (here / "empty" / "deeper" / "plugin.yaml").write_text(HEAD)
    for command in ("validate", "review"):
        done = helm("plugin", command, "empty", "-o", "json")
        told = (
            "helm: empty has no manifest.json, and no plugin.yaml either; make a new extension with `helm plugin new`\n"
        )
        assert (done.status, done.out, done.err) == (2, "", told)
    (here / "empty" / "plugin.yml").write_text(HEAD)
    done = helm("plugin", "validate", "empty")
    assert (done.status, done.err) == (
        2,
        "helm: empty has no manifest.json, and no plugin.yaml either; plugin.yml is not read,"
        " it must be named plugin.yaml\n",
    )


@pytest.mark.contract("P1")
def test_two_manifests_are_one_too_many(helm: Helm, here: Path) -> None:
    (here / "good" / "manifest.json").write_text('{"id": "x", "connections": []}')
    done = helm("plugin", "validate", "good")
    assert (done.status, done.out) == (
        16,
        "good/plugin.yaml:1:1: the folder has both manifest.json and plugin.yaml;"
        " an extension has one manifest, so remove one\n",
    )


@pytest.mark.contract("P39")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("good", "--format", "gitlab"), "--format takes text or github; did you mean github?"),
        (("good", "-o", "json", "--format", "github"), "-o json and --format github are two outputs; give one of them"),
        (("good", "-o", "table"), "-o takes auto or json"),
        (("absent",), "absent is not a folder; name the folder that holds the manifest"),
    ],
)
def test_usage_errors(helm: Helm, here: Path, words: tuple[str, ...], message: str) -> None:
    done = helm("plugin", "validate", *words)
    assert (done.status, done.out, done.err) == (2, "", f"helm: {message}\n")


@pytest.mark.contract("P39")
def test_colour_is_for_terminals(helm: Helm, here: Path) -> None:
    assert "\x1b" not in helm("plugin", "validate", "bad", env={"FORCE_COLOR": None}).out
    with at_terminal(*HELM, "plugin", "validate", "bad", size=(160, 40)) as screen:
        assert screen.status() == 16
        assert any(line.startswith("bad/plugin.yaml:4:1: the field") for line in screen.screen())
        assert b"\x1b[1mbad/plugin.yaml:4:1:\x1b[0m the field" in screen.raw


@pytest.mark.contract("P44")
def test_a_plugin_of_the_other_helm(helm: Helm, here: Path) -> None:
    write(
        here / "diff", 'name: diff\nversion: 3.9.0\nusage: Show a diff\ncommand: "$HELM_PLUGIN_DIR/diff"\nhooks: {}\n'
    )
    done = helm("plugin", "validate", "diff")
    assert (done.status, done.out) == (
        16,
        "diff/plugin.yaml:3:1: this is a plugin of Helm, the package manager of Kubernetes,"
        ' which has "usage", "command" and "hooks": another program of the same name reads it;'
        " `helm plugin reference --dialect plugin.yaml` shows what this one reads\n",
    )


@pytest.mark.contract("P43")
@pytest.mark.parametrize(("dialect", "identifier"), [("manifest.json", "tickets"), ("plugin.yaml", "acme/marketing")])
def test_what_new_writes_validates(helm: Helm, here: Path, dialect: str, identifier: str) -> None:
    done = helm("plugin", "new", "made/new", "--dialect", dialect, "--id", identifier)
    assert done.status == 0
    written = sorted(str(path.relative_to("made/new")) for path in Path("made/new").rglob("*") if path.is_file())
    assert done.err == (
        f"helm: made/new holds {', '.join(written[:-1])} and {written[-1]}; next: helm plugin review made/new\n"
    )
    assert dialect in written and (here / "made/new/.gitattributes").read_text() == "* -text\n"
    checked = helm("plugin", "validate", "made/new")
    assert checked.status == 0
    assert re.fullmatch(rf"helm: {identifier} is valid; its digest is sha256:[0-9a-f]{{64}}\n", checked.err)
    again = helm("plugin", "new", "made/new", "--dialect", dialect)
    assert (again.status, again.err) == (2, "helm: made/new is not empty; name a folder that does not exist yet\n")


@pytest.mark.contract("P43")
def test_new_makes_an_id_from_the_folder(helm: Helm, here: Path) -> None:
    assert helm("plugin", "new", "My Plugin", "--dialect", "plugin.yaml").status == 0
    assert "\nname: my-plugin\n" in (here / "My Plugin/plugin.yaml").read_text()
    done = helm("plugin", "new", "other", "--dialect", "plugin.toml")
    told = "helm: --dialect takes manifest.json or plugin.yaml; did you mean plugin.yaml?\n"
    assert (done.status, done.err) == (2, told)
    assert not (here / "other").exists()


@pytest.mark.contract("P2", "P3", "P43")
def test_the_schema_and_the_reference_are_printed(helm: Helm) -> None:
    done = helm("plugin", "schema", "--dialect", "plugin.yaml")
    assert (done.status, done.err, done.out) == (0, "", dialects.schema_text("plugin.yaml"))
    assert json.loads(done.out)["$id"] == "https://docs.coderhelm.com/schema/plugin-manifest.v1.json"
    page = helm("plugin", "reference", "--dialect", "plugin.yaml")
    assert (page.status, page.err, page.out) == (0, "", dialects.reference("plugin.yaml"))
    assert helm("plugin", "schema").out == dialects.schema_text("manifest.json")
    assert helm("plugin", "reference").out == dialects.reference("manifest.json")


def test_the_hook_that_teams_name_in_their_repositories(here: Path) -> None:
    """What pre-commit would run, where it would run it."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (hook["id"], hook["language"], hook["pass_filenames"]) == ("helm-plugin-validate", "python", False)
    program, *words = shlex.split(hook["entry"])
    assert program in (ROOT / "pyproject.toml").read_text().partition("[project.scripts]")[2]
    for folder, status in (("good", 0), ("bad", 16)):
        assert run([*HELM, *words, *hook["args"]], cwd=here / folder).status == status
    for path in ("plugin.yaml", "agents/writer.md", "plugins/a/manifest.json", "skills/a/SKILL.md"):
        assert re.search(hook["files"], path)
    for path in ("plugin.yaml.bak", "src/a.py", os.path.join("x", "package.json")):
        assert not re.search(hook["files"], path)
