"""Calls of a TDT that answers as the test says: which tools are called, how often, by which server, and what comes."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from helm_cli.drivers import Answer, Limits, interrupts, kept, tdt, tdt_lock
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import dump
from helm_cli.model.plan import Plan, Revision
from helm_cli.model.profile import Brain, TdtProfile
from tests.program import ROOT
from tests.rig.tdt import Fake, envelope, refusal, result, tool

SOON = Limits(seconds=20)
READ = tool("tdt_list", "limit", read_only=True)
SAVE = tool("tdt_save", "title", "user_instruction", read_only=False)
ADD = tool("tdt_add", "path", read_only=False)
PROFILES: tuple[TdtProfile, ...] = ("everyday", "read-only", "everyday")
UNKNOWN = "; it is unknown whether the write was applied: look before you repeat it"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    made = Fake(tmp_path / "workspace", monkeypatch)
    made.offers([READ, SAVE, ADD], tdt_list=result(envelope([1])), tdt_save=result(envelope({"id": "x"})))
    yield made
    kept.drop(("tdt", str(made.folder)))


def brain(fake: Fake, profile: TdtProfile = "everyday") -> Brain:
    return Brain(str(fake.folder), profile, str(fake.folder.parent / "run"))


def plan(name: str, effect: Effect = "read", **arguments: Any) -> Plan:
    return Plan(
        kind="tdt-mcp",
        effect=effect,
        extension="x",
        connection="tdt",
        operation=name,
        group=None,
        profile=None,
        driver="tdt",
        shape="json",
        title="Confirm tool call",
        verb="Call",
        noun="tool",
        request={"tool": name, "arguments": arguments},
        open=effect != "read",
    )


def call(fake: Fake, made: Plan, limits: Limits = SOON, profile: TdtProfile = "everyday") -> Any:
    """The envelope of one call; a write is completed first, as broker.call does."""
    if made.open:
        made = tdt.complete(made, brain(fake, profile), None, limits)
    answer = tdt.run(made, brain(fake, profile), None, limits)
    assert isinstance(answer, Answer)
    return answer.envelope


def refused(fake: Fake, made: Plan, limits: Limits = SOON, profile: TdtProfile = "everyday") -> HelmError:
    with pytest.raises(HelmError) as caught:
        call(fake, made, limits, profile)
    return caught.value


def soon(happened: Callable[[], bool], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.contract("C115")
@pytest.mark.parametrize("ok", [True, False])
def test_an_envelope_comes_as_it_is(fake: Fake, ok: bool) -> None:
    error = None if ok else {"code": "reread_it", "message": "é", "retry": "reread", "more": [1]}
    whole = {
        "future": {"b": 1, "a": [None, 1.0, 10**30, "\u2028"]},
        "ok": ok,
        "api_version": 7,
        "data": None,
        "coverage": {"truncated": True, "omissions": ["a.md", "b.md"], "extra": {}},
        "warnings": ["w", {"x": "y"}],
        "error": error,
    }
    fake.offers([READ], tdt_list=result(whole))
    assert dump(call(fake, plan("tdt_list"))) == dump(whole)  # type: ignore[arg-type]  # its values are JSON
    # One that is only sent as a text, and one that claims to be an error and is none.
    fake.offers([READ], tdt_list={**result(whole), "structuredContent": None, "isError": ok})
    assert dump(call(fake, plan("tdt_list"))) == dump(whole)  # type: ignore[arg-type]  # its values are JSON


@pytest.mark.parametrize(
    "answer",
    [
        {"content": [{"type": "text", "text": "fine"}]},
        {"content": []},
        {"content": [{"type": "image", "data": ""}]},
        {"content": [], "structuredContent": {"data": 1}},
        {"content": [], "structuredContent": {"ok": "yes"}},
        {"content": [{"type": "text", "text": '{"ok": true, "ok": false}'}]},
    ],
)
def test_what_is_no_envelope_is_told_as_that(fake: Fake, answer: dict[str, Any]) -> None:
    fake.offers([READ, SAVE], tdt_list=answer, tdt_save=answer)
    error = refused(fake, plan("tdt_list"))
    said = "what TDT answered to tdt_list is no envelope of TDT's; see that tdt is up to date; the tool may have run"
    assert (error.code, error.message) == ("unavailable", said)
    error = refused(fake, plan("tdt_save", "write"))
    assert (error.code, error.members) == ("unavailable", {"applied": "unknown"})
    assert error.message.endswith(UNKNOWN)


def test_an_answer_over_a_mebibyte_is_too_large(fake: Fake) -> None:
    most = 1024 * 1024 - len(dump({"ok": True, "data": ""}))
    fake.offers(
        [READ], tdt_list=[{"content": [], "structuredContent": {"ok": True, "data": "x" * (most + n)}} for n in (0, 1)]
    )
    with kept.open_ones():
        assert len(call(fake, plan("tdt_list"))["data"]) == most
        assert refused(fake, plan("tdt_list")).code == "too_large"


@pytest.mark.contract("C116")
@pytest.mark.parametrize(
    ("answers", "calls", "ok"),
    [
        ([refusal("safe"), result(envelope())], 2, True),
        ([refusal("safe"), refusal("safe"), result(envelope())], 3, True),
        ([refusal("safe")], 3, False),
        ([refusal("reread"), result(envelope())], 1, False),
        ([refusal("inspect_outcome"), result(envelope())], 1, False),
        ([refusal("always"), result(envelope())], 1, False),
        ([result(envelope(ok=False, error=None))], 1, False),
    ],
)
def test_a_read_is_repeated_where_that_is_safe_and_at_most_twice(
    fake: Fake, answers: list[Any], calls: int, ok: bool
) -> None:
    fake.offers([READ], tdt_list=answers)
    begun = time.monotonic()
    assert call(fake, plan("tdt_list", limit=3))["ok"] is ok
    assert [note["arguments"] for note in fake.calls()] == [{"limit": 3}] * calls
    assert len(fake.pids()) == 1
    assert time.monotonic() - begun >= (0, 0.2, 0.8)[calls - 1]


@pytest.mark.contract("C116")
@pytest.mark.parametrize("retry", ["safe", "reread", "inspect_outcome"])
def test_a_write_is_never_repeated(fake: Fake, retry: str) -> None:
    fake.offers([SAVE], tdt_save=[refusal(retry), result(envelope())])
    told = call(fake, plan("tdt_save", "write", title="a"))
    assert (told["ok"], told["error"]["retry"]) == (False, retry)
    assert len(fake.calls()) == 1


def test_a_read_is_not_repeated_beyond_its_time(fake: Fake) -> None:
    fake.offers([READ], tdt_list={"after": 0.5, "then": refusal("safe")})
    assert call(fake, plan("tdt_list"), Limits(seconds=0.65))["error"]["retry"] == "safe"
    assert len(fake.calls()) == 1


@pytest.mark.contract("C117")
def test_helm_fills_the_user_instruction_where_the_tool_takes_one(fake: Fake) -> None:
    fake.offers([SAVE, ADD], tdt_save=result(envelope()), tdt_add=result(envelope()))
    made = tdt.complete(plan("tdt_save", "write", title="a\u202e"), brain(fake), None, SOON)
    words = made.request["user_instruction"]
    assert isinstance(words, str)
    assert words.startswith("User confirmed tdt_save in Helm (request ")
    assert made.request == {"tool": "tdt_save", "arguments": {"title": "a\u202e"}, "user_instruction": words}
    assert (made.open, made.previewed) == (False, False)
    again = tdt.complete(plan("tdt_save", "write", title="a\u202e"), brain(fake), None, SOON)
    assert again.digest() == made.digest()
    other = tdt.complete(plan("tdt_save", "write", title="b"), brain(fake), None, SOON)
    assert other.request["user_instruction"] != words
    assert call(fake, plan("tdt_save", "write", title="a\u202e"))["ok"]
    assert call(fake, plan("tdt_add", "write", path="/p"))["ok"]
    assert [note["arguments"] for note in fake.calls()] == [
        {"title": "a\u202e", "user_instruction": words},
        {"path": "/p"},
    ]


@pytest.mark.contract("C117")
@pytest.mark.parametrize("read_only", [False, None])
def test_a_write_declared_as_a_read_is_refused(fake: Fake, read_only: bool | None) -> None:
    fake.offers([tool("tdt_save", read_only=read_only)], tdt_save=result(envelope()))
    error = refused(fake, plan("tdt_save"))
    assert (error.code, error.message) == (
        "refused",
        "TDT does not say that tdt_save only reads; declare it under writes, so that it is confirmed",
    )
    assert fake.calls() == []


@pytest.mark.parametrize("effect", ["read", "write"])
def test_a_tool_that_is_none_is_refused(fake: Fake, effect: Effect) -> None:
    everyday, read_only = refused(fake, plan("tdt_lits", effect)), refused(fake, plan("zz", effect), SOON, "read-only")
    told = "TDT has no tool tdt_lits in its profile everyday; did you mean tdt_list?"
    assert (everyday.code, everyday.message) == ("refused", told)
    assert read_only.message == (
        "TDT has no tool zz in its profile read-only; tdt_workspace_context names those that it has; those that write"
        " are declared under writes, and need the profile everyday"
    )
    assert fake.calls() == []


def test_a_write_is_sent_as_it_was_confirmed_or_not_at_all(fake: Fake) -> None:
    confirmed = tdt.complete(plan("tdt_save", "write"), brain(fake), None, SOON)
    kept.drop(("tdt", str(fake.folder)))
    fake.offers([tool("tdt_save", read_only=False)], tdt_save=result(envelope()))
    error = refused(fake, confirmed)
    told = "TDT takes other arguments for tdt_save than a moment ago; make the call again"
    assert (error.code, error.message) == ("refused", told)
    assert fake.calls() == []


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        ("dies", "unavailable", "the MCP server tdt ended with status 3; it said: the brain is on fire"),
        ("hangs", "timeout", "tdt_save took longer than 0.5 s, so the MCP server tdt was stopped"),
        (7, "tool_error", "tdt_save was answered with the error -32601: unknown"),
    ],
)
def test_a_write_without_an_answer_may_have_been_applied(fake: Fake, answer: Any, code: str, message: str) -> None:
    fake.offers([SAVE], tdt_save=answer)
    made = tdt.complete(plan("tdt_save", "write"), brain(fake), None, SOON)
    error = refused(fake, made, Limits(seconds=0.5))
    assert (error.code, error.message, error.members) == (code, message + UNKNOWN, {"applied": "unknown"})
    assert len(fake.calls()) == 1


def test_a_server_gets_the_safe_variables_only(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDT_SECRET", "of helm")
    call(fake, plan("tdt_list"), profile="read-only")
    started = fake.notes()[0]
    assert started["words"] == ["--workspace", str(fake.folder), "mcp", "serve", "--profile", "read-only"]
    assert started["folder"] == str(fake.folder)
    # What the shell that starts the fake and Python add.
    added = {"PWD", "OLDPWD", "_", "SHLVL", "LC_CTYPE"}
    assert set(started["environment"]) - added <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}


@pytest.mark.parametrize("path", ["", "/nowhere", "bin:."])
def test_without_tdt_the_call_says_what_to_install(fake: Fake, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    # A program of the workspace is not the user's.
    program = fake.folder / "bin" / "tdt"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\ntouch ran\n")
    program.chmod(0o755)
    monkeypatch.chdir(fake.folder)
    monkeypatch.setenv("PATH", path)
    error = refused(fake, plan("tdt_list"))
    assert error.code == "not_configured"
    assert error.message == (
        "there is no program tdt on PATH; install it, for example with: pipx install 'thisdamnthing[mcp]'"
    )
    assert not (fake.folder / "ran").exists()


def test_a_server_that_does_not_start_says_why(fake: Fake) -> None:
    (fake.folder / ".tdt" / "fake.json").write_text('{"tools": null}')
    error = refused(fake, plan("tdt_list"))
    assert error.code == "unavailable"
    assert error.message == ("the MCP server tdt ended with status 1 before it was ready; it said: no workspace here")
    # Whoever comes next does not wait for it.
    fake.offers([READ], tdt_list=result(envelope()))
    assert call(fake, plan("tdt_list"))["ok"]


def test_a_probe_and_a_preparation_call_nothing(fake: Fake) -> None:
    assert tdt.probe(brain(fake), None, SOON) == "fake 1.0, protocol 2026-07-28, 3 tools in the profile everyday"
    tdt.prepare(plan("tdt_list"), brain(fake), None, SOON)
    tdt.prepare(plan("tdt_save", "write"), brain(fake), None, SOON)
    with pytest.raises(HelmError, match="did you mean tdt_save"):
        tdt.prepare(plan("tdt_safe", "write"), brain(fake), None, SOON)
    assert fake.calls() == []


@pytest.mark.contract("C114")
def test_one_server_serves_a_batch_and_ends_with_it(fake: Fake) -> None:
    with kept.open_ones():
        for _ in range(3):
            call(fake, plan("tdt_list"))
        call(fake, plan("tdt_save", "write")._replace(extension="another"))
        assert [(one.label, one.calls, one.busy) for one in kept.listed()] == [("tdt (everyday)", 5, False)]
        assert len(fake.pids()) == 1
    assert soon(lambda: all(gone(pid) for pid in fake.pids()))
    # In time to leave by itself.
    assert fake.notes()[-1]["what"] == "ended"


@pytest.mark.contract("C114")
def test_a_server_that_died_is_started_anew(fake: Fake) -> None:
    with kept.open_ones():
        call(fake, plan("tdt_list"))
        os.kill(fake.pids()[0], signal.SIGKILL)
        assert soon(lambda: gone(fake.pids()[0]))
        # The end of its output reaches helm in its own time.
        assert soon(lambda: _answers(fake))
        assert len(fake.pids()) == 2


def _answers(fake: Fake) -> bool:
    try:
        return bool(call(fake, plan("tdt_list"))["ok"])
    except HelmError:
        return False


@pytest.mark.contract("C114")
def test_another_profile_is_another_server_and_never_beside_the_first(fake: Fake) -> None:
    with kept.open_ones():
        for profile in PROFILES:
            call(fake, plan("tdt_list"), profile=profile)
        _never_side_by_side(fake, 3)


@pytest.mark.contract("C114")
def test_calls_side_by_side_take_turns(fake: Fake) -> None:
    fake.offers([READ], tdt_list={"after": 0.05, "then": result(envelope())})
    answers: list[Any] = []
    with kept.open_ones():
        threads = [threading.Thread(target=lambda: answers.append(call(fake, plan("tdt_list")))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [answer["ok"] for answer in answers] == [True] * 8
    assert len(fake.pids()) == 1


# Another helm: it makes a call, keeps the server, says so, and goes on when it is told.
OTHER = """
import sys
from helm_cli.drivers import Limits, kept, tdt
from helm_cli.model.profile import Brain
from tests.drivers.test_tdt import plan
target = Brain(sys.argv[1], "everyday", sys.argv[2])
with kept.open_ones():
    for line in sys.stdin:
        print(tdt.run(plan("tdt_list"), target, None, Limits(seconds=20)).envelope["ok"], flush=True)
