"""`helm draft` as a team uses it: real users, a folder that they share, real terminals, a real service."""

import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.program import Helm, run
from tests.rig import http_server
from tests.rig.http_server import Peer, Received, Server
from tests.rig.team import ASKED, BIN, DAEMON, ID, NOBODY, PLUGIN, ROOT, Team, as_user, confirm, team
from tests.rig.terminal import CTRL_C, DOWN, ENTER, ESC, Terminal

BODY = {"headline": "{title}", "text": "{body}"}
NONE_OF = "and none can come of who asked for it; see helm draft show"
ANSWER = http_server.answering(b'{"id": 7}')


@pytest.fixture(scope="module")
def whole() -> Iterator[Team]:
    with team(ROOT, DAEMON, BIN, NOBODY) as found:
        yield found


@pytest.fixture
def us(whole: Team, monkeypatch: pytest.MonkeyPatch) -> Team:
    """The team, with an empty queue and no lists of approvers."""
    monkeypatch.chdir(whole.workspace)
    for file in whole.drafts.iterdir():
        file.rmdir() if file.is_dir() and not file.is_symlink() else file.unlink()
    return whole


@pytest.fixture(scope="module")
def bound(whole: Team) -> Iterator[Server]:
    """The service that both tools of the plugin are bound to, by root."""
    with http_server.serving(ANSWER) as server:
        assert whole.helm(ROOT, "service", "add", "blog", "--base-url", server.url, "--no-token").status == 0
        for tool, path in (("send_post", "/posts"), ("send_letter", "/letters?list={list}")):
            bind(whole, tool, path, BODY)
        yield server


@pytest.fixture
def blog(us: Team, bound: Server) -> Server:
    """The same, as if nothing had happened yet."""
    bound.script = ANSWER
    bound.received.clear()
    return bound


def bind(us: Team, tool: str, path: str, body: dict[str, str]) -> None:
    words = ("--service", "blog", "--method", "POST", "--path", path, "--body", json.dumps(body))
    status, _ = us.answer(ROOT, "plugin", "bind", ID, tool, *words, "--workspace", str(us.workspace))
    assert status == 0


def state(us: Team, id_: str, uid: int = ROOT) -> str:
    return str(us.show(uid, id_)["state"])


def approve(us: Team, uid: int, id_: str) -> None:
    status, shown = us.answer(uid, "draft", "approve", id_)
    assert (status, f"Approve draft {id_}" in shown) == (0, True)


def read_and_approve(us: Team, uid: int, id_: str) -> None:
    """The same with a draft that is too long for the screen."""
    with us.terminal(uid, "draft", "approve", id_) as screen:
        to_the_end(screen)
        assert any(line.startswith("  digest") for line in screen.screen())
        confirm(screen)
        assert screen.status() == 0


def to_the_end(screen: Terminal) -> None:
    screen.wait_for("Space: go on")
    screen.send(b"G")
    screen.wait_for("Enter: answer")
    screen.send(ENTER)
    screen.wait_for(ASKED)


# --- adding, listing, showing


@pytest.mark.contract("P30")
def test_a_draft_waits_in_the_folder_that_the_team_shares(us: Team) -> None:
    (us.workspace / "post.md").write_text("# Ünï\n\nIt is out.\n")
    words = ("draft", "add", "@post.md", "--plugin", ID, "--kind", "email", "--title", "Ünï", "-o", "json")
    added = us.helm(DAEMON, *words)
    id_ = added.json["id"]
    assert added.err == (f"helm: the draft {id_} waits for review; others approve it with: helm draft approve {id_}\n")
    assert [file.name for file in us.drafts.iterdir()] == [f"{id_}.draft.json"]
    for uid in (ROOT, NOBODY, DAEMON):
        (listed,) = us.helm(uid, "draft", "list", "-o", "json").json
        assert {name: listed[name] for name in listed if name not in ("at", "digest")} == {
            "id": id_,
            "state": "waiting",
            "approvals": "0/1",
            "kind": "email",
            "title": "Ünï",
            "plugin": ID,
            "run": None,
            "asked_by": "daemon",
        }
        assert listed["digest"] == added.json["digest"]
        assert us.show(uid, id_)["body"] == "# Ünï\n\nIt is out.\n"
    assert us.helm(NOBODY, "draft", "list").out.split("\t")[:4] == [id_, "waiting", "0/1", "email"]


