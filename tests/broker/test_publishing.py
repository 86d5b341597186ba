"""How a draft goes out: after all that it needs, through a real service, once, and whatever becomes of it."""

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import bindings, call, drafts, profiles, publishing
from helm_cli.broker.drafts import OWNED
from helm_cli.broker.publishing import Ready
from helm_cli.model.draft import Draft, Sending
from helm_cli.model.envelope import Envelope
from helm_cli.model.jsontext import Json
from helm_cli.model.plugin import Bound
from helm_cli.model.profile import Service
from helm_cli.store import approvals, sent
from helm_cli.store import drafts as files
from tests.broker.office import Office, office
from tests.rig import http_server
from tests.rig.failing import failing
from tests.rig.http_server import Peer, Received, Server
from tests.rig.team import BIN, DAEMON, ID, NOBODY, ROOT

AT = "2027-01-15T08:00:00.000000+00:00"
POST = Bound("send_post", "blog", "POST", "/posts", '{"headline": "{title}", "text": "{body}"}')
LETTER = Bound("send_letter", "blog", "POST", "/letters?list={list}", '{"text": "{body}", "sort": "{kind}"}')
NONE_OF = "and none can come of who asked for it; see helm draft show"
DRAFT_ALONE = [{"type": "draft", "kinds": ["blog"]}]


@pytest.fixture
def us(home: Path) -> Iterator[Office]:
    with office(home) as opened:
        yield opened


@pytest.fixture(scope="module")
def service() -> Iterator[Server]:
    with http_server.serving(http_server.answering(b'{"id": 7}')) as server:
        yield server


@pytest.fixture
def blog(us: Office, service: Server) -> Server:
    """The service that both tools are bound to, as if nothing had happened yet."""
    service.script = http_server.answering(b'{"id": 7}')
    service.received.clear()
    profiles.add(us.stores, Service("blog", service.url), None, force=False)
    bind(us, POST, LETTER)
    return service


def bind(us: Office, *to: Bound) -> None:
    for one in to:
        bindings.bind(us.stores, us.team().approval, one)


def approved(us: Office, *uids: int) -> Draft:
    """A draft that these users said yes to."""
    draft = us.add(DAEMON)
    for uid in uids or (BIN,):
        us.say(uid, "approve", draft)
    return draft


def ready(us: Office, draft: Draft, via: str | None = "send_post", **arguments: Json) -> Ready:
    return publishing.ready(us.stores, us.here, us.find(draft), via, arguments)


def asked(us: Office, found: Ready) -> call.Asked:
    return call.ask(us.stores, found.request, listed=False)


def published(us: Office, draft: Draft) -> Envelope:
    found = ready(us, draft)
    return publishing.perform(us.stores, us.here, found, asked(us, found))


def state(us: Office, draft: Draft) -> tuple[str, str | None]:
    """As the folder has it, and as this home knows it."""
    known = sent.find(us.stores.db, draft.id)
    return us.find(draft).state, known and known.state


@pytest.mark.contract("P31")
def test_an_approved_draft_goes_out_once(us: Office, blog: Server) -> None:
    draft = approved(us)
    assert published(us, draft) == {"ok": True, "data": {"id": 7}, "error": None, "status": 200}
    (got,) = blog.received
    assert (got.method, got.target) == ("POST", "/posts")
    assert json.loads(got.body) == {"headline": "Version 2", "text": "It is out.\n"}
    sending = Sending(ROOT, "published", "send_post", draft.digest, AT)
    assert (us.find(draft).filed.sending, sent.find(us.stores.db, draft.id)) == (sending, sending)
    told = "it was published by root on 2027-01-15 08:00 UTC through send_post"
    with failing("refused", f"the draft {draft.id} is not sent: {told}"):
        ready(us, draft, "send_letter")


