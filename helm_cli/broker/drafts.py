"""How a draft gets into the review queue, what it needs before it goes out, and what a person may say to it."""

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal, NamedTuple

from helm_cli.broker import plugin
from helm_cli.broker.plugin import Team
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.draft import Draft, Filed, Rule, Said, Sending, Sent, Standing, body_fault, standing, title_fault
from helm_cli.model.errors import HelmError
from helm_cli.model.plugin import Publish
from helm_cli.model.wording import meant
from helm_cli.store import approvers, drafts, sent, shared

# Where a plugin publishes nothing, or is not known here, one yes is what a draft waits for (design, section 10).
USUAL: Final = Rule(least=1)

# Of files that anybody may put into the folder, so many are told of.
MOST_TOLD: Final = 5

OWNED: Final = (
    "who asked for it owns the folder of drafts, and could take away what others say there; have root or a user of its"
    " own own that folder"
)

State = Literal["waiting", "approved", "rejected"] | Sent


class Text(NamedTuple):
    """What somebody wants reviewed: as `Draft`."""

    kind: str
    title: str
    body: str
    run: str | None = None


class Outlet(NamedTuple):
    """One way out of a plugin: its tool ("" where it has none), what that needs, and how a draft stands there."""

    via: str
    rule: Rule
    standing: Standing


class Queued(NamedTuple):
    """A draft, how it stands as a whole, and its ways out. `team` is its plugin, None where it is not enabled here.

    `owned` says that who asked for it owns the folder too, and so could take away what others said of it.
    """

    filed: Filed
    state: State
    outlets: tuple[Outlet, ...]
    team: Team | None
    owned: bool


def add(stores: Stores, team: Team, text: Text) -> Draft:
    """File a draft for review. Raises HelmError "usage", "refused" where its kind is not declared, and "state"."""
    _check(team, text)
    draft = Draft(
        id="",
        plugin=team.extension.id,
        kind=text.kind,
        title=text.title,
        body=text.body,
        run=text.run,
        at=drafts.moment(stores.clock()),
        asker=os.geteuid(),
        digest="",
    )
    with opened(stores) as folder:
        filed = drafts.add(folder, draft, user(os.geteuid()))
        if drafts.hidden(folder, filed):
            stores.notice(f"the others of your team cannot read {filed.id}: your umask takes that away; try umask 027")
        if stores.config.drafts_dir is not None and _owned(folder, filed):
            stores.notice(f"nobody can publish {filed.id}: {OWNED}")
    return filed


def every(stores: Stores, workspace: Workspace) -> list[Queued]:
    """The review queue, oldest first. Files that are no drafts are told of. Raises HelmError "state"."""
    teams = {team.extension.id: team for team in plugin.teams(stores, workspace)}
    known = sent.every(stores.db)
    with opened(stores) as folder:
        found, broken = drafts.every(folder)
        owner = shared.owner(folder)
    for told in broken[:MOST_TOLD]:
        stores.notice(f"{told}; it is left out")
    if len(broken) > MOST_TOLD:
        stores.notice(f"{len(broken) - MOST_TOLD} more files that look like drafts are left out")
    return [
        _queued(stores, _with(filed, known.get(filed.draft.id)), teams.get(filed.draft.plugin), owner)
        for filed in found
    ]


def find(stores: Stores, workspace: Workspace, id_: str) -> Queued:
    """One draft. Raises HelmError "refused" where there is none of this id, and "state"."""
    with opened(stores) as folder:
        filed = drafts.find(folder, id_)
        owner = shared.owner(folder)
    if filed is None:
        raise HelmError("refused", f"there is no draft {id_[:20]}; see helm draft list")
    for told in filed.ignored[:MOST_TOLD]:
        stores.notice(f"{told}, so it counts for nothing")
    known = sent.find(stores.db, id_)
    if known is not None and filed.sending is None:
        stores.notice(f"somebody took the mark away that {id_} was sent from here; it is not sent again")
    teams = (team for team in plugin.teams(stores, workspace) if team.extension.id == filed.draft.plugin)
    return _queued(stores, _with(filed, known), next(teams, None), owner)


def check_decidable(queued: Queued, said: Said) -> None:
    """That this user's word counts for a draft that is still in the queue. Raises HelmError "refused"."""
    draft, uid = queued.filed.draft, os.geteuid()
    if queued.filed.sending is not None:
        raise HelmError("refused", f"the draft {draft.id} is out of the queue: {told_sending(queued.filed)}")
    if uid == draft.asker:
        if said == "approve":
            raise HelmError("refused", f"you asked for the draft {draft.id}, so somebody else has to approve it")
        return
    if said == "approve":
        check_unowned(queued)
    if not any(outlet.rule.may(uid, draft) for outlet in queued.outlets):
        raise HelmError(
            "refused",
            f"you are no approver of {draft.plugin}; its team lists you with: helm plugin approvers {draft.plugin}",
        )