def test_a_draft_is_shown_in_full_and_made_safe(us: Team) -> None:
    id_ = us.add(DAEMON, text="one\x1b[2J\n\u202etwo\n", title="Go\u202e")
    done = us.helm(BIN, "draft", "show", id_)
    digest, at = us.show(BIN, id_)["digest"], us.show(BIN, id_)["at"][:19].replace("T", " ")
    assert done.out == (
        f"  draft     {id_}\n"
        "  state     waiting\n"
        f"  plugin    {ID}\n"
        "  kind      blog\n"
        "  asked by  daemon (uid 1)\n"
        f"  asked at  {at} UTC\n"
        f"  digest    {digest}\n"
        "\n"
        "  publish through send_post\n"
        "    needs     1 person besides who asked for it\n"
        "    approved  by nobody yet\n"
        "\n"
        "  publish through send_letter\n"
        "    needs     2 different people of the role editor besides who asked for it\n"
        "    approved  by nobody yet\n"
        "\n"
        "  title\n"
        "    Go\\u{202e}\n"
        "  text\n"
        "    one\\u{1b}[2J\n"
        "    \\u{202e}two\n"
        "    \n"
    )


@pytest.mark.contract("P30")
@pytest.mark.parametrize(
    ("options", "text", "status", "told"),
    [
        (("--kind", "blog"), b"x", 2, "--title is missing; give it, or run this in a terminal to be asked"),
        (("--title", "t"), b"x", 2, "--kind is missing; give it, or run this in a terminal to be asked"),
        (
            ("--kind", "blogs", "--title", "t"),
            b"x",
            3,
            f"{ID} declares no drafts of the kind blogs; did you mean blog?",
        ),
        (
            ("--kind", "image", "--title", "t"),
            b"x",
            3,
            f"{ID} declares no drafts of the kind image; it declares blog, email",
        ),
        (("--kind", "blog", "--title", "a\nb"), b"x", 2, "the title must be one line of text"),
        (("--kind", "blog", "--title", "x" * 241), b"x", 2, "the title must have at most 240 characters"),
        (("--kind", "blog", "--title", "t"), b" \n", 2, "the text of a draft must not be empty"),
        (("--kind", "blog", "--title", "t"), b"\xff", 2, "the text of a draft is not UTF-8"),
        (("--kind", "blog", "--title", "t"), b"x" * 262_145, 2, "the text of a draft must have at most 256 KiB"),
        (
            ("--kind", "blog", "--title", "t", "text"),
            b"",
            2,
            "the text of a draft is given as @FILE, or - for standard input",
        ),
        (("--kind", "blog", "--title", "t", "@absent"), b"", 2, "absent cannot be read: no such file or directory"),
        (
            ("--kind", "blog", "--title", "t", "--run", "abcdefgh"),
            b"x",
            2,
            "say where the draft comes from: --run ID, or --plugin ID",
        ),
    ],
)
def test_what_is_no_draft(us: Team, options: tuple[str, ...], text: bytes, status: int, told: str) -> None:
    done = us.helm(ROOT, "draft", "add", "--plugin", ID, *options, stdin=text)
    assert (done.status, done.out, done.err) == (status, "", f"helm: {told}\n")
    assert list(us.drafts.iterdir()) == []


def test_a_draft_of_the_largest_size_is_added_and_approved(us: Team) -> None:
    text = "é" * 131_072
    id_ = us.add(DAEMON, text=text)
    assert us.show(ROOT, id_)["body"] == text
    read_and_approve(us, BIN, id_)
    assert state(us, id_) == "approved"