@pytest.mark.contract("P31")
def test_a_tool_is_told_what_it_uses_of_the_draft_and_what_it_needs_beside(us: Office, blog: Server) -> None:
    draft = approved(us, BIN, NOBODY)
    found = ready(us, draft, "send_letter", list="all & sundry")
    assert found.draft == draft
    assert found.outlet == us.find(draft).outlets[1]
    assert found.request.arguments == {"body": "It is out.\n", "kind": "blog", "list": "all & sundry"}
    assert (found.request.extension, found.request.operation, found.request.draft) == (ID, "send_letter", draft.id)
    publishing.perform(us.stores, us.here, found, asked(us, found))
    (got,) = blog.received
    assert (got.target, json.loads(got.body)) == (
        "/letters?list=all%20%26%20sundry",
        {"text": "It is out.\n", "sort": "blog"},
    )


def test_of_a_tool_that_is_not_bound_its_call_says_so(us: Office) -> None:
    found = ready(us, approved(us))
    assert found.request.arguments == {"title": "Version 2", "body": "It is out.\n", "kind": "blog"}
    step = f"helm plugin bind {ID} send_post --service S --method M --path P"
    with failing("refused", f"send_post is not bound to a service for what is approved; run {step}"):
        asked(us, found)


def test_where_there_is_one_way_it_need_not_be_said(us: Office, blog: Server) -> None:
    us.approve(outputs=[*DRAFT_ALONE, {"type": "publish", "via": "send_post"}])
    assert ready(us, approved(us), None).outlet.via == "send_post"


@pytest.mark.parametrize(
    ("via", "code", "told"),
    [
        (None, "usage", f"{ID} publishes in 2 ways; say which with --via: send_post, send_letter"),
        ("send_" + "x" * 99, "usage", f"{ID} does not publish through send_{'x' * 59}; take send_post, send_letter"),
        (
            "send_letter",
            "refused",
            f"the draft {{}} has 1 of the 2 approvals that it needs of the role editor, {NONE_OF}",
        ),
    ],
)
def test_which_way_has_to_be_one(us: Office, via: str | None, code: str, told: str) -> None:
    draft = approved(us)
    with failing(code, told.format(draft.id)):
        ready(us, draft, via)


@pytest.mark.contract("P31", "P32")
def test_what_may_not_go_out_says_why(us: Office, blog: Server) -> None:
    def rejected() -> Draft:
        draft = approved(us, BIN, ROOT)
        for uid in (NOBODY, DAEMON):
            us.say(uid, "reject", draft)
            us.now += 1
        return draft

    def owned() -> Draft:
        os.chown(us.drafts, DAEMON, -1)
        return approved(us)

    def silent() -> Draft:
        bind(us, POST._replace(body='{"sort": "{kind}"}'))
        return approved(us)

    def by_hand() -> Draft:
        us.approve(outputs=DRAFT_ALONE)
        return approved(us)

    def disabled() -> Draft:
        draft = approved(us)
        approvals.set_enabled(us.stores.db, us.here.path, ID, False)
        return draft

    cases: list[tuple[Callable[[], Draft], str]] = [
        (lambda: us.add(DAEMON), f"the draft {{}} has 0 of the 1 approvals that it needs, {NONE_OF}"),
        (rejected, "the draft {} was rejected by nobody, daemon; nothing was sent"),
        (silent, "send_post sends nothing of the draft: bind it with {{title}} or {{body}}"),
        (owned, f"the draft {{}} cannot be published: {OWNED}"),
        (by_hand, f"{ID} declares no publish output, so its drafts go out by hand"),
        (disabled, f"{ID} is not approved and enabled here; run helm plugin review on its folder"),
    ]
    for prepared, told in cases:
        draft = prepared()
        with failing("refused", told.format(draft.id)):
            ready(us, draft)
    assert blog.received == []


def test_what_is_the_drafts_own_nobody_says_otherwise(us: Office, blog: Server) -> None:
    draft = approved(us)
    for name in ("title", "body", "kind"):
        with failing("usage", f"the argument {name} is the draft's own; leave it out"):
            ready(us, draft, **{name: "other"})
    found = ready(us, draft, list="x")
    with failing("refused", "send_post has no argument list; it takes title, body"):
        asked(us, found)
    assert state(us, draft) == ("approved", None)


