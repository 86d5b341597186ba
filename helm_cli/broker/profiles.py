"""How a profile and its secret are added, changed and removed together, so that no kill leaves a wrong pair."""

from contextlib import suppress
from typing import TypeVar

from helm_cli.broker import secrets
from helm_cli.broker.stores import Stores
from helm_cli.drivers import interrupts
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database, Profile, Server, Service
from helm_cli.store import profiles
from helm_cli.store.groups import GROUPS

Kept = TypeVar("Kept", Database, Service, Server, Profile)


def check(stores: Stores, profile: Profile, *, force: bool) -> None:
    """That a profile can be added, or with `force` replaced, before anybody is asked for its secret.

    Raises HelmError "usage" for what is not possible, and "conflict" where there is one of that name.
    """
    profiles.check_name(profile.name)
    wrong = GROUPS[profile.group].fault(profile)
    if wrong:
        raise HelmError("usage", f"the profile {profile.name} is not possible: {wrong}")
    if not force and profiles.exists(stores.home, profile.group, profile.name):
        raise _taken(profile)


def add(stores: Stores, profile: Kept, secret: str | None, *, force: bool) -> Kept:
    """Record a profile and keep its secret, None or "" for none; gives it as recorded, with the store of its secret.

    The profile's file is created first, so that of two adds one wins; killed before its secret is kept, the
    profile says that its secret must be entered again. Raises HelmError "conflict" where one of that name exists
    and `force` is not given, and "unavailable" or "state" where the secret cannot be kept: then nothing is added.
    """
    check(stores, profile, force=force)
    old = _former(stores, profile.group, profile.name) if force else None
    if old is not None:
        # Repeated as it was, an add does not sign anybody out.
        if profile.secret_target_digest() != old.secret_target_digest():
            _end_sign_in(stores, old.group, old.name)
        return change(stores, old, profile, secret or "")
    recorded = _placed(stores, profile, secret)
    created = False
    try:
        with interrupts.held_back():
            created = profiles.create(stores.home, recorded)
        if not created:
            raise _taken(profile)
        if secret:
            secrets.write(stores, recorded, secret)
    except (HelmError, KeyboardInterrupt):
        if created:
            profiles.remove(stores.home, profile.group, profile.name)
        raise
    return recorded


def add_lacking(stores: Stores, profile: Kept, *, force: bool) -> Kept:
    """Record a profile whose secret is entered later; until then each call says so. Raises as `add`.

    The secret of the one that it replaces stays, usable only while the target is the same.
    """
    from helm_cli.store import credentials

    check(stores, profile, force=True)
    recorded = profile._replace(
        credential=credentials.choose(stores.home, credentials.silent, terminal=stores.terminal)
    )
    old = _former(stores, profile.group, profile.name) if force else None
    if old is not None:
        if profile.secret_target_digest() != old.secret_target_digest():
            _end_sign_in(stores, old.group, old.name)
        if old.account == profile.account and old.credential is not None:
            return change(stores, old, profile, None)
        with profiles.replacing(stores.home, recorded):
            secrets.remove(stores, old)
    elif not profiles.create(stores.home, recorded):
        raise _taken(profile)
    return recorded


def change(stores: Stores, old: Profile, new: Kept, secret: str | None) -> Kept:
    """Replace a profile; a secret that is not given anew (None) stays, usable only while the target is the same.

    An empty one takes the former away.
    """
    if secret is None:
        recorded = new._replace(credential=old.credential)
        profiles.replace(stores.home, recorded)
        if recorded.credential is not None and recorded.secret_target_digest() != old.secret_target_digest():
            stores.notice(f"the target of {new.name} changed; before you use it, {secrets.again(recorded)}")
        return recorded
    recorded = _placed(stores, new, secret)
    # A disk that is full fails the first of it, when nothing of the former is given up yet.
    with profiles.replacing(stores.home, recorded):
        if secret:
            secrets.write(stores, recorded, secret)
        if old.credential is not None and (old.credential, old.account) != (recorded.credential, recorded.account):
            secrets.remove(stores, old)
    return recorded


def remove(stores: Stores, group: str, name: str) -> None:
    """Forget a profile, its secret and its sign-in. Raises HelmError "not_configured" where there is none."""
    if not profiles.exists(stores.home, group, name):
        profiles.load(stores.home, group, name)
    profile = _former(stores, group, name)
    _end_sign_in(stores, group, name)
    if profile is not None:
        secrets.remove(stores, profile)
        profiles.remove(stores.home, group, name)


def _taken(profile: Profile) -> HelmError:
    told = f"the {profile.group} profile {profile.name} exists; change it with edit or replace it with --force"
    return HelmError("conflict", told)


def _end_sign_in(stores: Stores, group: str, name: str) -> None:
    """Whatever the file says by now, or whether it can be understood."""
    if group == "service":
        # Other profiles have none, and do not pay for what knows of them.
        from helm_cli.broker import signin

        signin.drop(stores, Service(name, ""))


def _former(stores: Stores, group: str, name: str) -> Profile | None:
    """The profile that is to go, None for none; one that cannot be understood is removed here."""
    if not profiles.exists(stores.home, group, name):
        return None
    # It may also be a link that leads nowhere.
    with suppress(HelmError):
        return profiles.load(stores.home, group, name)
    # Where its secret is, the file cannot say. It is bound to its target, so it serves nobody else.
    profiles.remove(stores.home, group, name)
    stores.notice(f"the file of {name} could not be understood; if it had a secret in a keychain, that is still there")
    return None


def _placed(stores: Stores, profile: Kept, secret: str | None) -> Kept:
    if not secret:
        return profile._replace(credential=None)
    from helm_cli.store import credentials

    return profile._replace(credential=credentials.choose(stores.home, stores.notice, terminal=stores.terminal))
