"""The review queue as its users see it: who may ask, who may decide, and how a draft stands by what they said."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from helm_cli.broker import drafts
from helm_cli.broker.drafts import OWNED, USUAL, Outlet, Queued, Text
from helm_cli.model.draft import Decision, Draft, Filed, Rule, Said, Sending, Standing
from helm_cli.store import approvals, approvers, sent
from helm_cli.store import drafts as files
from tests.broker.office import NOW, TEXT, Office, being, office
from tests.rig.failing import failing
from tests.rig.team import BIN, DAEMON, ID, NOBODY, ROOT

AT = "2027-01-15T08:00:00.000000+00:00"
EDITORS = Rule(2, "editor")
BARE = Draft("abcdefgh", ID, "blog", "Version 2", "x", None, AT, DAEMON, "sha256:0")


@pytest.fixture
def us(home: Path) -> Iterator[Office]:
    with office(home) as opened:
        yield opened


def sending(draft: Draft, state: str = "published", via: str = "send_post") -> Sending:
    told: dict[str, object] = {"uid": os.geteuid(), "state": state, "via": via, "digest": draft.digest, "at": AT}
    return Sending(**told)  # type: ignore[arg-type]  # the state is one of those


def claim(us: Office, draft: Draft) -> Sending:
    """Root says that the draft goes out."""
    with drafts.opened(us.stores) as folder:
        assert files.claim(folder, sending(draft, "sending"), draft.id)
    return sending(draft, "sending")


# --- asking


@pytest.mark.contract("P30")
def test_a_draft_waits_as_it_was_asked_for(us: Office) -> None:
    draft = us.add(text=Text("email", "Ünï", "# É\n", "abcdefgh"))
    assert draft == Draft(draft.id, ID, "email", "Ünï", "# É\n", "abcdefgh", AT, DAEMON, draft.digest)
    waits = Standing((), (), 1)
    outlets = (Outlet("send_post", USUAL, waits), Outlet("send_letter", EDITORS, waits._replace(least=2)))
    queued = Queued(Filed(draft, (), None), "waiting", outlets, us.team(), owned=False)
    assert us.find(draft) == queued
    us.now += 1
    other = us.add(BIN)
    assert drafts.every(us.stores, us.here) == [queued, us.find(other)]
    assert us.told == []


def test_in_a_home_of_ones_own_everybody_is_the_owner_of_the_folder(us: Office, home: Path) -> None:
    (home / "config.toml").unlink()
    own = us.stores.again()
    try:
        draft = drafts.add(own, us.team(), TEXT)
        assert [queued.filed.draft for queued in drafts.every(own, us.here)] == [draft]
        assert [file.name for file in (home / "drafts").iterdir()] == [f"{draft.id}.draft.json"]
    finally:
        own.close()
    assert (us.told, [*us.drafts.iterdir()]) == ([], [])


@pytest.mark.contract("P30")
@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        (TEXT._replace(kind="blogs"), "refused", f"{ID} declares no drafts of the kind blogs; did you mean blog?"),
        (
            TEXT._replace(kind="image"),
            "refused",
            f"{ID} declares no drafts of the kind image; it declares blog, email",
        ),
        (TEXT._replace(title="a\nb"), "usage", "the title must be one line of text"),
        (TEXT._replace(title="x" * 241), "usage", "the title must have at most 240 characters"),
        (TEXT._replace(body=" \n"), "usage", "the text of a draft must not be empty"),
        (TEXT._replace(body="x" * 262_145), "usage", "the text of a draft must have at most 256 KiB"),
    ],
)
def test_what_is_no_draft_is_not_filed(us: Office, text: Text, code: str, told: str) -> None:
    with failing(code, told):
        us.add(text=text)
    assert [*us.drafts.iterdir()] == []


def test_a_plugin_that_declares_no_drafts_has_none(us: Office) -> None:
    us.approve(outputs=[])
    with failing("refused", f"{ID} declares no drafts of the kind blog; it declares none"):
        us.add()


def test_a_draft_that_others_cannot_read_is_told_of(us: Office) -> None:
    os.umask(0o077)
    draft = us.add()
    assert us.told == [f"the others of your team cannot read {draft.id}: your umask takes that away; try umask 027"]


def test_who_owns_the_folder_has_nothing_published(us: Office) -> None:
    os.chown(us.drafts, DAEMON, -1)
    draft = us.add(DAEMON)
    assert us.told == [f"nobody can publish {draft.id}: {OWNED}"]
    queued = us.find(draft)
    assert (queued.owned, us.find(us.add(BIN)).owned) == (True, False)
    with being(BIN):
        with failing("refused", f"the draft {draft.id} cannot be published: {OWNED}"):
            drafts.check_decidable(queued, "approve")
        drafts.check_decidable(queued, "reject")
    # Root may do that everywhere.
    os.chown(us.drafts, ROOT, -1)
    assert not us.find(us.add(ROOT)).owned


# --- the queue


def test_rubbish_in_the_folder_is_told_of_in_a_few_words(us: Office) -> None:
    draft = us.add()
    for letter in "abcdef":
        (us.drafts / f"{letter * 8}.draft.json").write_text("{}")
    (us.drafts / "gggggggg.draft.json").mkdir()
    assert [queued.filed.draft for queued in drafts.every(us.stores, us.here)] == [draft]
    members = "does not have the members id, plugin, kind, title, body, run, at, asked_by; it is left out"
    assert us.told == [
        *(f"{letter * 8}.draft.json {members}" for letter in "abcde"),
        "2 more files that look like drafts are left out",
    ]


def test_what_only_claims_to_be_a_decision_is_told_of(us: Office) -> None:
    draft = us.add()
    for number in range(7):
        (us.drafts / f"{draft.id}.{number:016x}.decision.json").mkdir()
    assert us.find(draft).state == "waiting"
    assert us.told == [
        f"{draft.id}.{number:016x}.decision.json is no regular file, so it counts for nothing" for number in range(5)
    ]


@pytest.mark.parametrize(("id_", "told"), [("abcdefgh", "abcdefgh"), ("../" * 20, "../../../../../../..")])
def test_what_is_not_there_is_refused(us: Office, id_: str, told: str) -> None:
    with failing("refused", f"there is no draft {told}; see helm draft list"):
        drafts.find(us.stores, us.here, id_)


def test_the_drafts_of_a_plugin_that_is_not_enabled_go_nowhere(us: Office) -> None:
    draft = us.add()
    us.say(BIN, "approve", draft)
    approvals.set_enabled(us.stores.db, us.here.path, ID, False)
    queued = us.find(draft)
    assert (queued.team, queued.outlets) == (None, (Outlet("", USUAL, Standing((BIN,), (), 1)),))
    assert drafts.every(us.stores, us.here) == [queued]


def test_what_was_sent_from_here_is_known_whatever_the_folder_says(us: Office) -> None:
    draft, other = us.add(), us.add()
    assert sent.claim(us.stores.db, sending(draft), draft.id)
    queued = us.find(draft)
    assert (queued.state, queued.filed.sending) == ("published", sending(draft))
    assert us.told == [f"somebody took the mark away that {draft.id} was sent from here; it is not sent again"]
    states = {queued.filed.draft.id: queued.state for queued in drafts.every(us.stores, us.here)}
    assert states == {draft.id: "published", other.id: "waiting"}
    # What the folder says of it comes first.
    claimed = claim(us, draft)
    assert us.find(draft).filed.sending == claimed
    assert len(us.told) == 1


# --- deciding


def test_how_a_draft_stands_by_what_people_said(us: Office) -> None:
    draft = us.add(DAEMON)
    states = []
    for uid, said in ((BIN, "approve"), (NOBODY, "reject"), (NOBODY, "approve"), (DAEMON, "reject")):
        word: Said = "approve" if said == "approve" else "reject"
        us.say(uid, word, draft)
        states.append(us.find(draft).state)
    assert states == ["approved", "rejected", "approved", "rejected"]
    post, letter = us.find(draft).outlets
    assert post.standing == Standing((BIN, NOBODY), (DAEMON,), 1)
    assert letter.standing == Standing((BIN, NOBODY), (DAEMON,), 2)


def test_the_last_word_is_the_last_even_where_the_clock_stands(us: Office) -> None:
    draft = us.add(DAEMON)
    us.say(BIN, "reject", draft)
    us.now -= 86_400
    us.say(BIN, "approve", draft)
    decisions = sorted(us.find(draft).filed.decisions, key=lambda one: one.at)
    assert decisions == [
        Decision(BIN, "reject", draft.digest, AT),
        Decision(BIN, "approve", draft.digest, "2027-01-15T08:00:00.000001+00:00"),
    ]
    assert us.find(draft).state == "approved"


def test_what_changed_while_it_was_shown_is_not_decided(us: Office) -> None:
    draft, gone = us.add(), us.add()
    us.edit(draft)
    us.file(gone).unlink()
    for one in (draft, gone):
        with failing("refused", f"the draft {one.id} changed while it was shown; look at it again"):
            us.say(BIN, "approve", one)
    assert [*us.drafts.glob("*.decision.json")] == []


@pytest.mark.contract("P32")
def test_who_may_decide(us: Office) -> None:
    outputs = [
        {"type": "draft", "kinds": ["blog"]},
        {"type": "publish", "via": "send_letter", "approval": {"role": "editor", "min": 2}},
    ]
    us.approve(outputs=outputs)
    draft = us.add(DAEMON)
    approvers.put(us.stores.db, us.here.path, ID, "editor", [BIN])
    queued = us.find(draft)
    assert [outlet.rule for outlet in queued.outlets] == [Rule(2, "editor", (BIN,))]
    own = f"you asked for the draft {draft.id}, so somebody else has to approve it"
    listed = f"you are no approver of {ID}; its team lists you with: helm plugin approvers {ID}"
    cases: list[tuple[int, Said, str | None]] = [
        (BIN, "approve", None),
        (BIN, "reject", None),
        (DAEMON, "approve", own),
        (DAEMON, "reject", None),
        (NOBODY, "approve", listed),
        (NOBODY, "reject", listed),
    ]
    for uid, said, told in cases:
        with being(uid):
            if told is None:
                drafts.check_decidable(queued, said)
            else:
                with failing("refused", told):
                    drafts.check_decidable(queued, said)


def test_what_is_out_of_the_queue_is_not_decided(us: Office) -> None:
    draft = us.add(DAEMON)
    claim(us, draft)
    told = "it is being published by root on 2027-01-15 08:00 UTC through send_post, or that was cut off: look whether"
    for said in ("approve", "reject"):
        word: Said = "approve" if said == "approve" else "reject"
        with failing("refused", f"the draft {draft.id} is out of the queue: {told} it went out"):
            drafts.check_decidable(us.find(draft), word)


# --- words


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (None, "nobody sent it"),
        (Sending(-1, "unknown", "", "", ""), "a file says so that cannot be read; look whether it went out"),
        (sending(BARE), "it was published by root on 2027-01-15 08:00 UTC through send_post"),
        (
            sending(BARE, "sending")._replace(uid=4321),
            "it is being published by user 4321 on 2027-01-15 08:00 UTC through send_post, or that was cut off: look"
            " whether it went out",
        ),
        (
            sending(BARE, "unknown"),
            "it may have been published by root on 2027-01-15 08:00 UTC through send_post: nobody knows, so look"
            " whether it went out",
        ),
    ],
)
def test_what_is_known_of_a_draft_that_went_out(found: Sending | None, told: str) -> None:
    assert drafts.told_sending(Filed(BARE, (), found)) == told


def test_users_have_names_and_numbers() -> None:
    assert [drafts.user(uid) for uid in (ROOT, BIN, 4321)] == ["root", "bin", "user 4321"]
    assert [drafts.uid_of(name) for name in ("root", "bin", "2", "65534")] == [ROOT, BIN, BIN, NOBODY]
    for name in ("ada-who-is-nobody", "4321", "9" * 80, "²", "-1", ""):
        with failing("usage", f"this machine has no user {name[:60]}; see getent passwd"):
            drafts.uid_of(name)
    assert files.moment(NOW) == AT
