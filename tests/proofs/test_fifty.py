"""Fifty processes at one moment on each store: nothing is lost, nothing is won twice, and no limit is passed.

They are forks of a loaded program, which begin more at one moment than programs can that start first;
HELM_TEST_LONG=1 starts Python fifty times.
"""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

import pytest

from helm_cli.store import profiles
from tests import example
from tests.rig import team
from tests.rig.files import sha256
from tests.rig.place import Place, yes
from tests.rig.scenes import FILES, confirming, marketing, publishing, renewing, rotating, shared, tickets
from tests.rig.stepped import Job, Ran

LONG: Final = os.environ.get("HELM_TEST_LONG") == "1"
FIFTY: Final = range(50)
OLD: Final = "old\n"


def statuses(ran: list[Ran]) -> list[int]:
    assert not [one for one in ran if "Traceback" in one.err]
    return sorted(one.status for one in ran)


def adding(name: str, number: int) -> Job:
    where = (
        "--engine",
        "postgres",
        "--host",
        "127.0.0.1",
        "--port",
        "1",
        "--database",
        "d",
        "--user",
        f"user-{number}",
    )
    return Job(("db", "add", name, *where, "--password-stdin"), f"password-{number}")


def secrets(here: Place) -> dict[str, str]:
    return {name.split()[1]: said for name, said in here.found().items() if name.startswith("credentials.json ")}


def test_fifty_profiles_and_their_secrets_in_a_home_that_none_of_them_found(here: Place) -> None:
    here.home.rmdir()
    assert statuses(here.together([adding(f"p{number}", number) for number in FIFTY], real=LONG)) == [0] * 50
    assert {name: profiles.load(here.home, "db", name).user for name in profiles.names(here.home, "db")} == {
        f"p{number}": f"user-{number}" for number in FIFTY
    }
    assert secrets(here) == {f"db/p{number}/password": f"password-{number}" for number in FIFTY}
    assert here.faults(*(f"password-{number}" for number in FIFTY)) == []
    # Each is one that its own password is bound to: none was made for another home.
    assert here.rows()["targets"] == 50


def test_of_fifty_adds_of_one_name_one_wins_and_its_own_secret_is_kept(here: Place) -> None:
    ran = here.together([adding("p", number) for number in FIFTY], real=LONG)
    assert statuses(ran) == [0] + [15] * 49
    (winner,) = (number for number, one in enumerate(ran) if one.status == 0)
    assert profiles.load(here.home, "db", "p").user == f"user-{winner}"
    assert secrets(here) == {"db/p/password": f"password-{winner}"}
    assert {one.err for one in ran if one.status} == {
        "helm: the db profile p exists; change it with edit or replace it with --force\n"
    }


@pytest.mark.contract("C119")
def test_of_seventy_calls_sixty_are_made_and_all_are_in_the_history(here: Place) -> None:
    tickets(here)
    call = Job(("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1"))
    ran = here.together([call] * 70, real=LONG)
    assert statuses(ran) == [0] * 60 + [8] * 10
    assert all(1 <= one.json["error"]["retry_after"] <= 60 for one in ran if one.status == 8)
    told = [entry["outcome"] for entry in here.well("history", "-o", "json", "--limit", "100").json]
    assert sorted(told) == ["ok"] * 60 + ["rate_limited"] * 10


@pytest.mark.contract("C109")
def test_of_fifty_that_confirm_one_write_one_sends_it(here: Place) -> None:
    answers = [one.json for one in here.together([confirming(here)] * 50)]
    sent = [answer["data"] for answer in answers if answer["ok"]]
    codes = {answer["error"]["code"] for answer in answers if not answer["ok"]}
    assert (sent, codes) == ([{"rowsAffected": 1}], {"confirmation_required"})
    with closing(sqlite3.connect(here.workspace / "app.db")) as db:
        assert db.execute("SELECT text FROM notes").fetchall() == [("once",)]


def test_of_fifty_writes_twenty_wait_and_each_has_an_id_of_its_own(here: Place) -> None:
    tickets(here)
    ran = here.together([Job(("call", "app", "close", "--arg", "id=1"))] * 50, real=LONG)
    assert statuses(ran) == [3] * 30 + [7] * 20
    waiting = {entry["id"] for entry in here.well("confirm", "--list", "-o", "json").json}
    assert len(waiting) == 20
    assert {one.json["error"]["confirmation"] for one in ran if one.status == 7} == waiting