def test_a_person_is_asked_for_what_is_missing(us: Team) -> None:
    (us.workspace / "post.md").write_text("It is out.")
    with us.terminal(DAEMON, "draft", "add", "@post.md", "--plugin", ID) as screen:
        screen.wait_for("? Kind")
        screen.wait_for("email")
        screen.send(DOWN, ENTER)
        screen.wait_for("? Title")
        screen.send("Ünï".encode(), ENTER)
        assert screen.status() == 0
    (listed,) = us.helm(ROOT, "draft", "list", "-o", "json").json
    assert (listed["kind"], listed["title"]) == ("email", "Ünï")


def test_a_folder_full_of_rubbish_is_told_of_in_a_few_words(us: Team) -> None:
    for letter in "abcdefgh":
        (us.drafts / f"{letter * 8}.draft.json").write_text("{}")
    done = us.helm(ROOT, "draft", "list")
    assert (done.status, done.out, len(done.err.splitlines())) == (0, "", 6)
    assert done.err.endswith("helm: 3 more files that look like drafts are left out\n")


def test_a_plugin_that_is_not_approved_has_no_drafts(us: Team) -> None:
    done = us.helm(ROOT, "draft", "add", "--plugin", "acme/marketin", "--kind", "blog", "--title", "t", stdin="x")
    assert (done.status, done.err) == (
        3,
        f"helm: acme/marketin is not approved for the workspace {us.workspace} (registered by a review);"
        f" did you mean {ID}?\n",
    )


def test_in_a_home_of_ones_own_drafts_wait_too(helm: Helm, us: Team) -> None:
    own = {"HELM_CLI_HOME": f"{us.folder}/fresh"}
    digest = helm("plugin", "review", "marketing", "-o", "json", env=own).json["digest"]
    assert helm("plugin", "review", "marketing", "--approve", digest, env=own).status == 0
    words = ("draft", "add", "--plugin", ID, "--kind", "blog", "--title", "t")
    assert helm(*words, stdin="x", env=own).status == 0
    assert helm("draft", "list", env=own).out.split("\t")[1] == "waiting"
    assert (us.folder / "fresh" / "drafts").stat().st_mode & 0o777 == 0o700
    assert list(us.drafts.iterdir()) == []


def test_a_draft_that_the_umask_hides_is_told_of(us: Team) -> None:
    words = us.command(DAEMON, "draft", "add", "--plugin", ID, "--kind", "blog", "--title", "t")
    done = run(["sh", "-c", 'umask 077; exec "$@"', "sh", *words], env=us.environment(DAEMON), stdin="x")
    id_ = done.out.strip()
    assert f"helm: the others of your team cannot read {id_}: your umask takes that away; try umask 027\n" in done.err


# --- who approves


def test_two_users_approve_and_the_one_who_asked_never_does(us: Team) -> None:
    id_ = us.add(DAEMON)
    assert us.refused(DAEMON, "draft", "approve", id_) == (
        3,
        f"you asked for the draft {id_}, so somebody else has to approve it",
    )
    approve(us, BIN, id_)
    assert state(us, id_) == "approved"
    approve(us, NOBODY, id_)
    approve(us, NOBODY, id_)
    found = us.show(ROOT, id_)
    assert [(way["via"], way["approved"], way["ready"]) for way in found["publishes"]] == [
        ("send_post", ["bin", "nobody"], True),
        ("send_letter", ["bin", "nobody"], True),
    ]
    assert sorted((one["by"], one["decision"], one["current"]) for one in found["decisions"]) == [
        ("bin", "approve", True),
        ("nobody", "approve", True),
        ("nobody", "approve", True),
    ]


