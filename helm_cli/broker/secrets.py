"""When a stored secret may be used: only for the target that it was entered for (design, section 3)."""

from typing import Final

from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Profile
from helm_cli.store import targets

# A stored secret carries its target too: two homes share one keychain, where the item of a profile of the same name
# is the same, and what one home keeps there must not be sent to the other's target.
_AFTER_TARGET: Final = " "


def read(stores: Stores, profile: Profile) -> str | None:
    """The secret of a profile, None where it has none.

    Raises HelmError "not_configured" where the profile's target is no longer the one the secret was entered for
    (the secret is not read then), and "unavailable" where the store that has it does not answer.
    """
    if profile.credential is None:
        return None
    changed = HelmError("not_configured", f"the target of {profile.name} changed; enter its secret again")
    if targets.target(stores.db, profile.account) != profile.secret_target_digest():
        raise changed
    # A call on a profile without a secret never pays for the credential store.
    from helm_cli.store import credentials

    kept = credentials.get(
        stores.home, profile.account, profile.credential, terminal=stores.terminal, notice=stores.notice
    )
    target, _, secret = kept.partition(_AFTER_TARGET)
    if target != profile.secret_target_digest():
        raise changed
    return secret


def write(stores: Stores, profile: Profile, secret: str) -> None:
    """Keep the secret of a profile in the store that the profile records, bound to the profile's target.

    Killed in between, the profile has no usable secret rather than one for another target.
    """
    from helm_cli.store import credentials

    if profile.credential is None:
        raise HelmError("internal", f"{profile.name} records no credential store")
    targets.forget(stores.db, profile.account)
    credentials.put(
        stores.home,
        profile.account,
        profile.secret_target_digest() + _AFTER_TARGET + secret,
        profile.credential,
        terminal=stores.terminal,
        notice=stores.notice,
    )
    targets.remember(stores.db, profile.account, profile.secret_target_digest())


def remove(stores: Stores, profile: Profile) -> None:
    """Take the secret of a profile out of its store; says so where the store does not answer."""
    from helm_cli.store import credentials

    targets.forget(stores.db, profile.account)
    if profile.credential is None:
        return
    try:
        credentials.delete(
            stores.home, profile.account, profile.credential, terminal=stores.terminal, notice=stores.notice
        )
    except HelmError as error:
        stores.notice(f"the secret {profile.account} is still in the {profile.credential}: {error.message}")