def test_fifty_extensions_are_approved_and_one_of_them_fifty_times_is_one(here: Place) -> None:
    example.database(here.workspace / "app.db")
    jobs = [_approving(here.workspace, f"e{number}") for number in FIFTY]
    assert statuses(here.together([*jobs, *jobs[:1] * 10], real=LONG)) == [0] * 60
    listed = here.well("plugin", "list", "-o", "json").json
    assert sorted(entry["id"] for entry in listed) == sorted(f"e{number}" for number in FIFTY)
    assert here.rows()["approvals"] == 50


def _approving(workspace: Path, id_: str) -> Job:
    """As a pipeline computes what it pins (design, section 6)."""
    (workspace / id_).mkdir()
    manifest = json.dumps({**example.MANIFEST, "id": id_}).encode()
    (workspace / id_ / "manifest.json").write_bytes(manifest)
    digest = sha256(f"{sha256(manifest)}  manifest.json\n".encode())
    return Job(("plugin", "review", id_, "--approve", f"sha256:{digest}"))


def test_fifty_projects(here: Place) -> None:
    assert here.run(here.approve("notes", FILES)).status == 0
    for number in FIFTY:
        (here.workspace / f"site-{number}").mkdir()
    jobs = [Job(("project", "add", f"site-{number}")) for number in FIFTY]
    assert statuses(here.together(jobs, real=LONG)) == [0] * 50
    listed = here.well("project", "list", "-o", "json").json
    assert sorted(entry["id"] for entry in listed) == sorted(f"site-{number}" for number in FIFTY)


def test_what_fifty_hosts_report_adds_up(here: Place) -> None:
    marketing(here)
    jobs = [Job(("plugin", "usage", team.ID, "--add", str(number + 1))) for number in FIFTY]
    assert statuses(here.together(jobs, real=LONG)) == [0] * 50
    assert here.well("plugin", "usage", team.ID, "-o", "json").json["used"] == sum(range(1, 51))


def test_fifty_people_approve_one_draft_and_each_of_them_counts(here: Place) -> None:
    id_ = shared(here)
    users = [str(uid) for uid in range(3000, 3050)]
    assert [one.json for one in here.together([yes("approved", id_, user) for user in users])] == ["approved"] * 50
    shown = here.well("draft", "show", id_, "-o", "json").json
    assert sorted(one["uid"] for one in shown["decisions"]) == [int(user) for user in users]


def test_of_fifty_that_publish_one_draft_one_does(here: Place) -> None:
    answers = [one.json for one in here.together([publishing(here)] * 50)]
    assert sorted(answer["ok"] for answer in answers) == [False] * 49 + [True]
    assert {answer["error"]["code"] for answer in answers if not answer["ok"]} == {"refused"}
    assert len(here.server.received) == 1


@pytest.mark.contract("C63")
def test_fifty_calls_renew_one_sign_in_once(here: Place) -> None:
    call = renewing(here)
    here.server.script = rotating()
    assert statuses(here.together([call] * 50, real=LONG)) == [0] * 50
    asked = [request for request in here.server.received if request.target == "/token"]
    assert [parse_qs(request.body.decode())["refresh_token"] for request in asked] == [["the-old-secret-refresh"]]
    assert {*(one.header("Authorization")[0] for one in here.server.received if one.target != "/token")} == {
        "Bearer the-new-secret-access-2"
    }


def test_fifty_that_write_one_file_lose_no_text(here: Place) -> None:
    """Each writes over what it read, so that of all of them one can; what it wrote stands there whole."""
    file = here.workspace / "a.md"
    file.write_text(OLD)
    assert here.run(here.approve("notes", FILES)).status == 0
    ids = [_asked_to_write(here, f"{number}\n" * 1000) for number in range(20)]
    answers = [one.json for one in here.together([yes("confirmed", id_) for id_ in ids])]
    (written,) = (number for number, answer in enumerate(answers) if answer["ok"])
    assert {answer["error"]["code"] for answer in answers if not answer["ok"]} == {"conflict"}
    assert file.read_text() == f"{written}\n" * 1000
    assert sorted(path.name for path in here.workspace.iterdir()) == ["a.md", "notes"]


def _asked_to_write(here: Place, text: str) -> str:
    arguments = {"path": "a.md", "expected_sha256": sha256(OLD.encode()), "text": text}
    return str(here.helm("call", "ws", "write", "--args", json.dumps(arguments)).json["error"]["confirmation"])