@pytest.mark.contract("P32")
def test_a_list_of_approvers_says_who_may(us: Team) -> None:
    id_ = us.add(DAEMON)
    change = ("plugin", "approvers", ID, "editor")
    status, shown = us.answer(ROOT, *change, "bin", "65534")
    assert status == 0
    assert "now        anyone but who asked" in shown
    assert "then       bin (uid 2), nobody (uid 65534)" in shown
    try:
        approve(us, ROOT, id_)
        approve(us, BIN, id_)
        post, letter = us.show(ROOT, id_)["publishes"]
        assert (post["approved"], post["approvers"], post["ready"]) == (["root", "bin"], None, True)
        assert (letter["approved"], letter["approvers"], letter["ready"]) == (["bin"], ["bin", "nobody"], False)
        assert us.refused(ROOT, "draft", "publish", id_, "--via", "send_letter") == (
            3,
            f"the draft {id_} has 1 of the 2 approvals that it needs of the role editor, {NONE_OF}",
        )
        listed = us.helm(ROOT, "plugin", "approvers", ID, "-o", "json").json
        assert listed == [
            {"via": "send_post", "min": 1, "role": None, "approvers": None},
            {"via": "send_letter", "min": 2, "role": "editor", "approvers": ["bin", "nobody"]},
        ]
    finally:
        assert us.answer(ROOT, *change, "--anyone")[0] == 0
    assert us.helm(ROOT, "plugin", "approvers", ID).out.splitlines() == [
        "send_post\t1\t\tanyone but who asked",
        "send_letter\t2\teditor\tanyone but who asked",
    ]


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("editor", "ada-who-is-nobody"), 2, "this machine has no user ada-who-is-nobody; see getent passwd"),
        (("editor", "99999999999999999999"), 2, "this machine has no user 99999999999999999999; see getent passwd"),
        (("editer", "bin"), 2, f"no approval of {ID} names the role editer; did you mean editor?"),
        (("editor",), 2, "give a ROLE and the users that have it, or a ROLE and --anyone"),
        (("editor", "bin", "--anyone"), 2, "give the users of a role, or --anyone, not both"),
        (("editor", "bin"), 7, "this needs a person at the terminal; run it in one"),
    ],
)
def test_what_changes_no_list_of_approvers(us: Team, words: tuple[str, ...], status: int, told: str) -> None:
    done = us.helm(ROOT, "plugin", "approvers", ID, *words)
    assert (done.status, done.out, done.err) == (status, "", f"helm: {told}\n")


def test_a_decision_needs_a_person_at_the_terminal(us: Team) -> None:
    id_ = us.add(DAEMON)
    for verb, doing in (("approve", "approving"), ("reject", "rejecting"), ("publish", "publishing")):
        done = us.helm(ROOT, "draft", verb, id_)
        told = f"helm: {doing} a draft needs a person at the terminal; run it in one\n"
        assert (done.status, done.err) == (7, told)
    assert [file.name for file in us.drafts.iterdir()] == [f"{id_}.draft.json"]


@pytest.mark.parametrize("keys", [(CTRL_C,), (DOWN, ENTER)])
def test_whoever_does_not_say_yes_says_nothing(us: Team, keys: tuple[bytes, ...]) -> None:
    id_ = us.add(DAEMON)
    assert us.answer(BIN, "draft", "approve", id_, keys=keys)[0] == 6
    assert us.show(ROOT, id_)["decisions"] == []


def test_a_draft_that_is_edited_has_no_approvals_any_more(us: Team) -> None:
    id_ = us.add(DAEMON)
    approve(us, BIN, id_)
    file = us.drafts / f"{id_}.draft.json"
    file.write_bytes(file.read_bytes().replace(b"It is out.", b"Buy this!!"))
    found = us.show(ROOT, id_)
    assert (found["state"], found["body"], [one["current"] for one in found["decisions"]]) == (
        "waiting",
        "Buy this!!\n",
        [False],
    )


def test_what_is_edited_while_it_is_shown_is_not_approved(us: Team) -> None:
    id_ = us.add(DAEMON)
    file = us.drafts / f"{id_}.draft.json"
    with us.terminal(BIN, "draft", "approve", id_) as screen:
        screen.wait_for(ASKED)
        file.write_bytes(file.read_bytes().replace(b"It is out.", b"Buy this!!"))
        confirm(screen)
        assert screen.status() == 3
        assert f"the draft {id_} changed while it was shown; look at it again" in " ".join(screen.screen())
    assert us.show(ROOT, id_)["decisions"] == []


# --- what people who share a folder could try


