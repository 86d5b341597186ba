"""Whom the folder of drafts may belong to, and that a draft goes out once whoever may take its marks away."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.program import run
from tests.rig import http_server
from tests.rig.http_server import Server
from tests.rig.team import BIN, DAEMON, ID, ROOT, Team, as_user, team

OWNED = (
    "who asked for it owns the folder of drafts, and could take away what others say there; have root or a user of its"
    " own own that folder"
)
GONE = "somebody took the mark away that {} was sent from here; it is not sent again"


@contextmanager
def publishing(us: Team) -> Iterator[Server]:
    """The service that root sends posts to."""
    with http_server.serving(http_server.answering(b'{"id": 7}')) as server:
        assert us.helm(ROOT, "service", "add", "blog", "--base-url", server.url, "--no-token").status == 0
        words = ("--service", "blog", "--method", "POST", "--path", "/posts", "--body", json.dumps({"t": "{title}"}))
        assert us.answer(ROOT, "plugin", "bind", ID, "send_post", *words, "--workspace", str(us.workspace))[0] == 0
        yield server


@pytest.fixture
def us(monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    with team(ROOT, DAEMON, BIN) as found:
        monkeypatch.chdir(found.workspace)
        yield found


def test_a_draft_of_the_folders_owner_is_never_published(us: Team) -> None:
    with publishing(us) as server:
        ready = us.add(DAEMON)
        assert us.answer(BIN, "draft", "approve", ready)[0] == 0
        os.chown(us.drafts, DAEMON, DAEMON)
        assert us.refused(ROOT, "draft", "publish", ready, "--via", "send_post") == (
            3,
            f"the draft {ready} cannot be published: {OWNED}",
        )
        words = ("draft", "add", "--plugin", ID, "--kind", "blog", "--title", "t")
        done = us.helm(DAEMON, *words, stdin="x")
        late = done.out.strip()
        assert f"helm: nobody can publish {late}: {OWNED}\n" in done.err
        assert us.refused(BIN, "draft", "approve", late) == (3, f"the draft {late} cannot be published: {OWNED}")
        assert us.answer(BIN, "draft", "reject", late)[0] == 0
        # Another's draft is none that the owner asked for.
        others = us.add(BIN)
        assert us.answer(DAEMON, "draft", "approve", others)[0] == 0
        assert us.answer(ROOT, "draft", "publish", others, "--via", "send_post")[0] == 0
        assert len(server.received) == 1


def test_a_draft_whose_mark_is_taken_away_is_not_sent_again(us: Team) -> None:
    with publishing(us) as server:
        id_ = us.add(DAEMON)
        assert us.answer(BIN, "draft", "approve", id_)[0] == 0
        assert us.answer(ROOT, "draft", "publish", id_, "--via", "send_post")[0] == 0
        os.chown(us.drafts, BIN, BIN)
        run([*as_user(BIN), "rm", "-f", str(us.drafts / f"{id_}.sent.json")])
        assert not (us.drafts / f"{id_}.sent.json").exists()
        shown = us.helm(ROOT, "draft", "show", id_, "-o", "json")
        assert (shown.json["state"], shown.json["sent"]["via"]) == ("published", "send_post")
        assert GONE.format(id_) in shown.err
        assert [row["state"] for row in us.helm(ROOT, "draft", "list", "-o", "json").json] == ["published"]
        status, told = us.refused(ROOT, "draft", "publish", id_, "--via", "send_post")
        assert (status, told.startswith(f"the draft {id_} is not sent: it was published by root on ")) == (3, True)
        assert len(server.received) == 1
