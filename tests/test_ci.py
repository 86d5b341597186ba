"""README's examples for CI, run as their runners run them: step by step, in a fresh home, against a real database."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import yaml

from tests.example import RECENT
from tests.program import ROOT, Finished, Helm, run
from tests.rig.postgres import OWNER, PASSWORD, Postgres, free_port

README: Final = (ROOT / "README.md").read_text()
SECTION: Final = README[README.index("## In CI\n") : README.index("## How it fails")]
GITHUB, GITLAB = re.findall(r"^```yaml\n(.*?)^```", SECTION, re.S | re.M)
# What of it no way of quoting changes.
MARK: Final = PASSWORD.partition("\\")[0].strip()
EXPRESSION: Final = re.compile(r"\$\{\{ secrets\.DB_PASSWORD \}\}")
CSV: Final = b"id,title,status\r\n3,Ticket 3,open\r\n1,Ticket 1,open\r\n"
TICKETS: Final = (
    "CREATE TABLE tickets (id int PRIMARY KEY, title text NOT NULL, status text NOT NULL)",
    "INSERT INTO tickets VALUES (1, 'Ticket 1', 'open'), (2, 'Ticket 2', 'closed'), (3, 'Ticket 3', 'open')",
)

# What each program of a job was started with is kept, and then it runs; `pip` has nothing to do, for helm is there.
SHIM: Final = """#!/bin/sh
number=$(ls "{seen}" | wc -l)
env -0 > "{seen}/$number.environment"
printf '%s\\0' "$@" > "{seen}/$number.words"
exec {program}
"""


class Runner(NamedTuple):
    """A machine of a runner's: the checkout, its folder for temporary files, and what each program was started with."""

    checkout: Path
    temporary: Path
    seen: Path
    port: int
    digest: str

    def filled(self, text: str) -> Any:
        """An example with what is the user's own: the database, the digest, and the folder of what is temporary."""
        for old, new in (
            ("ci@db.example.com/shop", f"{OWNER}@127.0.0.1:{self.port}/zq_main"),
            ("sha256:…", self.digest),
            ("/tmp/", f"{self.temporary}/"),
        ):
            assert text.count(old) <= 1
            text = text.replace(old, new)
        return yaml.safe_load(text)

    def started(self) -> list[tuple[list[str], bytes]]:
        """The words of each program, and its environment."""
        files = sorted(self.seen.glob("*.words"), key=lambda path: int(path.stem))
        return [
            (path.read_text().split("\0")[:-1], path.with_suffix(".environment").read_bytes())
            for path in files
        ]  # fmt: skip


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres: Postgres, helm: Helm) -> Runner:
    postgres.fresh(*TICKETS)
    for name in ("checkout", "temporary", "seen", "bin"):
        (tmp_path / name).mkdir()
    for name, program in (("helm", f'"{sys.executable}" -m helm_cli "$@"'), ("pip", "true")):
        (tmp_path / "bin" / name).write_text(SHIM.format(seen=tmp_path / "seen", program=program))
        (tmp_path / "bin" / name).chmod(0o755)
    sql = RECENT.replace("?", "$1", 1).replace("?", "$2", 1)
    close = "UPDATE tickets SET status = 'closed' WHERE id = $1"
    queries = {
        "recent": {"sql": sql, "params": ["status", "limit"]},
        "close": {"sql": close, "params": ["id"], "write": True},
    }
    connection = {"id": "app", "kind": "db", "service": "shop", "engine": "postgres", "queries": queries}
    manifest = {"id": "tickets", "permissions": {"write": True}, "connections": [connection]}
    folder = tmp_path / "checkout" / "tickets"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2))
    # A person read it on a machine of their own, and pinned what they saw.
    digest = helm("plugin", "review", str(folder), "-o", "json").json["digest"]
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return Runner(tmp_path / "checkout", tmp_path / "temporary", tmp_path / "seen", postgres.port, digest)