def forged(us: Team, uid: int, id_: str, digest: str, **changes: Any) -> Path:
    """A decision in the name of another, put into the folder by this user."""
    record = {
        "draft": id_,
        "digest": digest,
        "decision": "approve",
        "at": "2099-01-01T00:00:00.000000+00:00",
        "by": {"uid": ROOT, "name": "root"},
        **changes,
    }
    file = us.drafts / f"{id_}.{os.urandom(8).hex()}.decision.json"
    assert run([*as_user(uid), "sh", "-c", 'cat > "$1"', "sh", str(file)], stdin=json.dumps(record)).status == 0
    return file


def test_an_approval_is_of_the_owner_of_its_file_whatever_it_says(us: Team) -> None:
    id_ = us.add(DAEMON)
    forged(us, DAEMON, id_, us.show(ROOT, id_)["digest"])
    found = us.show(ROOT, id_)
    assert (found["state"], [(one["by"], one["decision"]) for one in found["decisions"]]) == (
        "waiting",
        [("daemon", "approve")],
    )


def test_an_approval_of_another_draft_moved_here_counts_for_nothing(us: Team) -> None:
    mine, other = us.add(DAEMON), us.add(DAEMON, title="Harmless")
    approve(us, BIN, other)
    (approval,) = us.drafts.glob(f"{other}.*.decision.json")
    approval.rename(us.drafts / approval.name.replace(other, mine))
    found = us.show(ROOT, mine)
    assert (found["state"], found["decisions"], len(found["ignored"])) == ("waiting", [], 1)


def test_a_file_of_somebody_that_others_may_write_is_no_approval(us: Team) -> None:
    id_ = us.add(DAEMON)
    digest = us.show(ROOT, id_)["digest"]
    file = us.drafts / f"{id_}.{'0' * 16}.decision.json"
    made = run([*as_user(BIN), "sh", "-c", 'umask 0; : > "$1"', "sh", str(file)])
    assert made.status == 0
    record = {"draft": id_, "digest": digest, "decision": "approve", "at": "2099-01-01T00:00:00.000000+00:00"}
    written = json.dumps({**record, "by": {"uid": BIN, "name": "bin"}})
    # fs.protected_regular keeps others from it by O_CREAT alone.
    script = 'import sys; open(sys.argv[1], "r+").write(sys.stdin.read())'
    assert (
        run([*as_user(DAEMON), "/usr/bin/env", "sh", "-c", 'cat 1<> "$1"', "sh", str(file)], stdin=written).status == 0
    ), script
    assert file.stat().st_uid == BIN and file.read_text() == written
    done = us.helm(ROOT, "draft", "show", id_, "-o", "json")
    assert (done.json["state"], done.json["decisions"]) == ("waiting", [])
    told = f"{file.name} can be written by others than its owner"
    assert (done.json["ignored"], done.err) == ([told], f"helm: {told}, so it counts for nothing\n")


def test_links_pipes_and_folders_are_not_followed_or_waited_for(us: Team) -> None:
    secret = us.home(ROOT) / "secret"
    secret.write_text("hunter2")
    id_ = us.add(BIN)
    sent = [us.add(BIN) for _ in range(3)]
    script = []
    for number, how in enumerate((f"ln -s {secret}", "mkfifo", "mkdir")):
        script += [f"{how} {name}.json" for name in (f"aaaaaaa{'abc'[number]}.draft", f"{sent[number]}.sent")]
        script.append(f"{how} {id_}.{number:016x}.decision.json")
    done = run([*as_user(DAEMON), "sh", "-ec", "\n".join(script)], cwd=us.drafts)
    assert done.status == 0, done
    listed = us.helm(ROOT, "draft", "list", "-o", "json")
    states = {one["id"]: one["state"] for one in listed.json}
    assert states == {id_: "waiting", **dict.fromkeys(sent, "unknown")}
    shown = us.helm(ROOT, "draft", "show", id_, "-o", "json")
    assert (shown.json["decisions"], len(shown.json["ignored"])) == ([], 3)
    assert "hunter2" not in listed.out + listed.err + shown.out + shown.err
    assert [us.helm(ROOT, "draft", "show", f"aaaaaaa{letter}").status for letter in "abc"] == [1, 1, 1]


