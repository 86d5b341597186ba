"""When a stored secret may be used: only for the target that it was entered for (design, section 3)."""

from typing import Final, NamedTuple

from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Brain, Place, Profile, Root, Service, Target
from helm_cli.store import targets

# A stored secret carries its target too: two homes share one keychain, where the item of a profile of the same name
# is the same, and what one home keeps there must not be sent to the other's target.
_AFTER_TARGET: Final = " "


def read(stores: Stores, target: Target) -> str | None:
    """The secret that a call on this target is sent with, None where it has none.

    Raises HelmError "not_configured" where the profile's target is no longer the one the secret was entered for
    (the secret is not read then), and "unavailable" where the store that has it does not answer.
    """
    if isinstance(target, Root | Brain) or target.credential is None:
        return None
    return item(stores, Item(target.name, target.account, target.secret_target_digest(), target.credential))


def write(stores: Stores, profile: Profile, secret: str) -> None:
    """Keep the secret of a profile in the store that the profile records, bound to the profile's target."""
    if profile.credential is None:
        raise HelmError("internal", f"{profile.name} records no credential store")
    keep(stores, Item(profile.name, profile.account, profile.secret_target_digest(), profile.credential), secret)
    if isinstance(profile, Service):
        # A client secret entered anew may go to another token URL than the former one did (`signin`).
        targets.forget(stores.db, profile.item("token-url"))


def remove(stores: Stores, profile: Profile) -> None:
    """Take the secret of a profile out of its store; says so where the store does not answer."""
    drop(stores, profile.account, profile.credential)


class Item(NamedTuple):
    """One secret of the profile `name`: its account, the digest of the target it is bound to, the store it is in."""

    name: str
    account: str
    target: str
    place: Place


def item(stores: Stores, wanted: Item) -> str:
    """One secret, if it was kept for this very target. Raises as `read` does."""
    changed = HelmError("not_configured", f"the target of {wanted.name} changed; enter its secret again")
    if targets.target(stores.db, wanted.account) != wanted.target:
        raise changed
    # A call on a profile without a secret never pays for the credential store.
    from helm_cli.store import credentials

    kept = credentials.get(stores.home, wanted.account, wanted.place, terminal=stores.terminal, notice=stores.notice)
    target, _, secret = kept.partition(_AFTER_TARGET)
    if target != wanted.target:
        raise changed
    return secret


def keep(stores: Stores, wanted: Item, secret: str) -> None:
    """Keep one secret, bound to its target.

    Killed in between, the account has the former secret or the new one for the same target, and no usable secret
    rather than one for another target.
    """
    from helm_cli.store import credentials

    same = targets.target(stores.db, wanted.account) == wanted.target
    if not same:
        targets.forget(stores.db, wanted.account)
    credentials.put(
        stores.home,
        wanted.account,
        wanted.target + _AFTER_TARGET + secret,
        wanted.place,
        terminal=stores.terminal,
        notice=stores.notice,
    )
    if not same:
        targets.remember(stores.db, wanted.account, wanted.target)


def drop(stores: Stores, account: str, place: Place | None, *, moved: bool = False) -> None:
    """Take one secret out of its store, `moved` where it is in the other one now; says so where the store is silent."""
    if not moved:
        targets.forget(stores.db, account)
    if place is None:
        return
    from helm_cli.store import credentials

    try:
        credentials.delete(stores.home, account, place, terminal=stores.terminal, notice=stores.notice)
    except HelmError as error:
        stores.notice(f"the secret {account} is still in the {place}: {error.message}")