"""


class Other:
    """A process of its own that makes a call whenever it is told to, and keeps its server in between."""

    def __init__(self, fake: Fake) -> None:
        arguments = [str(fake.folder), str(fake.folder.parent / "run")]
        self.process = subprocess.Popen(
            [sys.executable, "-c", OTHER, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def begin(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def answered(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def __enter__(self) -> "Other":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.mark.contract("C114")
def test_who_waits_gets_the_place_of_a_server_that_only_waits(fake: Fake) -> None:
    with Other(fake) as other:
        other.begin()
        assert other.answered() == "True"
        begun = time.monotonic()
        assert call(fake, plan("tdt_list"))["ok"]
        assert time.monotonic() - begun < 10
        other.begin()
        assert other.answered() == "True"
    _never_side_by_side(fake, 3)


@pytest.mark.contract("C114")
def test_who_waits_for_a_busy_server_waits_until_it_is_done(fake: Fake) -> None:
    fake.offers([READ], tdt_list=[{"after": 1.0, "then": result(envelope())}])
    with Other(fake) as other:
        other.begin()
        assert soon(lambda: len(fake.calls()) == 1)
        assert call(fake, plan("tdt_list"))["ok"]
        assert other.answered() == "True"
    _never_side_by_side(fake, 2)


@pytest.mark.contract("C114")
def test_a_killed_helm_leaves_no_server_and_no_lock(fake: Fake) -> None:
    fake.offers([READ], tdt_list=["hangs"])
    with Other(fake) as other:
        other.begin()
        assert soon(lambda: len(fake.calls()) == 1)
        other.process.kill()
        fake.offers([READ], tdt_list=result(envelope()))
        assert call(fake, plan("tdt_list"))["ok"]
    assert soon(lambda: all(gone(pid) for pid in fake.pids()))
    assert len(fake.pids()) == 2


def test_two_workspaces_have_two_servers(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second = Fake(tmp_path / "second", monkeypatch)
    second.offers([READ], tdt_list=result(envelope([2])))
    with kept.open_ones():
        assert [call(which, plan("tdt_list"))["data"] for which in (fake, second, fake)] == [[1], [2], [1]]
        assert (len(fake.pids()), len(second.pids())) == (1, 1)
        assert not gone(fake.pids()[0])
        assert not gone(second.pids()[0])


def test_waiting_for_another_helm_is_bounded_and_can_be_interrupted(fake: Fake) -> None:
    lock = tdt_lock.acquire(brain(fake), 5)
    assert not tdt_lock.awaited(brain(fake))
    with pytest.raises(HelmError) as caught:
        tdt_lock.acquire(brain(fake), 0.1)
    assert caught.value.code == "unavailable"
    assert caught.value.message == (
        "another helm has used this workspace's TDT for 0.1 s, and only one can at a time; call again when it is done"
    )
    interrupt, ended = interrupts.Interrupt(), list[str]()

    def waiting() -> None:
        with interrupts.obeyed(interrupt):
            try:
                call(fake, plan("tdt_list"))
            except KeyboardInterrupt:
                ended.append("interrupted")

    thread = threading.Thread(target=waiting)
    thread.start()
    assert soon(lambda: tdt_lock.awaited(brain(fake)))
    interrupt.set()
    thread.join(5)
    assert ended == ["interrupted"]
    os.close(lock)
    assert call(fake, plan("tdt_list"))["ok"]


def test_locks_are_private_and_follow_no_link(fake: Fake, tmp_path: Path) -> None:
    call(fake, plan("tdt_list"))
    run = tmp_path / "run"
    assert run.stat().st_mode & 0o777 == 0o700
    files = sorted(run.iterdir())
    assert [file.suffix for file in files] == [".child", ".next"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    files[0].unlink()
    files[0].symlink_to(tmp_path / "elsewhere")
    assert refused(fake, plan("tdt_list")).code == "state"
    assert not (tmp_path / "elsewhere").exists()


def test_a_server_lingers_for_what_follows_a_completed_write(fake: Fake) -> None:
    made = tdt.complete(plan("tdt_save", "write"), brain(fake), None, SOON)
    assert not gone(fake.pids()[0])
    call(fake, made)
    assert len(fake.pids()) == 1
    # Nothing follows a call that nobody keeps connections for.
    assert soon(lambda: gone(fake.pids()[0]))


PREVIEW = tool("tdt_move_preview", "id", "path", read_only=True)
PREVIEW["inputSchema"]["properties"]["budget_bytes"] = {"type": "integer", "maximum": 1048576}
APPLY = tool("tdt_move_apply", "id", "path", "expected_sha256", "user_instruction", "budget_bytes", read_only=False)


def previewed(fake: Fake, told: Any, *, name: str = "tdt_move_apply", **arguments: Any) -> tuple[Revision, ...]:
    twin = name.removesuffix("_apply") + "_preview"
    fake.offers([PREVIEW, APPLY], **{twin: told if isinstance(told, list) else result(envelope(told))})
    made = tdt.complete(plan(name, "write", **{"id": "p", "path": "/new", **arguments}), brain(fake), None, SOON)
    assert made.previewed
    return tdt.preview(made, brain(fake), None, SOON)


@pytest.mark.contract("C118")
def test_a_preview_shows_whole_texts_and_what_else_tdt_says(fake: Fake) -> None:
    (fake.folder / "notes").mkdir()
    (fake.folder / "notes" / "a.md").write_text("old\n")
    (fake.folder / "notes" / "b.bin").write_bytes(b"\xff\xfe")
    (fake.folder / "link.md").symlink_to("/etc/passwd")
    replacements = {"notes/a.md": "new\n", "notes/b.bin": "x", "notes/c.md": "c", "link.md": "l", "notes/d.md": None}
    told = {"operation": "move", "id": "p", "proposal_sha256": "h" * 64, "replacements": replacements, "applied": False}
    shown = previewed(fake, told, expected_sha256="h" * 64, budget_bytes=1024)
    no_text = "notes/b.bin is not UTF-8 at byte 0, so it cannot be given as text"
    link = "link.md is refused: it is a link, and links are never followed"
    assert shown == (
        Revision("what TDT says of it", None, 'operation = "move"\napplied = false\n', told=True),
        Revision("notes/a.md", "old\n", "new\n"),
        Revision(f"notes/b.bin (what stands there cannot be shown: {no_text})", "", "x"),
        Revision("notes/c.md", None, "c"),
        Revision(f"link.md (what stands there cannot be shown: {link})", "", "l"),
        Revision("notes/d.md (deleted)", None, ""),
    )
    # The whole answer is asked for, however little the caller wanted of the other.
    assert fake.calls()[-1]["arguments"] == {"id": "p", "path": "/new", "budget_bytes": 1048576}


@pytest.mark.contract("C118")
@pytest.mark.parametrize("expected", ["g" * 64, "", None, 7])
def test_a_hash_of_another_moment_is_refused(fake: Fake, expected: Any) -> None:
    with pytest.raises(HelmError) as caught:
        previewed(fake, {"proposal_sha256": "h" * 64, "replacements": {}}, expected_sha256=expected)
    assert caught.value.code == "refused"
    assert caught.value.message == (
        "tdt_move_apply is meant for another state than TDT's: the hash expected_sha256 is not that of what TDT would"
        " change now; ask for it again, and call with what it gives"
    )
    assert [note["tool"] for note in fake.calls()] == ["tdt_move_preview"]


def test_a_hash_that_nothing_has_is_refused_even_where_none_is_expected(fake: Fake) -> None:
    with pytest.raises(HelmError, match="another state"):
        previewed(fake, {"journal_sha256": None, "before": {}, "after": {}})


def test_a_preview_that_tdt_refuses_is_told(fake: Fake) -> None:
    with pytest.raises(HelmError) as caught:
        previewed(fake, [refusal("reread", "not_found", "No such project")], expected_sha256="h" * 64)
    assert (caught.value.code, caught.value.message) == (
        "refused",
        "TDT cannot tell what tdt_move_apply would change: No such project; nothing was sent",
    )


def test_a_preview_of_both_states_and_of_an_undoing(fake: Fake) -> None:
    before = {"a": "1", "b": None, "c": {"base64": "//4="}}
    after: dict[str, Any] = {"a": None, "b": "2", "c": "3"}
    shown = previewed(fake, {"proposal_sha256": "h", "before": before, "after": after}, expected_sha256="h")
    assert [revision.path for revision in shown] == ["a (deleted)", "b", "c"]
    binary = f"no text: 2 bytes with the SHA-256 {hashlib.sha256(bytes((255, 254))).hexdigest()}"
    assert [(revision.before, revision.after) for revision in shown] == [("1", ""), (None, "2"), (binary, "3")]
    undone = previewed(fake, {"journal_sha256": "h", "before": before, "after": after}, expected_sha256="h")
    assert [(revision.path, revision.before) for revision in undone] == [("a", None), ("b (deleted)", "2"), ("c", "3")]
    assert undone[2].after == binary


def test_a_stamped_preview_is_that_of_the_callers_moment(fake: Fake) -> None:
    def proposal(stamp: str, text: str = "x") -> dict[str, Any]:
        made = {
            "id": "demo",
            "candidate_timestamp": stamp,
            "before": {"n.md": None},
            "after": {"n.md": f"{stamp} {text}"},
        }
        whole = json.dumps(made, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return {**made, "proposal_sha256": hashlib.sha256(whole.encode()).hexdigest()}

    then, now = proposal("2026-01-01T00:00:00+00:00"), proposal("2026-01-01T00:00:09+00:00")
    given = {"expected_sha256": then["proposal_sha256"], "candidate_timestamp": then["candidate_timestamp"]}
    assert previewed(fake, now, **given)[-1] == Revision("n.md", None, "2026-01-01T00:00:00+00:00 x")
    with pytest.raises(HelmError, match="another state"):
        previewed(fake, proposal("2026-01-01T00:00:09+00:00", "other"), **given)


def test_what_is_bound_to_no_hash_or_told_by_no_reading_tool_has_no_preview(fake: Fake) -> None:
    writing = {**PREVIEW, "annotations": {"readOnlyHint": False}}
    for tools in ([PREVIEW, tool("tdt_move_apply", "id", read_only=False)], [writing, APPLY], [APPLY]):
        fake.offers(tools)
        kept.drop(("tdt", str(fake.folder)))
        made = tdt.complete(plan("tdt_move_apply", "write", id="p"), brain(fake), None, SOON)
        assert not made.previewed
        assert tdt.preview(made, brain(fake), None, SOON) == ()


def test_a_candidate_and_the_constitution_are_shown_as_what_they_are(fake: Fake) -> None:
    review = tool("tdt_candidate_review", "id", "expected_sha256", "user_instruction", "decision", read_only=False)
    status = tool("tdt_candidate_review_status", "id", read_only=True)
    told = {"id": "c", "revision": "h", "markdown": "# A\n", "path": "brain/c.md", "status": "pending"}
    fake.offers([review, status], tdt_candidate_review_status=result(envelope(told)))
    made = plan("tdt_candidate_review", "write", id="c", expected_sha256="h", decision={"action": "reject"})
    assert tdt.preview(tdt.complete(made, brain(fake), None, SOON), brain(fake), None, SOON) == (
        Revision("what TDT says of it", None, 'path = "brain/c.md"\nstatus = "pending"\n', told=True),
        Revision("brain/c.md as it stands", None, "# A\n", told=True),
    )
    kept.drop(("tdt", str(fake.folder)))
    save = tool("tdt_constitution_save", "markdown", "expected_sha256", "user_instruction", read_only=False)
    read = tool("tdt_constitution_read", read_only=True)
    policies: list[dict[str, Any]] = [{"sha256": "missing", "markdown": None}, {"sha256": "h", "markdown": "old"}]
    fake.offers([save, read], tdt_constitution_read=[result(envelope(policy)) for policy in policies])
    for policy in policies:
        made = plan("tdt_constitution_save", "write", markdown="new", expected_sha256=policy["sha256"])
        shown = tdt.preview(tdt.complete(made, brain(fake), None, SOON), brain(fake), None, SOON)
        assert shown == (Revision("the constitution", policy["markdown"], "new"),)


def _never_side_by_side(fake: Fake, count: int) -> None:
    """So many servers were started, each after the one before it had ended."""
    assert soon(lambda: len(fake.pids()) == count)
    notes = [note for note in fake.notes() if note["what"] in ("started", "ended")]
    alive: set[int] = set()
    for note in notes:
        if note["what"] == "started":
            assert not alive, notes
        alive ^= {note["pid"]}
    assert len(fake.pids()) == count