def test_a_draft_put_here_in_the_name_of_another_is_none(us: Team) -> None:
    id_ = us.add(BIN)
    data = (us.drafts / f"{id_}.draft.json").read_text().replace(id_, "aaaaaaaa")
    file = us.drafts / "aaaaaaaa.draft.json"
    assert run([*as_user(DAEMON), "sh", "-c", 'cat > "$1"', "sh", str(file)], stdin=data).status == 0
    done = us.helm(ROOT, "draft", "list", "-o", "json")
    told = "helm: aaaaaaaa.draft.json belongs to another user than asked for it; it is left out\n"
    assert ([one["id"] for one in done.json], done.err) == ([id_], told)


def test_a_folder_where_anybody_may_take_files_away_is_refused(us: Team) -> None:
    us.drafts.chmod(0o777)
    try:
        done = us.helm(DAEMON, "draft", "list")
    finally:
        us.drafts.chmod(0o1777)
    assert (done.status, done.err) == (
        1,
        f"helm: in {us.drafts} people can take each other's files away; its owner mends that with:"
        f" chmod +t {us.drafts}\n",
    )


def test_nobody_takes_away_what_another_said(us: Team) -> None:
    id_ = us.add(DAEMON)
    assert us.answer(BIN, "draft", "reject", id_)[0] == 0
    (said,) = us.drafts.glob("*.decision.json")
    assert run([*as_user(DAEMON), "rm", "-f", str(said)]).status == 1
    assert run([*as_user(DAEMON), "mv", str(said), f"{us.drafts}/x"]).status == 1
    assert state(us, id_) == "rejected"


# --- publishing


@pytest.mark.contract("P31")
def test_an_approved_draft_goes_out_once(us: Team, blog: Server) -> None:
    text = 'It is "out".\n\nÉ \x07\n' + "x" * 10_000
    id_ = us.add(DAEMON, text=text)
    assert us.refused(ROOT, "draft", "publish", id_) == (
        2,
        f"{ID} publishes in 2 ways; say which with --via: send_post, send_letter",
    )
    publish = ("draft", "publish", id_, "--via", "send_post")
    assert us.refused(ROOT, *publish) == (
        3,
        f"the draft {id_} has 0 of the 1 approvals that it needs, {NONE_OF}",
    )
    read_and_approve(us, BIN, id_)
    assert blog.received == []
    with us.terminal(ROOT, *publish, size=(120, 24)) as screen:
        to_the_end(screen)
        confirm(screen)
        assert screen.status() == 0
    (sent,) = blog.received
    assert (sent.method, sent.target, json.loads(sent.body)) == (
        "POST",
        "/posts",
        {"headline": "Version 2", "text": text},
    )
    found = us.show(NOBODY, id_)
    assert (found["state"], found["sent"]["by"], found["sent"]["via"]) == ("published", "root", "send_post")
    told = f"it was published by root on {found['sent']['at'][:16].replace('T', ' ')} UTC through send_post"
    assert us.refused(ROOT, *publish) == (3, f"the draft {id_} is not sent: {told}")
    for verb in ("approve", "reject"):
        assert us.refused(ROOT, "draft", verb, id_) == (3, f"the draft {id_} is out of the queue: {told}")
    assert len(blog.received) == 1
    entry = us.helm(ROOT, "history", "-n", "1", "-o", "json").json[0]
    assert (entry["connection"], entry["operation"], entry["outcome"]) == ("_tools", "send_post", "ok")


