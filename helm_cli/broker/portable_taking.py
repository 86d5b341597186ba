"""How each profile of an export stands to what this home has, and how it is taken over, whole or not at all."""

from typing import Literal, NamedTuple

from helm_cli.broker import profiles as broker
from helm_cli.broker import secrets
from helm_cli.broker.portable import Entry
from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Profile
from helm_cli.store import profiles

# "lacking" is the same but for its secret, which was not entered here; "other" is another of its name, or a broken one.
State = Literal["new", "same", "lacking", "other"]


class Standing(NamedTuple):
    """A profile of an export, and the one that this home has under its name, None where it has none that is sound."""

    entry: Entry
    state: State
    former: Profile | None = None


def standing(stores: Stores, entry: Entry) -> Standing:
    """How it stands now. Raises HelmError "state" where this home cannot be read."""
    group, name = entry.profile.group, entry.profile.name
    if not profiles.exists(stores.home, group, name):
        return Standing(entry, "new")
    try:
        former = profiles.load(stores.home, group, name)
    except HelmError:
        return Standing(entry, "other")
    has = former.credential is not None
    if former._replace(credential=None) != entry.profile or (has and entry.secret is None):
        return Standing(entry, "other", former)
    lacking = entry.secret is not None and not secrets.entered(stores, former)
    return Standing(entry, "lacking" if lacking else "same", former)


def has_already(stores: Stores, found: Standing, secret: str) -> bool:
    """Whether this home has the profile with this very secret. Raises as `secrets.read`."""
    return found.state == "same" and found.former is not None and secrets.read(stores, found.former) == secret


def take(stores: Stores, wanted: Standing, secret: str) -> Profile:
    """Record the profile, with its secret where one is given ("" is none); gives it as recorded.

    One that needs a secret and gets none says so until it is entered; where the former of the same target has one,
    that stays. Raises as `broker.profiles.add`, and HelmError "conflict" where the standing is no longer the one that
    was shown: then this home is as it was.
    """
    if standing(stores, wanted.entry) != wanted:
        raise HelmError("conflict", f"{wanted.entry.id} was changed here meanwhile; look at it and import again")
    profile, former = wanted.entry.profile, wanted.former
    if wanted.state in ("same", "lacking") and former is not None:
        return broker.change(stores, former, profile, secret) if secret else former
    force = wanted.state == "other"
    if wanted.entry.secret is not None and not secret:
        return broker.add_lacking(stores, profile, force=force)
    return broker.add(stores, profile, secret, force=force)