@pytest.mark.contract("P31")
def test_what_becomes_another_during_the_question_is_not_sent(us: Office, blog: Server) -> None:
    def narrowed(draft: Draft) -> None:
        us.approve(outputs=[*DRAFT_ALONE, {"type": "publish", "via": "send_letter"}])

    def sent_before(draft: Draft) -> None:
        assert sent.claim(us.stores.db, Sending(ROOT, "unknown", "send_post", draft.digest, AT), draft.id)

    mark = "somebody took the mark away that {} was sent from here; it is not sent again"
    cases: list[tuple[Callable[[Draft], None], str, list[str], str]] = [
        (us.edit, "the draft {} changed while it was shown; look at it again", [], "waiting"),
        (
            lambda draft: us.say(NOBODY, "reject", draft),
            "the draft {} is no longer approved; nothing was sent",
            [],
            "rejected",
        ),
        (sent_before, "the draft {} was sent from here before; it is not sent again", [mark], "unknown"),
        (narrowed, "the draft {} is no longer approved; nothing was sent", [], "approved"),
    ]
    for change, told, notices, after in cases:
        draft = approved(us)
        found = ready(us, draft)
        token = asked(us, found)
        change(draft)
        with failing("refused", told.format(draft.id)):
            publishing.perform(us.stores, us.here, found, token)
        # Nothing stands in its way any more but what did before.
        assert not (us.drafts / f"{draft.id}.sent.json").exists()
        us.told.clear()
        assert us.find(draft).state == after
        assert us.told == [notice.format(draft.id) for notice in notices]
    assert blog.received == []


def test_of_any_number_one_sends_it(us: Office, blog: Server) -> None:
    draft = approved(us)
    found = ready(us, draft)
    token = asked(us, found)
    with drafts.opened(us.stores) as folder:
        assert files.claim(folder, Sending(ROOT, "sending", "send_post", draft.digest, AT), draft.id)
    with failing("refused", f"the draft {draft.id} is out of the queue: somebody else publishes it"):
        publishing.perform(us.stores, us.here, found, token)
    assert (state(us, draft), blog.received) == (("sending", None), [])


@pytest.mark.contract("P31")
@pytest.mark.parametrize(
    ("script", "code", "after"),
    [
        (http_server.answering(b"{}", "422 No"), "http_error", ("approved", None)),
        (lambda peer, request: peer.close(), "unavailable", ("unknown", "unknown")),
    ],
)
def test_what_was_not_sent_may_be_again_and_what_may_have_been_never(
    us: Office, blog: Server, script: http_server.Script, code: str, after: tuple[str, str | None]
) -> None:
    draft = approved(us)
    blog.script = script
    error: Any = published(us, draft)["error"]
    assert (error["code"], state(us, draft), len(blog.received)) == (code, after, 1)
    blog.script = http_server.answering(b"{}")
    if after[0] == "approved":
        assert published(us, draft)["ok"] is True
    else:
        told = "it may have been published by root on 2027-01-15 08:00 UTC through send_post: nobody knows, so look"
        with failing("refused", f"the draft {draft.id} is not sent: {told} whether it went out"):
            ready(us, draft)
        assert len(blog.received) == 1


def test_whoever_is_interrupted_while_it_is_sent_does_not_know(us: Office, blog: Server) -> None:
    def interrupt(peer: Peer, request: Received) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        peer.hold()

    draft = approved(us)
    blog.script = interrupt
    with pytest.raises(KeyboardInterrupt):
        published(us, draft)
    assert (state(us, draft), len(blog.received)) == (("unknown", "unknown"), 1)


def test_an_answer_is_not_lost_over_a_folder_that_is_gone(us: Office, blog: Server) -> None:
    def vanish(peer: Peer, request: Received) -> None:
        shutil.rmtree(us.drafts)
        peer.send(http_server.response(b'{"id": 8}'))

    draft = approved(us)
    blog.script = vanish
    assert published(us, draft)["data"] == {"id": 8}
    (told,) = us.told
    assert told.startswith(f"the draft {draft.id} stays marked as being published: the folder of drafts ")
    known = sent.find(us.stores.db, draft.id)
    assert known is not None and known.state == "published"
