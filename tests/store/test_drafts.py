"""Drafts as files that a team shares: what one says, who said what to it, and what is left out."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from helm_cli.model.draft import MOST_BODY_BYTES, Decision, Draft, Filed, Sending
from helm_cli.model.errors import HelmError
from helm_cli.store import drafts, shared
from helm_cli.store.config import Config
from tests.store import acts, crowd, samples

OWN = os.geteuid()


def found(opened: int, id_: str) -> Filed:
    filed = drafts.find(opened, id_)
    assert filed is not None
    return filed


def rewritten(place: Path, draft: Draft, **changes: Any) -> Path:
    """The file of a draft with other members; ... takes one away."""
    file = place / f"{draft.id}.draft.json"
    record = {name: value for name, value in {**json.loads(file.read_bytes()), **changes}.items() if value is not ...}
    file.write_text(json.dumps(record))
    return file


@contextmanager
def vanishing(file: Path) -> Iterator[None]:
    """Somebody takes the file away as soon as the folder was listed."""

    def listed(frame: FrameType, event: str, argument: Any) -> None:
        if event == "return" and frame.f_code is shared.names.__code__:
            file.unlink()

    sys.setprofile(listed)
    try:
        yield
    finally:
        sys.setprofile(None)


def test_drafts_wait_in_the_home_or_where_a_team_says(home: Path, tmp_path: Path) -> None:
    assert drafts.folder(home, Config()) == home / "drafts"
    assert (home / "drafts").stat().st_mode & 0o777 == 0o700
    elsewhere = tmp_path / "elsewhere"
    assert drafts.folder(home, Config(drafts_dir=str(elsewhere))) == elsewhere
    assert not elsewhere.exists()


@pytest.mark.contract("P30")
def test_a_draft_is_found_as_it_was_added(place: Path, opened: int) -> None:
    body = "\x1b[2J\u202e é\r\n\t\U0001f389\n" * 10
    added = drafts.add(opened, samples.DRAFT._replace(body=body), "ada")
    assert drafts.ID.fullmatch(added.id)
    assert added == samples.DRAFT._replace(id=added.id, body=body, asker=OWN, digest=added.digest)
    assert found(opened, added.id) == Filed(added, (), None)
    assert drafts.every(opened) == ([Filed(added, (), None)], [])
    file = place / f"{added.id}.draft.json"
    assert json.loads(file.read_bytes())["asked_by"] == {"uid": OWN, "name": "ada"}
    assert drafts.find(opened, "aaaaaaaa") is None
    assert drafts.find(opened, "../../etc/passwd") is None


def test_the_largest_draft_that_may_be_is_read_again(opened: int) -> None:
    added = drafts.add(opened, samples.DRAFT._replace(title="é" * 240, body="\x01" * MOST_BODY_BYTES), "ada")
    assert found(opened, added.id).draft == added


def test_an_id_that_is_taken_is_not_given_again(opened: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def foreseen(size: int) -> bytes:
        asked.append(size)
        return bytes([asked.count(5) > 3] * size)

    monkeypatch.setattr(os, "urandom", foreseen)
    added = [drafts.add(opened, samples.DRAFT._replace(title=title), "ada") for title in ("one", "two")]
    assert [draft.id for draft in added] == ["aaaaaaaa", "aeaqcaib"]
    assert [found(opened, draft.id).draft.title for draft in added] == ["one", "two"]
    assert asked.count(5) == 4
    with pytest.raises(HelmError) as refused:
        drafts.add(opened, samples.DRAFT, "ada")
    told = "the folder of drafts takes no new draft; look at drafts_dir in config.toml"
    assert (refused.value.code, refused.value.message) == ("state", told)
    assert len(drafts.every(opened)[0]) == 2


@pytest.mark.parametrize(("umask", "hidden"), [(0o022, False), (0o027, False), (0o077, True)])
def test_a_draft_that_the_others_cannot_read_is_known(opened: int, umask: int, hidden: bool) -> None:
    os.umask(umask)
    assert drafts.hidden(opened, drafts.add(opened, samples.DRAFT, "ada")) is hidden


def test_what_is_taken_away_while_it_is_read_is_not_there(place: Path, opened: int) -> None:
    draft, other = drafts.add(opened, samples.DRAFT, "ada"), drafts.add(opened, samples.DRAFT, "ada")
    drafts.decide(opened, draft, "approve", drafts.moment(samples.NOW), "ada")
    (decision,) = place.glob("*.decision.json")
    with vanishing(decision):
        assert found(opened, draft.id) == Filed(draft, (), None)
    with vanishing(place / f"{draft.id}.draft.json"):
        assert drafts.every(opened) == ([Filed(other, (), None)], [])


def test_drafts_are_listed_by_age(opened: int) -> None:
    times = ["2026-07-03", "2026-07-01", "2026-07-02"]
    for day in times:
        drafts.add(opened, samples.DRAFT._replace(at=f"{day}T12:00:00.000000+00:00"), "ada")
    listed, broken = drafts.every(opened)
    assert ([filed.draft.at[:10] for filed in listed], broken) == (sorted(times), [])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"id": "aaaaaaaa"}, "says that it is another draft"),
        ({"plugin": "Acme"}, "names no plugin"),
        ({"plugin": "a/b/c"}, "names no plugin"),
        ({"plugin": None}, "names no plugin"),
        ({"kind": "blogs"}, "has a kind that no draft has"),
        ({"kind": ["blog"]}, "has a kind that no draft has"),
        ({"title": "two\nlines"}, "has a title or a text that no draft may have"),
        ({"title": ""}, "has a title or a text that no draft may have"),
        ({"title": "x" * 241}, "has a title or a text that no draft may have"),
        ({"body": " \n"}, "has a title or a text that no draft may have"),
        ({"body": "x" * (MOST_BODY_BYTES + 1)}, "has a title or a text that no draft may have"),
        ({"run": "../run"}, "names no run"),
        ({"at": "yesterday"}, "does not say when it was asked for"),
        ({"asked_by": {"uid": OWN + 1, "name": "ada"}}, "belongs to another user than asked for it"),
        ({"asked_by": OWN}, "belongs to another user than asked for it"),
        ({"more": 1}, "does not have the members id, plugin, kind, title, body, run, at, asked_by"),
        ({"body": ...}, "does not have the members id, plugin, kind, title, body, run, at, asked_by"),
    ],
)
def test_a_file_that_is_no_draft_is_left_out_and_told(
    place: Path, opened: int, changes: dict[str, Any], told: str
) -> None:
    draft, other = drafts.add(opened, samples.DRAFT, "ada"), drafts.add(opened, samples.DRAFT, "ada")
    file = rewritten(place, draft, **changes)
    listed, broken = drafts.every(opened)
    assert (listed, broken) == ([Filed(other, (), None)], [f"{file.name} {told}"])
    with pytest.raises(HelmError) as refused:
        drafts.find(opened, draft.id)
    assert refused.value.message == f"the draft {draft.id} cannot be used: its file {told}"


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b'{"id": 1, "id": 2}', b"[" * 100_000, b"x" * 2_000_000])
def test_a_file_of_anything_is_no_draft(place: Path, opened: int, data: bytes) -> None:
    (place / "aaaaaaaa.draft.json").write_bytes(data)
    listed, (told,) = drafts.every(opened)
    assert listed == []
    assert told.startswith("aaaaaaaa.draft.json ")


def test_an_edited_draft_is_another_one(place: Path, opened: int) -> None:
    draft = drafts.add(opened, samples.DRAFT, "ada")
    drafts.decide(opened, draft, "approve", drafts.moment(samples.NOW), "ada")
    file = place / f"{draft.id}.draft.json"
    file.write_bytes(file.read_bytes() + b" ")
    filed = found(opened, draft.id)
    assert filed.draft == draft._replace(digest=filed.draft.digest)
    assert [decision.digest for decision in filed.decisions] == [draft.digest] != [filed.draft.digest]


def test_decisions_are_by_who_owns_their_files(place: Path, opened: int) -> None:
    draft, other = drafts.add(opened, samples.DRAFT, "ada"), drafts.add(opened, samples.DRAFT, "ada")
    drafts.decide(opened, draft, "approve", drafts.moment(samples.NOW), "ada")
    drafts.decide(opened, draft, "reject", drafts.moment(samples.NOW + 1), "ada")
    drafts.decide(opened, other, "approve", drafts.moment(samples.NOW), "ada")
    (one, two) = sorted(found(opened, draft.id).decisions, key=lambda decision: decision.at)
    assert one == Decision(OWN, "approve", draft.digest, "2027-01-15T08:00:00.000000+00:00")
    assert two == Decision(OWN, "reject", draft.digest, "2027-01-15T08:00:01.000000+00:00")
    for file in place.glob(f"{draft.id}.*.decision.json"):
        os.chown(file, 4321, -1)
    assert {decision.uid for decision in found(opened, draft.id).decisions} == {4321}


def test_what_claims_to_be_a_decision_and_is_none_counts_for_nothing(place: Path, opened: int) -> None:
    draft = drafts.add(opened, samples.DRAFT, "ada")
    drafts.decide(opened, draft, "approve", drafts.moment(samples.NOW), "ada")
    (mine,) = place.glob("*.decision.json")
    record = json.loads(mine.read_bytes())
    mine.unlink()

    def put(number: int, data: dict[str, Any] | bytes) -> Path:
        file = place / f"{draft.id}.{number:016x}.decision.json"
        file.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        return file

    put(1, {**record, "draft": "aaaaaaaa"})
    put(2, {**record, "decision": "maybe"})
    put(3, {**record, "digest": "sha256:0"})
    put(4, b"x" * 5_000)
    put(5, record).chmod(0o666)
    os.link(put(6, record), place / "kept")
    (place / f"{draft.id}.{7:016x}.decision.json").symlink_to(put(8, record))
    os.mkfifo(place / f"{draft.id}.{9:016x}.decision.json")
    put(8, {**record, "at": "1"})
    (place / f"{draft.id}.decision.json").write_text("not even by its name")
    filed = found(opened, draft.id)
    assert filed.decisions == ()
    assert [told.partition(".json ")[2] for told in filed.ignored] == [
        "is about another draft",
        "says neither yes nor no",
        "is no decision",
        "is over 4,096 bytes",
        "can be written by others than its owner",
        "has a second name, so others than its owner may have put it there",
        "cannot be read: too many levels of symbolic links",
        "is no decision",
        "is no regular file",
    ]


def test_a_flood_of_decisions_hides_no_no(place: Path, opened: int) -> None:
    draft, other = drafts.add(opened, samples.DRAFT, "ada"), drafts.add(opened, samples.DRAFT, "ada")
    for number in range(501):
        (place / f"{draft.id}.{number:016x}.decision.json").write_text("")
    told = "has over 500 files of decisions beside it; take some away"
    assert drafts.every(opened) == ([Filed(other, (), None)], [f"{draft.id}.draft.json {told}"])
    with pytest.raises(HelmError) as refused:
        drafts.find(opened, draft.id)
    assert refused.value.message == f"the draft {draft.id} cannot be used: its file {told}"


def test_a_second_name_undoes_a_yes_and_never_a_no(place: Path, opened: int) -> None:
    draft = drafts.add(opened, samples.DRAFT, "ada")
    drafts.decide(opened, draft, "approve", drafts.moment(samples.NOW), "ada")
    drafts.decide(opened, draft, "reject", drafts.moment(samples.NOW), "ada")
    for number, file in enumerate([*place.glob("*.decision.json")]):
        os.link(file, place / f"kept {number}")
    assert [decision.said for decision in found(opened, draft.id).decisions] == ["reject"]


def test_the_last_word_is_the_last_whatever_a_clock_said(opened: int) -> None:
    now, ahead = drafts.moment(samples.NOW), drafts.moment(samples.NOW + 86_400.5)
    assert drafts.after([], samples.NOW) == now
    assert drafts.after([now, drafts.moment(samples.NOW - 5)], samples.NOW + 5) == drafts.moment(samples.NOW + 5)
    assert drafts.after([now, ahead], samples.NOW) == "2027-01-16T08:00:00.500001+00:00"
    end = "9999-12-31T23:59:59.999999+00:00"
    assert drafts.after([end], samples.NOW) == end


def test_of_any_number_one_sends_a_draft_out(place: Path, opened: int) -> None:
    draft = drafts.add(opened, samples.DRAFT, "ada")
    results = crowd.together(acts.claim_draft, 20, place, draft.id)
    assert not [told for told in results if isinstance(told, str)], results
    assert sorted(results) == [False] * 19 + [True]
    assert found(opened, draft.id).sending == samples.SENDING._replace(uid=OWN)
    published = samples.SENDING._replace(uid=OWN, state="published")
    drafts.settle(opened, published, draft.id)
    assert found(opened, draft.id).sending == published
    assert not drafts.claim(opened, published, draft.id)
    drafts.unclaim(opened, draft.id)
    assert found(opened, draft.id).sending is None


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: path.symlink_to("/x"), Path.touch])
def test_what_stands_where_the_sending_would_stands_in_its_way(place: Path, opened: int, make: Any) -> None:
    draft = drafts.add(opened, samples.DRAFT, "ada")
    make(place / f"{draft.id}.sent.json")
    assert found(opened, draft.id).sending == Sending(-1, "unknown", "", "", "")
    assert not drafts.claim(opened, samples.SENDING, draft.id)
