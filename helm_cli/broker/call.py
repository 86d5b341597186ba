"""The one pipeline, with two verbs: a request is described, then performed, step by step."""

from contextlib import suppress
from typing import Final, NamedTuple

from helm_cli import drivers, kinds
from helm_cli.broker import attention, authorization, declared, ledger, targets
from helm_cli.broker.request import Request as Request
from helm_cli.broker.stores import Stores
from helm_cli.model.envelope import Envelope, failure, success
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.plan import Binding, Plan, Revision
from helm_cli.model.profile import Target
from helm_cli.model.wording import meant
from helm_cli.store import approvals, confirmations, database

# Of the names of a connection's operations, in a hint.
_MOST_TOLD: Final = 20


class Prepared(NamedTuple):
    """A request that was found declared, approved and permitted, with the plan that came of it."""

    plan: Plan
    binding: Binding
    target: Target


class Asked(NamedTuple):
    """A write that waits for its confirmation: its plan, the id a person sees, the one-time token, their end."""

    plan: Plan
    id: str
    token: str
    expires: float
    entry: int


def describe(stores: Stores, request: Request) -> Prepared:
    """Steps 1 to 4: everything that can be known of a call without sending anything.

    Raises HelmError "refused", "not_configured" or "state", and where the other side has to be asked what a write would
    send, "unavailable" and "timeout".
    """
    with database.reading(stores.db):
        approval, extension, connection = declared.find(
            stores, request.workspace, request.connection, request.extension
        )
        stamps = approvals.stamps(stores.db, approval.workspace, approval.extension)
    declared.check_approved(stores, approval, stamps)
    if extension.plugin is not None and not request.draft:
        # Other extensions have no budget. What people approved goes out all the same: that uses no tokens.
        from helm_cli.broker import budget, plugin

        budget.check(stores, plugin.Team(approval, extension, extension.plugin))
    operation = permitted(extension, connection, request.operation)
    if not request.draft:
        check_callable(connection, operation)
    if connection.kind == "tools":
        # Other calls do not pay for it.
        from helm_cli.broker import bindings

        connection = bindings.reach(extension, connection, operation)
    kind = kinds.kind(connection.kind)
    target = targets.find(stores, request.workspace, connection, request.arguments)
    authorization.check(stores, connection, target)
    plan = kind.plan(extension, connection, operation, request.arguments, target)
    if plan.open:
        driver = drivers.driver(plan.driver)
        plan = driver.complete(plan, target, authorization.secret(stores, target), driver.LIMITS)
    binding = Binding(
        workspace=request.workspace.path,
        extension=extension.id,
        content=approval.digest,
        connection=connection.id,
        operation=operation.name,
        target=target.target_digest(),
        request=plan.digest(),
    )
    return Prepared(plan, binding, target)


def ask(stores: Stores, request: Request, *, listed: bool, awaited: bool = False) -> Asked:
    """Describe a write and issue its one-time token; `listed` leaves it for `helm confirm`, `awaited` keeps its answer.

    The call is counted against the rate limit here, not again when it is performed. Raises what `describe`
    raises, and "rate_limited"; the history tells of each.
    """
    asker = request.asked_by or ledger.caller()
    with ledger.refusals(stores, request):
        prepared = describe(stores, request)
    entry, prepared = _admitted(stores, request, prepared)
    now = stores.clock()
    with ledger.failures(stores, entry):
        issued = confirmations.issue(
            stores.db,
            "write",
            prepared.binding,
            {"arguments": request.arguments, "entry": entry},
            now,
            listed=listed,
            asked_by=asker,
            awaited=awaited,
        )
    ledger.asked(stores, entry)
    if listed:
        plan = prepared.plan
        attention.call(stores, issued.id, f"{plan.connection} {plan.operation} of {plan.extension}")
    return Asked(prepared.plan, issued.id, issued.token, now + confirmations.VALID_SECONDS, entry)


def preview(stores: Stores, prepared: Prepared) -> tuple[Revision, ...]:
    """Which texts a write would replace, and by what, as a person is to see it; empty where no driver can tell.

    Raises HelmError "conflict" where what stands there is no longer what the write is meant for.
    """
    if not prepared.plan.previewed:
        return ()
    secret = authorization.secret(stores, prepared.target)
    driver = drivers.driver(prepared.plan.driver)
    return driver.preview(prepared.plan, prepared.target, secret, driver.LIMITS)


