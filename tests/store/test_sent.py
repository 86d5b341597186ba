"""What a home remembers of the drafts that it sent out: each once, whatever the folder of drafts says."""

import os
import sqlite3

from helm_cli.store import sent
from tests.store import samples

OURS = samples.SENDING._replace(uid=os.geteuid())


def test_a_draft_is_sent_from_here_once(db: sqlite3.Connection) -> None:
    assert sent.claim(db, samples.SENDING, "abcdefgh")
    assert not sent.claim(db, samples.SENDING._replace(via="send_letter"), "abcdefgh")
    assert sent.claim(db, samples.SENDING._replace(via="send_letter"), "bcdefghi")
    assert sent.find(db, "abcdefgh") == OURS
    assert sent.find(db, "cdefghij") is None
    assert sent.every(db) == {"abcdefgh": OURS, "bcdefghi": OURS._replace(via="send_letter")}


def test_what_became_of_it_stays_and_what_was_not_sent_may_be_again(db: sqlite3.Connection) -> None:
    for id_ in ("abcdefgh", "bcdefghi"):
        sent.claim(db, samples.SENDING, id_)
    sent.settle(db, OURS._replace(state="published"), "abcdefgh")
    assert sent.find(db, "abcdefgh") == OURS._replace(state="published")
    assert sent.find(db, "bcdefghi") == OURS
    assert not sent.claim(db, samples.SENDING, "abcdefgh")
    sent.unclaim(db, "abcdefgh")
    assert sent.every(db) == {"bcdefghi": OURS}
    assert sent.claim(db, samples.SENDING, "abcdefgh")
