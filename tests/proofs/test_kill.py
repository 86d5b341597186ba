"""Killed before any system call that changes something, helm leaves the old or the new, and the next run mends it.

Each case is one command, killed again and again one call later. The short form takes some of the calls of most cases;
HELM_TEST_LONG=1 takes all of all, of a Python that is started anew each time.
"""

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs

import pytest

from tests import example
from tests.rig import team
from tests.rig.http_server import Script
from tests.rig.place import QUIET, Place, yes
from tests.rig.scenes import FILES, confirming, marketing, publishing, renewing, rotating, shared, tickets
from tests.rig.stepped import Job, Ran

LONG: Final = os.environ.get("HELM_TEST_LONG") == "1"
OLD: Final = "the-old-secret"
NEW: Final = "the-new-secret"
POSTGRES: Final = ("--engine", "postgres", "--host", "127.0.0.1", "--port", "1", "--database", "d", "--user", "u")


# `not_authorized`: the sign-in is over.
ENDED: Final = 5


class Case(NamedTuple):
    """`prepare` makes the place ready and gives what is killed; `again` are the statuses of the same run once more.

    `check` says what else is wrong after that. `stride` is how many calls later each kill of the short form is, and
    `everybody` that what it started is killed too. `script` is what its server does, anew for each run.
    `lasting` says whether all is then as if nothing had been killed.
    """

    prepare: Callable[[Place], Job]
    again: tuple[int, ...] = (0,)
    check: Callable[[Place, Ran], list[str]] = lambda place, again: []
    stride: int = 3
    everybody: bool = False
    script: Callable[[], Script] = lambda: QUIET
    lasting: Callable[[Ran], bool] = lambda again: True


def adding(place: Place) -> Job:
    place.well("db", "add", "other", *POSTGRES, "--password-stdin", stdin=OLD)
    return Job(("db", "add", "pg", *POSTGRES, "--password-stdin"), NEW)


def added(place: Place, again: Ran) -> list[str]:
    """Where the profile was there already, it says so, or that its secret is to be entered again."""
    if again.status == 0:
        return []
    place.well("db", "add", "pg", *POSTGRES, "--password-stdin", "--force", stdin=NEW)
    return []


def replacing(place: Place) -> Job:
    place.well("db", "add", "pg", *POSTGRES, "--password-stdin", stdin=OLD)
    return Job(("db", "add", "pg", *POSTGRES[:-1], "v", "--password-stdin", "--force"), NEW)


def editing(place: Place) -> Job:
    place.well("db", "add", "pg", *POSTGRES, "--password-stdin", stdin=OLD)
    return Job(("db", "edit", "pg", "--port", "2", "--password-stdin"), NEW)


def removing(place: Place) -> Job:
    for name in ("pg", "other"):
        place.well("db", "add", name, *POSTGRES, "--password-stdin", stdin=OLD)
    return Job(("db", "remove", "pg"))


def adding_a_service(place: Place) -> Job:
    return Job(("service", "add", "blog", "--base-url", "https://a.example.com", "--token-stdin", "--force"), NEW)


def reviewing(place: Place) -> Job:
    job = place.approve("tickets", example.MANIFEST)
    # In a home that nothing has made yet.
    for path in place.home.iterdir():
        path.unlink()
    place.home.rmdir()
    return job


def reviewing_again(place: Place) -> Job:
    tickets(place)
    return place.approve("tickets", {**example.MANIFEST, "version": "2.0.0"})


def approved(place: Place, again: Ran) -> list[str]:
    checked = place.helm("plugin", "review", "tickets", "--check")
    return [] if checked.status == 0 else [f"not approved after all: {checked}"]


def reading(place: Place) -> Job:
    tickets(place)
    return Job(("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1"))


def in_history(place: Place, again: Ran) -> list[str]:
    outcomes = [entry["outcome"] for entry in place.helm("history", "-o", "json").json]
    return [] if outcomes in (["ok"], ["ok", "ok"], ["ok", "running"]) else [f"the history is {outcomes}"]


def asking(place: Place) -> Job:
    tickets(place)
    return Job(("call", "app", "close", "--arg", "id=1"))


def waiting(place: Place, again: Ran) -> list[str]:
    ids = [entry["id"] for entry in place.helm("confirm", "--list", "-o", "json").json]
    told = [] if again.json["error"]["confirmation"] in ids and len(ids) <= 2 else [f"what waits is {ids}"]
    return told + ([] if example.status(place.workspace / "app.db") == "open" else ["it was sent"])