def github(runner: Runner, workflow: Any) -> Iterator[Finished]:
    """Each step of the job as GitHub runs it with `shell: bash`, up to the first that fails."""
    (job,) = workflow["jobs"].values()
    exported = runner.temporary / "exported"
    exported.touch()
    for number, step in enumerate(step for step in job["steps"] if "run" in step):
        script = runner.temporary / f"{number}.sh"
        script.write_text(step["run"])
        kept = dict(line.split("=", 1) for line in exported.read_text().splitlines())
        given = {name: EXPRESSION.sub(lambda _: PASSWORD, value) for name, value in step.get("env", {}).items()}
        own = {"RUNNER_TEMP": str(runner.temporary), "GITHUB_ENV": str(exported)}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        ended = run(command, cwd=runner.checkout, env={**job["env"], **kept, **given, **own})
        yield ended
        if ended.status:
            return


def gitlab(runner: Runner, pipeline: Any) -> tuple[Finished, Finished]:
    """The script of the job in one shell, and what runs after it in another, with the password in a file of its own."""
    (job,) = pipeline.values()
    secret = runner.seen.parent / "password"
    secret.write_text(PASSWORD)
    own = {"CI_JOB_ID": "1234", "DB_PASSWORD": str(secret)}
    given = {name: value.replace("$CI_JOB_ID", "1234") for name, value in job["variables"].items()}
    # Not every image has bash, and not every sh has pipefail.
    begun = "if set -o | grep -q pipefail; then set -o pipefail; fi; set -o errexit\n"
    script, after = (
        run(["sh", "-c", begun + "\n".join(job[part])], cwd=runner.checkout, env={**given, **own})
        for part in ("script", "after_script")
    )
    return script, after


def leaks(runner: Runner, ended: list[Finished]) -> list[str]:
    """Where the password is, but for the environment of the one program that it was given to."""
    found = [f"output {number}" for number, one in enumerate(ended) if MARK in one.out + one.err]
    for words, environment in runner.started():
        if MARK in " ".join(words) or (MARK.encode() in environment and words[:2] != ["db", "add"]):
            found.append(" ".join(words))
    files = [path for place in (runner.checkout, runner.temporary) for path in place.rglob("*") if path.is_file()]
    return found + [path.name for path in files if MARK.encode() in path.read_bytes()]


def test_the_workflow_has_the_shape_that_github_expects() -> None:
    workflow = yaml.safe_load(GITHUB)
    # YAML 1.1, which PyYAML reads, takes `on` for a truth value; GitHub does not.
    assert workflow.keys() == {True, "jobs"} and workflow[True] == ["push"]
    (job,) = workflow["jobs"].values()
    assert job.keys() == {"runs-on", "defaults", "env", "steps"}
    assert job["defaults"] == {"run": {"shell": "bash"}}
    assert all(isinstance(value, str) for value in job["env"].values())
    for step in job["steps"]:
        assert len(step.keys() & {"uses", "run"}) == 1 and step.keys() <= {"uses", "run", "env"}
        assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step.get("uses", "actions/checkout@v4"))
        assert all(isinstance(value, str) for value in step.get("env", {}).values())
    # A secret is in the environment of one step, never in a script, which GitHub would fill it into.
    assert GITHUB.count("${{") == len(EXPRESSION.findall(GITHUB)) == 1
    assert [EXPRESSION.fullmatch(step["env"]["PASSWORD"]) is not None for step in job["steps"] if "env" in step] == [
        True
    ]


def test_the_pipeline_has_the_shape_that_gitlab_expects() -> None:
    (job,) = yaml.safe_load(GITLAB).values()
    assert job.keys() == {"image", "variables", "retry", "script", "after_script", "artifacts"}
    assert job["retry"] == {"max": 2, "exit_codes": [8, 9, 10]}
    assert all(isinstance(value, str) for value in job["variables"].values())
    assert all(isinstance(line, str) for part in ("script", "after_script") for line in job[part])


@pytest.mark.contract("C48", "C105")
def test_the_workflow_runs_and_the_password_is_nowhere(runner: Runner, postgres: Postgres) -> None:
    """And a write in the same job sends nothing."""
    ended = list(github(runner, runner.filled(GITHUB)))
    assert [one.status for one in ended] == [0] * 5, ended
    assert (runner.checkout / "open.csv").read_bytes() == CSV
    assert [words[:2] for words, _ in runner.started()] == [
        ["install", "helm-cli"], ["plugin", "validate"], ["db", "add"], ["plugin", "review"], ["call", "app"],
    ]  # fmt: skip
    assert leaks(runner, ended) == ["credentials.json"]
    assert sorted(path.name for path in runner.checkout.iterdir()) == ["open.csv", "tickets"]
    home = {"HELM_CLI_HOME": str(runner.temporary / "helm")}
    write = run(["helm", "call", "app", "close", "--arg", "id=1"], cwd=runner.checkout, env=home)
    assert (write.status, write.json["error"]["code"]) == (7, "confirmation_required")
    assert postgres.outside("SELECT status FROM tickets WHERE id = 1") == [("open",)]
    check = run(["helm", "plugin", "review", "./tickets", "--check"], cwd=runner.checkout, env=home)
    assert check.status == 0