@pytest.mark.contract("P31")
def test_publishing_shows_what_is_sent_and_who_approved_it(us: Team, blog: Server) -> None:
    id_ = us.add(DAEMON)
    approve(us, BIN, id_)
    approve(us, NOBODY, id_)
    words = ("draft", "publish", id_, "--via", "send_letter", "--arg", "list=customers")
    status, shown = us.answer(ROOT, *words)
    assert status == 0
    for line in (
        r"Confirm request",
        rf"  extension    {ID}",
        rf"  draft        {id_}, asked for by daemon",
        r"  approved by  bin, nobody",
        r"  tool         send_letter",
        r"  method       POST",
        rf"  url          {re.escape(blog.url)}/letters\?list=customers",
        r'  body         \{"headline":"Version 2","text":"It is out.\\n"\}',
    ):
        assert re.search(line, shown), (line, shown)
    assert [request.target for request in blog.received] == ["/letters?list=customers"]


@pytest.mark.parametrize("keys", [(ESC,), (DOWN, ENTER)])
def test_whoever_does_not_confirm_sends_nothing(us: Team, blog: Server, keys: tuple[bytes, ...]) -> None:
    id_ = us.add(DAEMON)
    approve(us, BIN, id_)
    assert us.answer(ROOT, "draft", "publish", id_, "--via", "send_post", keys=keys)[0] == 6
    assert (blog.received, state(us, id_)) == ([], "approved")


def test_of_two_who_publish_at_once_one_does(us: Team, blog: Server) -> None:
    id_ = us.add(DAEMON)
    approve(us, BIN, id_)
    words = ("draft", "publish", id_, "--via", "send_post")
    with us.terminal(ROOT, *words) as one, us.terminal(ROOT, *words) as two:
        for screen in (one, two):
            screen.wait_for(ASKED)
        for screen in (one, two):
            screen.send(DOWN)
        one.send(0.3)
        for screen in (one, two):
            screen.send(ENTER)
        assert sorted((one.status(), two.status())) == [0, 3]
    assert (len(blog.received), state(us, id_)) == (1, "published")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_publisher_that_is_killed_publishes_at_most_once(us: Team, blog: Server, number: signal.Signals) -> None:
    came = threading.Event()

    def hold(peer: Peer, request: Received) -> None:
        came.set()
        peer.hold()

    id_ = us.add(DAEMON)
    approve(us, BIN, id_)
    blog.script = hold
    with us.terminal(ROOT, "draft", "publish", id_, "--via", "send_post") as screen:
        screen.wait_for(ASKED)
        confirm(screen)
        assert came.wait(20)
        os.kill(screen.process.pid, number)
        screen.status()
    assert state(us, id_) in ("sending", "unknown")
    status, told = us.refused(ROOT, "draft", "publish", id_, "--via", "send_post")
    assert (status, "look whether it went out" in told) == (3, True)
    assert len(blog.received) == 1


@pytest.mark.contract("P31")
def test_a_consequential_tool_runs_in_no_other_way(us: Team, blog: Server) -> None:
    told = "send_post is consequential, so it runs only for an approved draft: helm draft publish"
    for words in (("call",), ("call", "--dry-run"), ("call", "--wait")):
        done = us.helm(ROOT, *words, "_tools", "send_post", "--arg", "title=t", "--arg", "body=b", "--plugin", ID)
        assert (done.status, done.err) == (3, f"helm: {told}\n")
    batch = json.dumps({"connection": "_tools", "operation": "send_post", "args": {"title": "t", "body": "b"}})
    done = us.helm(ROOT, "call", "--batch", "-", stdin=batch + "\n")
    assert json.loads(done.out)["error"] == {"code": "refused", "message": told}
    assert us.refused(ROOT, "call", "_tools", "send_post", "--arg", "title=t", "--arg", "body=b") == (3, told)
    assert blog.received == []


def test_without_a_publish_output_a_draft_goes_out_by_hand(helm: Helm, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {**PLUGIN, "outputs": [{"type": "draft", "kinds": ["blog"]}]}
    with team(ROOT, BIN, plugin=plain) as us:
        monkeypatch.chdir(us.workspace)
        id_ = us.add(BIN)
        approve(us, ROOT, id_)
        assert us.show(ROOT, id_)["publishes"][0]["ready"] is True
        told = f"{ID} declares no publish output, so its drafts go out by hand"
        assert us.refused(ROOT, "draft", "publish", id_) == (3, told)