def once(place: Place, again: Ran) -> list[str]:
    """Once where the second confirmation sent it, and never twice."""
    with closing(sqlite3.connect(place.workspace / "app.db")) as db:
        sent = len(db.execute("SELECT * FROM notes").fetchall())
    envelope = again.json
    if envelope["ok"]:
        return [] if sent == 1 else [f"it was sent {sent} times"]
    refused = envelope["error"]["code"] == "confirmation_required"
    return [] if refused and sent <= 1 else [f"it was sent {sent} times, and then: {envelope}"]


FORMER: Final = "the old text\n"
LATER: Final = "the new text\n"
# What a file is called until it is whole: in helm's home, and beside a shell's completions.
UNFINISHED: Final = re.compile(r"\.new$|\.[0-9a-f]{8}$")
# What is there for as long as a write goes on; and drafts, each of which is a file of its own.
OWN: Final = ("writes/", "drafts/")


def writing(place: Place) -> Job:
    (place.workspace / "a.md").write_text(FORMER)
    assert place.run(place.approve("notes", FILES)).status == 0
    return yes("confirmed", asked_to_write(place, FORMER, LATER))


def asked_to_write(place: Place, old: str, new: str) -> str:
    arguments = {"path": "a.md", "expected_sha256": hashlib.sha256(old.encode()).hexdigest(), "text": new}
    return str(place.helm("call", "ws", "write", "--args", json.dumps(arguments)).json["error"]["confirmation"])


def whole(place: Place, again: Ran) -> list[str]:
    """The old or the new text; and after one more write nothing else is left."""
    text = (place.workspace / "a.md").read_text()
    if text not in (FORMER, LATER):
        return [f"the file is {text!r}"]
    envelope = place.act("confirmed", asked_to_write(place, text, "and more\n"))
    names = sorted(path.name for path in place.workspace.iterdir())
    after = (place.workspace / "a.md").read_text()
    fine = envelope["ok"] and names == ["a.md", "notes"] and after == "and more\n"
    return [] if fine else [f"then it came to {envelope} and {names} and {after!r}"]


def adding_a_project(place: Place) -> Job:
    assert place.run(place.approve("notes", FILES)).status == 0
    (place.workspace / "site").mkdir()
    return Job(("project", "add", "site"))


def a_project(place: Place, again: Ran) -> list[str]:
    listed = [project["id"] for project in place.helm("project", "list", "-o", "json").json]
    return [] if listed == ["site"] else [f"the projects are {listed}"]


def adding_a_draft(place: Place) -> Job:
    marketing(place)
    return Job(("draft", "add", "--plugin", team.ID, "--kind", "blog", "--title", "Version 2"), "It is out.\n")


def drafts(place: Place, again: Ran) -> list[str]:
    states = [draft["state"] for draft in place.helm("draft", "list", "-o", "json").json]
    return [] if states in (["waiting"], ["waiting"] * 2) else [f"the drafts are {states}"]


def approving(place: Place) -> Job:
    return yes("approved", shared(place))


def said(place: Place, again: Ran) -> list[str]:
    names = [path.name for path in (place.root / "drafts").iterdir()]
    left = [name for name in names if not name.endswith(".json")]
    return [] if again.json == "approved" and not left else [f"the draft is {again.json}, in {names}"]


def out_once(place: Place, again: Ran) -> list[str]:
    """Once where the second try sent it; where it did not, it says that somebody has to look."""
    sent = len(place.server.received)
    envelope = again.json
    if envelope["ok"]:
        return [] if sent == 1 else [f"it was published {sent} times"]
    refused = envelope["error"]["code"] == "refused" and "it is not sent again" in envelope["error"]["message"]
    told = ("look whether it went out", "it was published by")
    looked = refused or any(words in envelope["error"]["message"] for words in told)
    return [] if looked and sent <= 1 else [f"it was published {sent} times, and then: {envelope}"]


def renewed(place: Place, again: Ran) -> list[str]:
    """It goes on by itself; only where the renewal was killed as well after it had asked, it may be over."""
    asked = [parse_qs(request.body.decode()) for request in place.server.received if request.target == "/token"]
    # One that was killed while it asked may have sent but the head.
    tokens = [form["refresh_token"] for form in asked if form]
    if again.status == 0:
        # Killed between the two tokens it renews once more, with the new one.
        return [] if sorted(tokens) == [list(one) for one in sorted({*map(tuple, tokens)})] else [f"it sent {tokens}"]
    over = "connect it again with: helm oauth connect cal" in again.json["error"]["message"]
    return [] if over and tokens == [tokens[0]] * 2 else [f"it was renewed with {tokens}, and then: {again}"]