def test_a_database_that_is_not_there_warns_and_lets_the_job_pass(runner: Runner) -> None:
    ended = list(github(runner, runner._replace(port=free_port()).filled(GITHUB)))
    assert [one.status for one in ended] == [0] * 5, ended
    warning = "::warning::helm ended with 10, busy or not reachable; the next run tries again\n"
    assert ended[-1].out == warning
    assert (runner.checkout / "open.csv").read_bytes() == b""


def test_a_changed_extension_ends_the_job_before_it_calls(runner: Runner) -> None:
    with (runner.checkout / "tickets" / "manifest.json").open("a") as manifest:
        manifest.write(" ")
    ended = list(github(runner, runner.filled(GITHUB)))
    assert [one.status for one in ended] == [0, 0, 0, 17], ended
    assert not (runner.checkout / "open.csv").exists()


def test_a_fault_of_the_extension_is_an_annotation(runner: Runner) -> None:
    manifest = runner.checkout / "tickets" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"kind"', '"kinf"'))
    ended = list(github(runner, runner.filled(GITHUB)))
    assert [one.status for one in ended] == [0, 16], ended
    assert ended[-1].out == (
        "::error file=tickets/manifest.json,line=7,col=5,title=helm plugin validate::"
        'entry 1 of "connections" lacks the required field "kind"\n'
    )


def test_the_pipeline_runs_and_the_password_is_nowhere(runner: Runner) -> None:
    home = runner.temporary / "helm-1234"
    job = runner.filled(GITLAB)
    later = job["tickets"].pop("after_script")
    script, _ = gitlab(runner, {"tickets": {**job["tickets"], "after_script": ["true"]}})
    assert script.status == 0, script
    assert (runner.checkout / "open.csv").read_bytes() == CSV
    assert [words[:2] for words, _ in runner.started()] == [
        ["install", "helm-cli"], ["db", "add"], ["plugin", "review"], ["call", "app"],
    ]  # fmt: skip
    assert leaks(runner, [script]) == ["credentials.json"]
    assert all(MARK.encode() not in environment for _, environment in runner.started())
    assert home.is_dir()
    assert run(["sh", "-ec", "\n".join(later)], env={"HELM_CLI_HOME": str(home)}).status == 0
    assert not home.exists()


def test_a_pipeline_that_cannot_reach_its_database_ends_as_one_to_try_again(runner: Runner) -> None:
    job = runner._replace(port=free_port()).filled(GITLAB)
    script, after = gitlab(runner, job)
    assert (script.status, after.status) == (10, 0)
    assert script.status in job["tickets"]["retry"]["exit_codes"]


def test_many_profiles_come_at_once(runner: Runner, helm: Helm) -> None:
    """The import that the section names."""
    line = re.search(r"`(helm config import [^`]*)`", SECTION)
    assert line is not None
    where = ["--host", "127.0.0.1", "--port", str(runner.port), "--database", "zq_main", "--user", OWNER]
    helm("db", "add", "shop", "--engine", "postgres", *where, "--password-stdin", stdin=PASSWORD)
    assert helm("config", "export", "helm.toml", cwd=runner.checkout).status == 0
    (runner.checkout / "secrets.json").write_text(json.dumps({"db/shop": PASSWORD}))
    fresh = {"HELM_CLI_HOME": str(runner.temporary / "helm"), "HELM_CLI_CREDENTIALS": "file"}
    ended = run(["sh", "-ec", line[1]], cwd=runner.checkout, env=fresh)
    assert ended.status == 0, ended
    (runner.checkout / "secrets.json").unlink()
    assert run(["helm", "db", "test", "shop"], env=fresh).status == 0
    assert leaks(runner, [ended]) == ["credentials.json"]
