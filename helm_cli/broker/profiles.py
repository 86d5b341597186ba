"""How a profile and its secret are added, changed and removed together, so that no kill leaves a wrong pair."""

from typing import TypeVar

from helm_cli.broker import secrets
from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database, Profile, Server, Service
from helm_cli.store import profiles

Kept = TypeVar("Kept", Database, Service, Server)


def add(stores: Stores, profile: Kept, secret: str | None, *, force: bool) -> Kept:
    """Record a profile and keep its secret; gives the profile as recorded, with the store that has the secret.

    The profile's file is created first, so that of two adds one wins; killed before its secret is kept, the
    profile says that its secret must be entered again. Raises HelmError "conflict" where one of that name exists
    and `force` is not given, and "unavailable" or "state" where the secret cannot be kept: then nothing is added.
    """
    profiles.check_name(profile.name)
    old = _former(stores, profile.group, profile.name) if force else None
    if old is not None:
        if secret is None:
            secrets.remove(stores, old)
            old = old._replace(credential=None)
        return change(stores, old, profile, secret)
    recorded = _placed(stores, profile, secret)
    if not profiles.create(stores.home, recorded):
        raise HelmError(
            "conflict",
            f"the {profile.group} profile {profile.name} exists; change it with edit or replace it with --force",
        )
    try:
        if secret is not None:
            secrets.write(stores, recorded, secret)
    except HelmError:
        profiles.remove(stores.home, profile.group, profile.name)
        raise
    return recorded


def change(stores: Stores, old: Profile, new: Kept, secret: str | None) -> Kept:
    """Replace a profile; a secret that is not given anew stays, usable only while the target is the same."""
    if secret is None:
        recorded = new._replace(credential=old.credential)
        profiles.replace(stores.home, recorded)
        if recorded.credential is not None and recorded.secret_target_digest() != old.secret_target_digest():
            stores.notice(f"the target of {new.name} changed; enter its secret again before you use it")
        return recorded
    recorded = _placed(stores, new, secret)
    if old.credential not in (None, recorded.credential):
        secrets.remove(stores, old)
    profiles.replace(stores.home, recorded)
    secrets.write(stores, recorded, secret)
    return recorded


def remove(stores: Stores, group: str, name: str) -> None:
    """Forget a profile and its secret. Raises HelmError "not_configured" where there is none of that name."""
    if not profiles.exists(stores.home, group, name):
        profiles.load(stores.home, group, name)
    profile = _former(stores, group, name)
    if profile is not None:
        secrets.remove(stores, profile)
        profiles.remove(stores.home, group, name)


def _former(stores: Stores, group: str, name: str) -> Profile | None:
    """The profile that is to go, None for none; one that cannot be understood is removed here."""
    if not profiles.exists(stores.home, group, name):
        return None
    try:
        return profiles.load(stores.home, group, name)
    except HelmError as error:
        if error.code != "state":
            raise
    # Where its secret is, the file cannot say. It is bound to its target, so it serves nobody else.
    profiles.remove(stores.home, group, name)
    stores.notice(
        f"the file of {name} could not be understood; if it had a password in a keychain, that is still there"
    )
    return None


def _placed(stores: Stores, profile: Kept, secret: str | None) -> Kept:
    if secret is None:
        return profile._replace(credential=None)
    from helm_cli.store import credentials

    return profile._replace(credential=credentials.choose(stores.home, stores.notice, terminal=stores.terminal))