def setting(place: Place) -> Job:
    marketing(place)
    return Job(("plugin", "disable", team.ID))


def forgetting(place: Place) -> Job:
    marketing(place)
    return Job(("plugin", "forget", team.ID))


EXPORTED: Final = "".join(
    f'[db.{name}]\nengine = "postgres"\nhost = "h"\nport = 5432\ndatabase = "d"\nuser = "u"\nsecret = "password"\n'
    for name in ("one", "two")
)


def importing(place: Place) -> Job:
    place.well("db", "add", "one", *POSTGRES, "--password-stdin", stdin=OLD)
    (place.workspace / "helm.toml").write_text(f"version = 1\n{EXPORTED}")
    secrets = json.dumps({"db/one": NEW, "db/two": NEW})
    return Job(("config", "import", "helm.toml", "--all", "--force", "--secrets-stdin"), secrets)


def completing(place: Place) -> Job:
    return Job(("completion", "bash", "--install"))


CASES: Final[dict[str, Case]] = {
    "db add": Case(adding, (0, 15), added),
    "db add --force": Case(replacing),
    "db edit": Case(editing),
    "db remove": Case(removing, (0, 4), stride=1),
    "service add": Case(adding_a_service, stride=5),
    "plugin review, first": Case(reviewing, check=approved, stride=11),
    "plugin review, again": Case(reviewing_again, check=approved, stride=5),
    "plugin disable": Case(setting, stride=1),
    "plugin forget": Case(forgetting, (0, 3, 4)),
    "config import": Case(importing, stride=5),
    "completion --install": Case(completing, stride=1),
    "call, a read": Case(reading, check=in_history, stride=5),
    "call, a write": Case(asking, (7,), waiting, stride=7),
    "confirm": Case(confirming, check=once, stride=6),
    "files write": Case(writing, check=whole, stride=11),
    "files write, everybody": Case(writing, check=whole, stride=13, everybody=True),
    "project add": Case(adding_a_project, (0, 2), check=a_project, stride=1),
    "a renewal": Case(renewing, check=renewed, script=rotating, stride=17),
    "a renewal, everybody": Case(
        renewing, (0, ENDED), renewed, stride=17, everybody=True, script=rotating, lasting=lambda again: False
    ),
    "draft add": Case(adding_a_draft, check=drafts, lasting=lambda again: False),
    "draft approve": Case(approving, check=said, stride=1),
    "draft publish": Case(publishing, check=out_once, stride=29, lasting=lambda again: bool(again.json["ok"])),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_old_or_the_new_and_the_next_run_mends_it(here: Place, name: str) -> None:
    case = CASES[name]
    job = case.prepare(here)
    before = here.found() if here.home.exists() else {}
    here.keep()
    put_back(here, case)
    counted = here.run(job, 0)
    after = here.found()
    at_last = after, here.rows()
    assert counted.calls > 5, counted
    stride = 1 if LONG else case.stride
    told = []
    for step in range(1, counted.calls + 1, stride):
        put_back(here, case)
        killed = here.run(job, step, everybody=case.everybody, real=LONG)
        assert killed.status == (-9 if killed.at else counted.status), killed
        wrong = _wrong(here, before, after) + here.faults(OLD, NEW)
        again = here.run(job)
        if again.status not in case.again:
            wrong.append(f"once more it came to {again}")
        wrong += case.check(here, again) + here.faults(OLD, NEW)
        if case.lasting(again) and (left := (here.found(), here.rows())) != at_last:
            wrong.append(f"at last there is {left}, not {at_last}")
        told += [f"{step} ({killed.at}): {one}" for one in wrong]
    assert told == []


def put_back(place: Place, case: Case) -> None:
    place.put_back()
    place.server.script = case.script()
    place.server.received.clear()


def _wrong(place: Place, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Files that are neither as they were nor as they are to be."""
    found = place.found() if place.home.exists() else {}
    allowed = {name: [side[name] for side in (before, after) if name in side] for name in {*before, *after}}
    told = [
        f"{name} is {said!r}"
        for name, said in found.items()
        if said not in allowed.get(name, []) and not name.startswith(OWN) and not UNFINISHED.search(name)
    ]
    return told + [f"{name} is gone" for name in before if name in after and name not in found]
