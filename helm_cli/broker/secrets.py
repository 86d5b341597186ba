"""When a stored secret may be used: in the home it was entered in, and for the target it was entered for alone."""

from contextlib import suppress
from typing import Final, NamedTuple

from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import digest
from helm_cli.model.profile import Brain, Place, Profile, Root, Service, Target
from helm_cli.store import database, targets

# A stored secret carries its home and its target (design, section 3), `HOME:TARGET SECRET`: homes share one keychain,
# where the item of a profile of the same name is the same.
_AFTER_HOME: Final = ":"
_AFTER_TARGET: Final = " "


def read(stores: Stores, target: Target) -> str | None:
    """The secret that a call on this target is sent with, None where it has none.

    Raises HelmError "not_configured" where the profile's target is no longer the one the secret was entered for
    (the secret is not read then) or the store has none that was entered in this home, and "unavailable" where the
    store that has it does not answer.
    """
    if isinstance(target, Root | Brain) or target.credential is None:
        return None
    return item(stores, _item(target, target.credential))


def write(stores: Stores, profile: Profile, secret: str) -> None:
    """Keep the secret of a profile in the store that the profile records, bound to the profile's target."""
    if profile.credential is None:
        raise HelmError("internal", f"{profile.name} records no credential store")
    keep(stores, _item(profile, profile.credential), secret)
    if isinstance(profile, Service):
        # A client secret entered anew may go to another token URL than the former one did (`signin`). Where that
        # cannot be written down, it goes to the former one alone.
        with suppress(HelmError):
            targets.forget(stores.db, profile.item("token-url"))


def remove(stores: Stores, profile: Profile) -> None:
    """Take the secret of a profile out of its store; says so where the store does not answer."""
    drop(stores, profile.account, profile.credential)


def entered(stores: Stores, profile: Profile) -> bool:
    """Whether the secret of a profile was entered in this home for the target that it has; no store is asked."""
    if profile.credential is None:
        return False
    return targets.target(stores.db, profile.account) == profile.secret_target_digest()


def again(profile: Profile) -> str:
    """What the user does to enter the secret of a profile anew, as the end of a sentence."""
    return f"enter its secret again with: {entering(profile)}"


def entering(profile: Profile) -> str:
    """The command that does."""
    field = profile.account.rpartition("/")[2]
    return f"helm {profile.group} edit {profile.name} --ask-{field} (or --{field}-stdin)"


class Item(NamedTuple):
    """One secret of the profile `name`: its account, the digest of the target it is bound to, the store it is in.

    `again` is what the user does where it cannot be used, as the end of a sentence. `owners` are the ids of what else
    it is bound to: it was kept with one of them, and is kept with the first.
    """

    name: str
    account: str
    target: str
    place: Place
    again: str
    owners: tuple[str, ...] = ()


def item(stores: Stores, wanted: Item) -> str:
    """One secret, if it was kept in this home and for this very target. Raises as `read` does."""
    changed = HelmError("not_configured", f"the target of {wanted.name} changed; {wanted.again}")
    with database.reading(stores.db):
        known, this_home = targets.target(stores.db, wanted.account), targets.home(stores.db)
    if known is None:
        raise HelmError("not_configured", f"the secret of {wanted.name} is not in this home yet; {wanted.again}")
    if known != wanted.target:
        raise changed
    kept = _find(stores, wanted.account, wanted.place)
    if kept is None:
        raise HelmError(
            "not_configured", f"the secret of {wanted.name} is gone from {_called(wanted.place)}; {wanted.again}"
        )
    mark, _, secret = kept.partition(_AFTER_TARGET)
    home, _, bound = mark.partition(_AFTER_HOME)
    if home != this_home:
        raise HelmError(
            "not_configured",
            f"what {_called(wanted.place)} has as the secret of {wanted.name} was entered in another home of helm's;"
            f" {wanted.again}",
        )
    if bound not in _bounds(wanted):
        raise changed
    return secret


def keep(stores: Stores, wanted: Item, secret: str) -> None:
    """Keep one secret, bound to this home and to its target; says so where it takes the place of another home's.

    Killed in between, the account has the former secret or the new one for the same target, and no usable secret
    rather than one for another target.
    """
    from helm_cli.store import credentials

    foreign = _foreign(stores, wanted.account, wanted.place)
    former = targets.target(stores.db, wanted.account)
    if former != wanted.target:
        # Whatever the store has by now says itself what it is for.
        targets.remember(stores.db, wanted.account, wanted.target)
    mark = f"{targets.home(stores.db)}{_AFTER_HOME}{_bounds(wanted)[0]}"
    try:
        credentials.put(
            stores.home,
            wanted.account,
            mark + _AFTER_TARGET + secret,
            wanted.place,
            terminal=stores.terminal,
            notice=stores.notice,
        )
    except (HelmError, KeyboardInterrupt):
        with suppress(HelmError):
            _restore(stores, wanted, former)
        raise
    if foreign:
        stores.notice(
            f"the keychain had {wanted.account} of another home of helm's; it is replaced, and must be entered again"
            " there"
        )


def drop(stores: Stores, account: str, place: Place | None, *, moved: bool = False) -> None:
    """Take one secret out of its store, `moved` where it is in the other one now; says so where the store is silent.

    What another home keeps under the same name in a keychain stays there. Raises HelmError "state" where the file
    cannot be written: then it still counts.
    """
    if place is not None:
        _delete(stores, account, place, moved=moved)
    if not moved:
        # What a secret was for that is gone does no harm.
        with suppress(HelmError):
            targets.forget(stores.db, account)


def _delete(stores: Stores, account: str, place: Place, *, moved: bool) -> None:
    from helm_cli.store import credentials

    try:
        if _foreign(stores, account, place):
            stores.notice(f"{account} in the keychain is of another home of helm's, so it stays there")
            return
        credentials.delete(stores.home, account, place, terminal=stores.terminal, notice=stores.notice)
    except HelmError as error:
        if error.code == "state" and not moved:
            raise
        stores.notice(f"the secret {account} is still in the {place}: {error.message}")


def _restore(stores: Stores, wanted: Item, former: str | None) -> None:
    if former is None:
        targets.forget(stores.db, wanted.account)
    else:
        targets.remember(stores.db, wanted.account, former)


def _item(profile: Profile, place: Place) -> Item:
    return Item(profile.name, profile.account, profile.secret_target_digest(), place, again(profile))


def _bounds(wanted: Item) -> list[str]:
    """What the store may say that the secret is bound to."""
    return [digest([wanted.target, owner]) for owner in wanted.owners] or [wanted.target]


def _foreign(stores: Stores, account: str, place: Place) -> bool:
    """Whether a keychain has a secret of another home under this account. The file is the home's own."""
    kept = _find(stores, account, place) if place == "keychain" else None
    return kept is not None and kept.partition(_AFTER_HOME)[0] != targets.home(stores.db)


def _find(stores: Stores, account: str, place: Place) -> str | None:
    # A call on a profile without a secret never pays for the credential store.
    from helm_cli.store import credentials

    return credentials.find(stores.home, account, place, terminal=stores.terminal, notice=stores.notice)


def _called(place: Place) -> str:
    return "the keychain" if place == "keychain" else "credentials.json"
