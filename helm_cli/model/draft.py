"""What waits in a team's review queue: a draft, what people said to it, and whether it went out."""

from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple

from helm_cli.model.wording import one_line

Said = Literal["approve", "reject"]
# "sending" stands while it is sent, and for good where that was cut off: then nobody knows whether it went out.
Sent = Literal["sending", "unknown", "published"]
STATES: Final[tuple[Sent, ...]] = ("sending", "unknown", "published")

MOST_BODY_BYTES: Final = 256 * 1024
MOST_TITLE_CHARACTERS: Final = 240


class Draft(NamedTuple):
    """One draft as its file has it. `asker` is the uid of the file's owner, who asked for it.

    `plugin` is the id of the plugin, `kind` one of DRAFT_KINDS, `run` the run that it came of, None for none. `at` is
    when, an ISO time in UTC. `digest` is `sha256:` and the sum of the file's bytes: what people say yes to.
    """

    id: str
    plugin: str
    kind: str
    title: str
    body: str
    run: str | None
    at: str
    asker: int
    digest: str


class Decision(NamedTuple):
    """What one person said to a draft of this digest, and when (an ISO time in UTC). `uid` owns the file of it."""

    uid: int
    said: Said
    digest: str
    at: str


class Sending(NamedTuple):
    """That a draft of this digest goes out, or went, through the tool `via`, and since when. `uid` owns the file of it.

    It is -1 where that file cannot be read.
    """

    uid: int
    state: Sent
    via: str
    digest: str
    at: str


class Filed(NamedTuple):
    """A draft with all that its folder says of it; `ignored` says why files that claim to do so count for nothing."""

    draft: Draft
    decisions: tuple[Decision, ...]
    sending: Sending | None
    ignored: tuple[str, ...] = ()


class Rule(NamedTuple):
    """What a draft needs before it goes out: so many different people, of `listed` (uids) where that is a list."""

    least: int
    role: str | None = None
    listed: tuple[int, ...] | None = None

    def may(self, uid: int, draft: Draft) -> bool:
        """Whether this person's yes counts: never of the one who asked (contract, approval)."""
        return uid != draft.asker and (self.listed is None or uid in self.listed)


class Standing(NamedTuple):
    """How a draft stands under a rule: by uid, who said yes and who said no, in the order in which they did."""

    approved: tuple[int, ...]
    rejected: tuple[int, ...]
    least: int

    @property
    def ready(self) -> bool:
        """Whether it may go out: enough different people said yes, and nobody whose word counts says no."""
        return len(self.approved) >= self.least and not self.rejected


def standing(filed: Filed, rule: Rule) -> Standing:
    """What people said to exactly this content: the last word of each. Who asked for it may only take it back."""
    draft = filed.draft
    last = {one.uid: one for one in sorted(filed.decisions, key=_order) if one.digest == draft.digest}
    words = sorted(last.values(), key=_order)
    return Standing(
        approved=_who(word for word in words if word.said == "approve" and rule.may(word.uid, draft)),
        rejected=_who(
            word for word in words if word.said == "reject" and (word.uid == draft.asker or rule.may(word.uid, draft))
        ),
        least=rule.least,
    )


def title_fault(title: Any) -> str | None:
    """Why this can be no title, a clause; None where it can."""
    if not isinstance(title, str) or not title.strip() or not one_line(title):
        return "must be one line of text"
    if len(title) > MOST_TITLE_CHARACTERS:
        return f"must have at most {MOST_TITLE_CHARACTERS} characters"
    return None


def body_fault(body: Any) -> str | None:
    """Why this can be no draft's text, a clause; None where it can."""
    if not isinstance(body, str) or not body.strip():
        return "must not be empty"
    if len(body.encode("utf-8", "surrogatepass")) > MOST_BODY_BYTES:
        return f"must have at most {MOST_BODY_BYTES // 1024} KiB"
    return None


def _order(decision: Decision) -> tuple[str, bool]:
    # Of two at the same moment, the no counts.
    return decision.at, decision.said == "reject"


def _who(decisions: Iterable[Decision]) -> tuple[int, ...]:
    return tuple(decision.uid for decision in decisions)