def check_unowned(queued: Queued) -> None:
    """Raises HelmError "refused" where who asked for the draft could take away what others say of it."""
    if queued.owned:
        raise HelmError("refused", f"the draft {queued.filed.draft.id} cannot be published: {OWNED}")


def decide(stores: Stores, draft: Draft, said: Said) -> None:
    """File what this user says to exactly the draft that was shown. HelmError "refused" where it changed, "state"."""
    with opened(stores) as folder:
        now = drafts.find(folder, draft.id)
        if now is None or now.draft != draft:
            raise HelmError("refused", f"the draft {draft.id} changed while it was shown; look at it again")
        # The last word of each counts, so this has to be it.
        at = drafts.after((one.at for one in now.decisions if one.uid == os.geteuid()), stores.clock())
        drafts.decide(folder, draft, said, at, user(os.geteuid()))


def told_sending(filed: Filed) -> str:
    """What is known of a draft that somebody sent out, a clause."""
    sending = filed.sending
    if sending is None:
        return "nobody sent it"
    if sending.uid < 0:
        return "a file says so that cannot be read; look whether it went out"
    who = f"by {user(sending.uid)} on {sending.at[:16].replace('T', ' ')} UTC through {sending.via}"
    if sending.state == "published":
        return f"it was published {who}"
    if sending.state == "sending":
        return f"it is being published {who}, or that was cut off: look whether it went out"
    return f"it may have been published {who}: nobody knows, so look whether it went out"


def user(uid: int) -> str:
    """What the system calls a user."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def uid_of(name: str) -> int:
    """The user of this name, or of this number. Raises HelmError "usage" where the system knows none."""
    try:
        return pwd.getpwuid(int(name)).pw_uid if name.isascii() and name.isdigit() else pwd.getpwnam(name).pw_uid
    except (KeyError, OverflowError):
        raise HelmError("usage", f"this machine has no user {name[:60]}; see getent passwd") from None


@contextmanager
def opened(stores: Stores) -> Iterator[int]:
    """The folder of drafts. Raises HelmError "state"."""
    with shared.opened(drafts.folder(stores.home, stores.config)) as folder:
        yield folder


def rule(stores: Stores, team: Team, publish: Publish) -> Rule:
    """What a draft needs to go out this way, with the team's list of who may say so. Raises HelmError "state"."""
    lists = approvers.listed(stores.db, team.approval.workspace, team.extension.id)
    return Rule(publish.least, publish.role, lists.get(publish.role) if publish.role is not None else None)


def _check(team: Team, text: Text) -> None:
    kinds = team.plugin.draft_kinds
    if text.kind not in kinds:
        close = meant(text.kind, kinds)
        has = f"it declares {', '.join(kinds)}" if kinds else "it declares none"
        hint = f"did you mean {close}?" if close else has
        raise HelmError("refused", f"{team.extension.id} declares no drafts of the kind {text.kind[:40]}; {hint}")
    if fault := title_fault(text.title):
        raise HelmError("usage", f"the title {fault}")
    if fault := body_fault(text.body):
        raise HelmError("usage", f"the text of a draft {fault}")


def _owned(folder: int, draft: Draft) -> bool:
    return _owns(shared.owner(folder), draft)


def _owns(owner: int, draft: Draft) -> bool:
    # Root may do everything everywhere.
    return owner == draft.asker != 0


def _with(filed: Filed, known: Sending | None) -> Filed:
    """The draft with what this home knows of its sending, where its folder says nothing of that."""
    return filed if filed.sending is not None else filed._replace(sending=known)


def _queued(stores: Stores, filed: Filed, team: Team | None, owner: int) -> Queued:
    rules = [(publish.via, rule(stores, team, publish)) for publish in team.plugin.publishes] if team else []
    outlets = tuple(Outlet(via, needed, standing(filed, needed)) for via, needed in rules or [("", USUAL)])
    return Queued(filed, _state(filed, outlets), outlets, team, _owns(owner, filed.draft))


def _state(filed: Filed, outlets: tuple[Outlet, ...]) -> State:
    if filed.sending is not None:
        return filed.sending.state
    if any(outlet.standing.ready for outlet in outlets):
        return "approved"
    return "rejected" if any(outlet.standing.rejected for outlet in outlets) else "waiting"