def perform(
    stores: Stores,
    request: Request,
    token: str | None = None,
    entry: int | None = None,
    prepared: Prepared | None = None,
) -> Envelope:
    """All the steps: the request is sent, and its answer comes back as an envelope; a refusal does too.

    A write needs the token that `ask` gave, or another of the same entry, unused and bound to exactly this
    request: else nothing is sent. `entry` is the line of the history that `ask` began. A read that was
    described a moment ago may be given as `prepared`; a write is always described anew.
    """
    try:
        with ledger.refusals(stores, request, begun=entry is not None):
            if prepared is None or prepared.plan.effect != "read":
                prepared = describe(stores, request)
            if prepared.plan.effect != "read":
                return _confirmed(stores, request, prepared, token, entry)
        entry, prepared = _admitted(stores, request, prepared)
    except HelmError as error:
        return failure(error)
    with ledger.ended(stores, request, prepared.binding.extension, entry, effect="read") as ending:
        ending.envelope = _sent(stores, prepared)
    return ending.envelope


def refused(stores: Stores, request: Request, error: HelmError) -> Envelope:
    """The envelope of a request that came to nothing before it was asked for or performed; the history tells of it."""
    with suppress(HelmError), ledger.refusals(stores, request):
        raise error
    return failure(error)


def permitted(extension: Extension, connection: Connection, name: str) -> Operation:
    """The operation of this name, if the connection lists it and its effect is allowed. Raises "refused"."""
    operation = connection.operation(name)
    if operation is None:
        raise HelmError("refused", f"{connection.id} declares no operation {name}; {_hint(connection, name)}")
    if operation.effect != "read" and not extension.write_permitted:
        raise HelmError(
            "refused", f"{extension.id} lacks permissions.write, so {connection.id} {name} cannot be called; review it"
        )
    return operation


def _hint(connection: Connection, name: str) -> str:
    if connection.spec.get("globs"):
        from helm_cli.broker import expansion

        if expansion.lets_in(connection, name):
            return (
                "a glob of the plugin would let it in, but no person has seen it at a review where its server could be"
                " asked; review the plugin again in a terminal"
            )
    known = [operation.name for operation in connection.operations]
    close = meant(name, known)
    more = f" and {len(known) - _MOST_TOLD} more" if len(known) > _MOST_TOLD else ""
    return f"did you mean {close}?" if close else f"it has {', '.join(known[:_MOST_TOLD]) or 'none'}{more}"


def check_callable(connection: Connection, operation: Operation) -> None:
    """That a call may be made without a draft: a named consequential tool only publishes. Raises "refused"."""
    if only_publishes(connection, operation):
        raise HelmError(
            "refused",
            f"{operation.name} is consequential, so it runs only for an approved draft: helm draft publish",
        )


def only_publishes(connection: Connection, operation: Operation) -> bool:
    """Whether this is a tool that nothing but `helm draft publish` may run (design, section 10)."""
    return connection.kind == "tools" and operation.spec.get("risk") == "consequential"


def _admitted(stores: Stores, request: Request, prepared: Prepared) -> tuple[int, Prepared]:
    """The line of a call that has its place in the rate window, and the request as it stands then."""
    entry, waited = ledger.begin(stores, request, prepared.binding.extension)
    if waited:
        # What was approved and configured before the wait may not be so any more.
        with ledger.failures(stores, entry):
            prepared = describe(stores, request)
    return entry, prepared


def _confirmed(stores: Stores, request: Request, prepared: Prepared, token: str | None, entry: int | None) -> Envelope:
    if token is None:
        raise HelmError("confirmation_required", f"{request.connection} {request.operation} needs a confirmation")
    waiting = confirmations.redeem(stores.db, token, prepared.binding, stores.clock())
    if entry is not None:
        ledger.end(stores, entry, "running")
    with ledger.ended(stores, request, prepared.binding.extension, entry) as ending:
        try:
            ending.envelope = _sent(stores, prepared)
        except KeyboardInterrupt:
            stores.notice(f"interrupted while {request.operation} was being sent; look before you repeat it")
            raise
        finally:
            ledger.settle(stores, waiting, ending.envelope or failure(_LOST))
    return ending.envelope


def _sent(stores: Stores, prepared: Prepared) -> Envelope:
    try:
        return send(stores, prepared)
    except HelmError as error:
        return failure(error)


def send(stores: Stores, prepared: Prepared, limits: drivers.Limits | None = None) -> Envelope:
    """What came of exactly the prepared request; the only way to a driver, and the only one with a secret.

    `limits` are the driver's own where none are given. Raises HelmError for everything but an answer.
    """
    with authorization.authorized(stores, prepared.target) as secret:
        driver = drivers.driver(prepared.plan.driver)
        answer = driver.run(prepared.plan, prepared.target, secret, limits or driver.LIMITS)
    return answer.envelope if isinstance(answer, drivers.Answer) else success(answer)


_LOST = HelmError(
    "unavailable",
    "the process that confirmed this write ended while it sent it; look before you repeat it",
    {"applied": "unknown"},
)
