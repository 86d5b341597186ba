"""`helm plugin` as it is used: by a person at a terminal, by a CI job in a fresh home, by a program in a person's."""

import copy
import json
import os
import re
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from helm_cli import dialects
from helm_cli.broker.stores import Stores
from helm_cli.store import person
from tests.broker.folders import FIVE_KINDS, manifest, write
from tests.example import database
from tests.program import Finished, Helm
from tests.rig.terminal import CTRL_C, DOWN, ENTER, ESC, Terminal, at_terminal

HELM = (sys.executable, "-m", "helm_cli")
ASKED = "Any other key cancels"
# Longer than the pause that the dialog wants between Down and Enter.
YES = (DOWN, 0.3, ENTER)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with the extension `tickets` in a folder of that name."""
    workspace = tmp_path / "workspace"
    write(workspace / "tickets", manifest())
    monkeypatch.chdir(workspace)
    return workspace


@pytest.fixture
def persons(home: Path) -> None:
    """The home is one in which a person once answered a question."""
    stores = Stores(home)
    person.mark(stores.db)
    stores.close()


def digest_of(helm: Helm, folder: str = "tickets") -> str:
    return str(helm("plugin", "review", folder, "-o", "json").json["digest"])


def pin(helm: Helm, folder: str = "tickets") -> str:
    digest = digest_of(helm, folder)
    done = helm("plugin", "review", folder, "--approve", digest)
    assert done.status == 0, done
    return digest


def terminal(*words: str) -> AbstractContextManager[Terminal]:
    return at_terminal(*HELM, *words, size=(100, 40))


def listed(helm: Helm, *words: str) -> Any:
    return helm("plugin", "list", *words, "-o", "json").json


# --- review


@pytest.mark.contract("C7", "C8", "C9")
def test_a_review_without_a_person_prints_the_page_and_ends_with_17(helm: Helm, here: Path) -> None:
    write(here / "everything", FIVE_KINDS)
    done = helm("plugin", "review", "everything")
    assert (done.status, done.err) == (
        17,
        "helm: everything is not approved as it stands; review it in a terminal, or pin it with --approve\n",
    )
    assert f"  workspace {here} (the current folder)\n" in done.out
    assert (
        "\nWarnings\n"
        "  ! app: the profile local-app is missing; add it with helm db add local-app --engine sqlite --path FILE\n"
        "  ! cal: the profile calendar is missing; add it with"
        " helm service add calendar --base-url URL --oauth2 --client-id ID\n"
        "  ! gh: the profile github is missing; add it with"
        " helm mcp add github -- COMMAND, or with helm mcp add github --url URL\n"
        "  ! gh: Helm cannot know which tools of a server write data."
    ) in done.out
    assert (
        "\nWrites: 3; each is shown and confirmed by a person before it is sent\n"
        "\n  app: db (sqlite), profile local-app\n    WRITE app close(id)\n"
    ) in done.out
    assert "      OAuth2 scopes calendar.read profile\n" in done.out
    assert listed(helm) == []


def test_check_says_whether_it_stands(helm: Helm, here: Path) -> None:
    check = ("plugin", "review", "tickets", "--check")
    assert helm(*check).status == 17
    pin(helm)
    done = helm(*check)
    told = "helm: tickets is approved as it stands; nothing to do\n"
    assert (done.status, done.err) == (0, told)
    done = helm("plugin", "review", "tickets")
    assert (done.status, done.err) == (0, told)
    assert helm(*check, "-q") == Finished(0, "", "")
    assert helm("plugin", "disable", "tickets").status == 0
    assert helm(*check).status == 17
    quiet = helm(*check, "-q")
    assert (quiet.status, quiet.out, quiet.err.count("\n")) == (17, "", 1)
    assert helm(*check, "-q", "-o", "json").json["status"] == "approved"
    assert helm("plugin", "enable", "tickets").status == 0
    assert helm(*check).status == 0
    (here / "tickets" / "new.txt").write_text("")
    assert helm(*check).status == 17
    (here / "tickets" / "manifest.json").write_text("{}")
    assert helm(*check).status == 16
    assert helm(*check, "--approve", "sha256:" + "0" * 64).status == 2


def test_check_does_not_ask_a_person_either(helm: Helm, here: Path) -> None:
    with terminal("plugin", "review", "tickets", "--check") as screen:
        assert screen.status() == 17
        assert ASKED not in "\n".join(screen.screen())


def test_every_fault_is_printed_at_once(helm: Helm, here: Path) -> None:
    declared = copy.deepcopy(FIVE_KINDS)
    del declared["permissions"]
    declared["connections"][0]["kind"] = "ftp"
    write(here / "bad", declared)
    for command in (("plugin", "review", "bad"), ("plugin", "validate", "bad")):
        done = helm(*command)
        assert done.status == 16
        lines = done.out.splitlines()
        assert len(lines) > 2 and all(line.startswith("bad/manifest.json:") for line in lines)
        assert done.err == f"helm: {here / 'bad'} holds no valid extension: {len(lines)} faults\n"
        told = helm(*command, "-o", "json")
        assert (told.status, list(told.json), told.json["warnings"]) == (16, ["errors", "warnings"], [])
        assert [
            f"bad/{fault['file']}:{fault['line']}:{fault['column']}: {fault['message']}"
            for fault in told.json["errors"]
        ] == lines
        assert {name for fault in told.json["errors"] for name in fault} == {
            "file",
            "line",
            "column",
            "path",
            "message",
        }


def test_the_manifest_can_be_named_itself(helm: Helm, here: Path) -> None:
    folder, file = (helm("plugin", "review", path, "-o", "json") for path in ("tickets", "tickets/manifest.json"))
    assert (folder.status, file.status, folder.json) == (17, 17, file.json)
    assert helm("plugin", "validate", "manifest.json", cwd=here / "tickets").status == 0
    (here / "tickets" / "manifest.json").write_text("{}")
    for path, lead in (("tickets/manifest.json", "tickets/"), (str(here / "tickets"), f"{here}/tickets/")):
        done = helm("plugin", "validate", path)
        assert done.status == 16 and done.out.startswith(f"{lead}manifest.json:1:1: ")
    assert helm("plugin", "review", "manifest.json", cwd=here / "tickets").out.startswith("manifest.json:1:1: ")


def test_a_validation_warns(helm: Helm, here: Path, home: Path) -> None:
    declared = manifest()
    declared["connections"][0]["queries"]["recent"]["sql"] = "DELETE FROM tickets"
    write(here / "tickets", declared)
    message = "this SQL looks like a write and is declared as a read: the database will refuse it"
    done = helm("plugin", "validate", "tickets")
    assert (done.status, done.out) == (0, "")
    warned, valid = done.err.splitlines()
    above, _, _ = (here / "tickets/manifest.json").read_text().partition('"recent"')
    line, column = above.count("\n") + 1, len(above.rpartition("\n")[2]) + 1
    place = f"tickets/manifest.json:{line}:{column}"
    assert warned == f"helm: warning: {place}: app recent: {message}" and valid.startswith("helm: tickets is valid; ")
    done = helm("plugin", "validate", "tickets", "-o", "json")
    where = {"file": "manifest.json", "line": line, "column": column}
    warning = {"connection": "app", "operation": "recent", "message": message, **where}
    assert (done.status, done.json, done.err) == (0, {"errors": [], "warnings": [warning]}, "")
    assert not home.exists()


def test_what_is_no_folder_is_a_usage_error(helm: Helm, here: Path) -> None:
    done = helm("plugin", "review", "absent")
    assert (done.status, done.out) == (2, "")
    assert done.err == "helm: absent is not a folder; name the folder that holds the manifest\n"


def test_the_enclosing_git_work_tree_is_the_workspace_of_a_review(helm: Helm, here: Path) -> None:
    (here / ".git").mkdir()
    inner = here / "a" / "b"
    inner.mkdir(parents=True)
    done = helm("plugin", "review", "../../tickets", "-o", "json", cwd=inner)
    assert (done.json["workspace"], done.json["folder"]) == (str(here), str(here / "tickets"))


# --- approving by a pin


def test_a_pin_approves_in_a_fresh_home(helm: Helm, here: Path) -> None:
    digest = digest_of(helm)
    told = f"helm: tickets is approved and enabled for the workspace {here}\n"
    done = helm("plugin", "review", "tickets", "--approve", digest)
    assert (done.status, done.err) == (0, told)
    assert f"  digest    {digest}\n" in done.out
    again = helm("plugin", "review", "tickets", "--approve", digest, "-o", "json")
    assert (again.status, again.err) == (0, told)
    assert {name: again.json[name] for name in ("status", "enabled", "approved", "error")} == {
        "status": "approved",
        "enabled": True,
        "approved": {"folder": str(here / "tickets"), "digest": digest},
        "error": None,
    }
    [found] = listed(helm)
    assert (found["id"], found["state"], found["approved_by"]) == ("tickets", "enabled", "pin")


@pytest.mark.parametrize("digest", ["nodigest", "sha256:0", "sha256:" + "F" * 64, "0" * 64, "sha256:" + "0" * 65, ""])
def test_what_can_be_no_digest_is_a_usage_error(helm: Helm, here: Path, digest: str) -> None:
    done = helm("plugin", "review", "tickets", "--approve", digest)
    told = "helm: --approve takes the digest that a review shows: sha256: and 64 hexadecimal digits\n"
    assert (done.status, done.out, done.err) == (2, "", told)


def test_a_pin_of_another_digest_ends_with_17(helm: Helm, here: Path) -> None:
    wrong = "sha256:" + "0" * 64
    done = helm("plugin", "review", "tickets", "--approve", wrong, "-o", "json")
    message = f"the digest of tickets is {done.json['digest']}, not {wrong}; review it again"
    assert (done.status, done.err) == (17, f"helm: {message}\n")
    assert (done.json["status"], done.json["error"]) == ("new", {"code": "not_approved", "message": message})
    assert listed(helm) == []


@pytest.mark.usefixtures("persons")
def test_in_a_persons_home_a_pin_waits_for_helm_confirm(helm: Helm, here: Path) -> None:
    digest = digest_of(helm)
    done = helm("plugin", "review", "tickets", "--approve", digest, "-o", "json")
    assert (done.status, done.json["status"], done.json["error"]["code"]) == (7, "new", "confirmation_required")
    waits = done.json["error"]["confirmation"]
    assert f"helm confirm {waits}" in done.err
    [entry] = helm("confirm", "--list", "-o", "json").json
    assert (entry["id"], entry["what"], entry["extension"]) == (waits, "approval", "tickets")
    assert listed(helm) == []
    with terminal("confirm", waits) as screen:
        screen.wait_for(ASKED)
        shown = "\n".join(screen.screen())
        assert "Approve extension" in shown and digest in shown and "SELECT id FROM tickets" in shown
        screen.send(*YES)
        assert screen.status() == 0
    [found] = listed(helm)
    assert (found["digest"], found["approved_by"]) == (digest, "person")
    assert helm("confirm", "--list", "-o", "json").json == []


@pytest.mark.usefixtures("persons")
def test_a_declined_pending_approval_is_used_up(helm: Helm, here: Path) -> None:
    done = helm("plugin", "review", "tickets", "--approve", digest_of(helm), "-o", "json")
    with terminal("confirm", done.json["error"]["confirmation"]) as screen:
        screen.wait_for(ASKED)
        screen.send(ENTER)
        assert screen.status() == 6
    assert (listed(helm), helm("confirm", "--list", "-o", "json").json) == ([], [])


# --- approving by a person


def test_a_person_approves_with_down_and_enter(helm: Helm, here: Path) -> None:
    with terminal("plugin", "review", "tickets") as screen:
        screen.wait_for(ASKED)
        shown = "\n".join(screen.screen())
        assert "Approve extension" in shown and "> Cancel" in shown and "app recent" in shown
        screen.send(*YES)
        assert screen.status() == 0
        assert "is approved and enabled" in " ".join(screen.screen())
    [found] = listed(helm)
    assert (found["state"], found["approved_by"]) == ("enabled", "person")
    # From now on nothing is approved here without a person.
    (here / "tickets" / "more.txt").write_text("")
    assert helm("plugin", "review", "tickets", "--approve", digest_of(helm)).status == 7


def test_a_long_page_is_read_first_and_summed_up(helm: Helm, here: Path) -> None:
    queries: dict[str, Any] = {f"q{number}": {"sql": f"SELECT {number}", "params": []} for number in range(16)}
    queries["close"] = {"sql": "DELETE FROM t WHERE id = ?", "params": ["id"], "write": True}
    declared = manifest(permissions={"write": True})
    declared["connections"][0]["queries"] = queries
    write(here / "tickets", declared)
    digest = digest_of(helm)
    with terminal("plugin", "review", "tickets") as screen:
        screen.wait_for("q: cancel")
        assert screen.screen()[0] == "Approve extension tickets"
        assert screen.screen()[1].startswith("  status")
        screen.send(b" ")
        screen.wait_for("Enter: answer")
        screen.send(ENTER)
        screen.wait_for(ASKED)
        # A long path takes a line more.
        shown = [re.sub("[0-9]+ lines,", "N lines,", line) for line in screen.screen() if line]
        assert shown[-10:] == [
            "Approve extension tickets",
            "  extension  tickets",
            "  writes     1; each is confirmed before it is sent",
            "  reads      16; they run without asking",
            "  warnings   1",
            f"  digest     {digest[:19]}…",
            "  … N lines, all shown before this question",
            "> Cancel",
            "  Approve",
            "Down, then Enter: Approve. Any other key cancels.",
        ]
        screen.send(*YES)
        assert screen.status() == 0
    assert listed(helm)[0]["digest"] == digest


def test_keys_that_come_too_fast_approve_nothing_and_are_called_that(helm: Helm, here: Path) -> None:
    with terminal("plugin", "review", "tickets") as screen:
        screen.wait_for(ASKED)
        screen.send(DOWN + ENTER)
        assert screen.status() == 6
        told = "helm: Enter came too soon after Down to be a decision, so nothing changed for tickets; ask again"
        assert told in "\n".join(screen.screen())
    assert listed(helm) == []


@pytest.mark.parametrize("keys", [(ENTER,), (ESC,), (CTRL_C,), (b"y",), (b"yes\r",), (DOWN + ENTER,)])
def test_every_other_key_declines(helm: Helm, here: Path, keys: tuple[bytes, ...]) -> None:
    with terminal("plugin", "review", "tickets") as screen:
        screen.wait_for(ASKED)
        screen.send(*keys)
        assert screen.status() == 6
    assert listed(helm) == []


def test_a_no_of_a_person_counts_as_an_answer(helm: Helm, here: Path) -> None:
    with terminal("plugin", "review", "tickets") as screen:
        screen.wait_for(ASKED)
        screen.send(ESC)
        assert screen.status() == 6
    assert helm("plugin", "review", "tickets", "--approve", digest_of(helm)).status == 7


def test_a_pipe_cannot_answer(helm: Helm, here: Path) -> None:
    with at_terminal(*HELM, "plugin", "review", "tickets", stdin=b"yes\n" * 1000, size=(100, 40)) as screen:
        screen.wait_for(ASKED)
        screen.send(ENTER)
        assert screen.status() == 6
    assert listed(helm) == []


def test_a_folder_that_changes_while_the_person_reads_is_not_approved(helm: Helm, here: Path) -> None:
    with terminal("plugin", "review", "tickets") as screen:
        screen.wait_for(ASKED)
        (here / "tickets" / "more.txt").write_text("")
        screen.send(*YES)
        assert screen.status() == 17
    assert listed(helm) == []


# --- what an approval is for


@pytest.mark.contract("C6")
def test_changed_sql_is_refused_until_it_is_approved(helm: Helm, here: Path) -> None:
    database(here / "app.db")
    assert helm("db", "add", "local-app", "--engine", "sqlite", "--path", "app.db").status == 0
    pin(helm)
    assert helm("call", "app", "recent", "-o", "json").json["data"]["columns"] == ["id"]
    file = here / "tickets" / "manifest.json"
    file.write_text(file.read_text().replace("SELECT id", "SELECT title"))
    refused = helm("call", "app", "recent", "-o", "json")
    assert (refused.status, refused.json["error"]["code"]) == (3, "refused")
    done = helm("plugin", "review", "tickets")
    assert done.status == 17
    assert (
        "\nChanged since it was approved\n"
        "  changed       app recent: its SQL changed\n"
        "      - SELECT id FROM tickets\n"
        "      + SELECT title FROM tickets\n"
        "  file changed  manifest.json\n"
    ) in done.out
    pin(helm)
    assert helm("call", "app", "recent", "-o", "json").json["data"]["columns"] == ["title"]


@pytest.mark.contract("C68")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("calendar.read", "calendar.write"),
        ("https://auth.example.com/token", "https://auth.example.com/tokens"),
        ("https://auth.example.com/authorize", "https://auth.example.org/authorize"),
    ],
)
def test_changed_urls_and_scopes_are_refused_until_they_are_approved(
    helm: Helm, here: Path, old: str, new: str
) -> None:
    folder = write(here / "everything", FIVE_KINDS)
    pin(helm, "everything")
    file = folder / "manifest.json"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    refused = helm("call", "cal", "events", "--arg", "calendar=x", "-o", "json")
    assert (refused.status, refused.json["error"]["code"]) == (3, "refused")
    assert "everything changed since it was approved" in refused.err
    assert "\n  widened       cal: " in helm("plugin", "review", "everything").out


def test_a_second_folder_of_the_same_id_shows_both_and_replaces_the_first(helm: Helm, here: Path) -> None:
    pin(helm)
    write(here / "other", manifest(version="2"))
    done = helm("plugin", "review", "other")
    assert f"  folder    {here / 'other'}\n  replaces  {here / 'tickets'}\n" in done.out
    pin(helm, "other")
    assert [found["folder"] for found in listed(helm)] == [str(here / "other")]


# --- the other commands


def test_list_and_show(helm: Helm, here: Path, tmp_path: Path) -> None:
    digest = pin(helm)
    [found] = listed(helm)
    assert {**found, "approved_at": None} == {
        "id": "tickets",
        "state": "enabled",
        "enabled": True,
        "folder": str(here / "tickets"),
        "digest": digest,
        "workspace": str(here),
        "approved_at": None,
        "approved_by": "pin",
    }
    assert helm("plugin", "list").out == f"tickets\tenabled\t{here / 'tickets'}\t{digest}\n"
    page = helm("plugin", "show", "tickets")
    assert (page.status, page.err) == (0, "") and "  status    approved and enabled\n" in page.out
    (here / "tickets" / "manifest.json").unlink()
    assert listed(helm)[0]["state"] == "changed"
    gone = helm("plugin", "show", "tickets", "-o", "json")
    assert (gone.status, gone.json["digest"], gone.json["connections"][0]["id"]) == (0, digest, "app")
    assert gone.json["status"] == "changed"
    assert gone.err == "helm: the folder of tickets changed since; calls are refused until it is reviewed again\n"
    told = "approved and enabled; its folder changed since, so calls are refused until it is reviewed again"
    assert f"  status    {told}\n" in helm("plugin", "show", "tickets").out
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert helm("plugin", "list", "-o", "json", cwd=elsewhere).json == []
    assert [found["workspace"] for found in helm("plugin", "list", "--all", "-o", "json", cwd=elsewhere).json] == [
        str(here)
    ]
    absent = helm("plugin", "show", "tickets", cwd=elsewhere)
    assert absent.status == 3 and f"only for {here}" in absent.err


def test_forget_takes_the_approval_and_leaves_the_folder(helm: Helm, here: Path) -> None:
    pin(helm)
    assert helm("plugin", "forget", "tickets").status == 0
    assert (listed(helm), (here / "tickets" / "manifest.json").exists()) == ([], True)
    for command in ("forget", "enable", "disable", "show"):
        done = helm("plugin", command, "tickets")
        assert (done.status, done.out) == (3, "")


@pytest.mark.usefixtures("persons")
def test_enabling_needs_a_person(helm: Helm, here: Path) -> None:
    with terminal("plugin", "review", "tickets") as screen:
        screen.wait_for(ASKED)
        screen.send(*YES)
        assert screen.status() == 0
    assert helm("plugin", "disable", "tickets").status == 0
    assert helm("plugin", "enable", "tickets").status == 7
    for keys, status, state in (((ENTER,), 6, "disabled"), (YES, 0, "enabled")):
        with terminal("plugin", "enable", "tickets") as screen:
            screen.wait_for(ASKED)
            assert "Enable extension" in "\n".join(screen.screen())
            screen.send(*keys)
            assert screen.status() == status
        assert listed(helm)[0]["state"] == state
    assert helm("plugin", "enable", "tickets").status == 0


def test_a_new_extension_is_valid(helm: Helm, here: Path) -> None:
    done = helm("plugin", "new", "My Tickets!")
    assert (done.status, done.out) == (0, "")
    files = sorted(os.listdir(here / "My Tickets!"))
    assert (files, (here / "My Tickets!" / ".gitattributes").read_text()) == (
        [".gitattributes", "README.md", "manifest.json"],
        "* -text\n",
    )
    valid = helm("plugin", "validate", "My Tickets!", "-o", "json")
    assert (valid.status, valid.json) == (0, {"errors": [], "warnings": []})
    told = helm("plugin", "validate", "My Tickets!")
    assert (told.status, told.out) == (0, "")
    assert told.err == f"helm: my-tickets is valid; its digest is {digest_of(helm, 'My Tickets!')}\n"


def test_new_leaves_what_is_there_alone(helm: Helm, here: Path) -> None:
    before = (here / "tickets" / "manifest.json").read_bytes()
    assert helm("plugin", "new", "tickets").status == 2
    assert helm("plugin", "new", "tickets/manifest.json").status == 2
    assert helm("plugin", "new", "---").status == 2
    assert helm("plugin", "new", "fine", "--id", "Not Fine").status == 2
    assert not (here / "fine").exists()
    assert helm("plugin", "new", "fine/and/deep", "--id", "fine").status == 0
    assert json.loads((here / "fine" / "and" / "deep" / "manifest.json").read_text())["id"] == "fine"
    assert sorted(os.listdir(here / "tickets")) == ["manifest.json"]
    assert (here / "tickets" / "manifest.json").read_bytes() == before


def test_schema_and_reference_are_the_packages(helm: Helm, here: Path, home: Path) -> None:
    schema = helm("plugin", "schema")
    assert (schema.status, schema.json) == (0, json.loads(dialects.schema_text()))
    reference = helm("plugin", "reference")
    assert (reference.status, reference.out.rstrip("\n")) == (0, dialects.reference("manifest.json").rstrip("\n"))
    assert helm("plugin", "validate", "tickets").status == 0
    assert not home.exists()


def test_an_unknown_format_is_a_usage_error(helm: Helm, here: Path) -> None:
    for command in (("review", "tickets"), ("validate", "tickets"), ("list",), ("show", "tickets")):
        assert helm("plugin", *command, "-o", "yaml").status == 2
