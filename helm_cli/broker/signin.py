"""A sign-in to a service over its life: kept with its tokens, renewed in time, doubted, and taken away."""

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from helm_cli.broker import renewal, tokens
from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Service
from helm_cli.store import signins
from helm_cli.store.signins import Signin

if TYPE_CHECKING:
    from helm_cli.drivers.oauth_token import Grant

# How long before its end a token is renewed, where a quarter of its life is not less (design, section 8).
_EARLY_SECONDS: Final = 60.0
# How far a clock that is set right may go back: no token is trusted that would live longer than that beyond its life.
_CLOCK_SECONDS: Final = 60.0
_RENEWAL_SECONDS: Final = 10.0
# What changes a sign-in waits for a renewal that somebody else began, and for what its keychain asks.
_LOCK_SECONDS: Final = 60.0


class Connected(NamedTuple):
    """How a grant was come by: the two URLs, the scopes asked for, and the callback's `iss` (None without)."""

    authorize_url: str
    token_url: str
    asked: tuple[str, ...]
    issuer: str | None = None


def keep(stores: Stores, service: Service, grant: "Grant", connected: Connected) -> Signin:
    """Keep the grant of a new sign-in, in place of a former one; a kill leaves the one or the other.

    The client secret that was used for it goes to no other token URL from now on. Raises HelmError "refused" where
    scopes were granted that were not asked for (contract, OAuth2), and "unavailable" or "state" where the store does
    not take it; then the former sign-in stands.
    """
    if beyond := tokens.beyond(grant, connected.asked):
        raise HelmError(
            "refused",
            f"the service granted scopes that no enabled extension declares ({beyond}), so the sign-in to"
            f" {service.name} was not kept; take them from the OAuth client, or declare them",
        )
    from helm_cli.store import credentials

    new = Signin(
        service=service.name,
        client_id=service.client_id or "",
        authorize_url=connected.authorize_url,
        token_url=connected.token_url,
        scopes=grant.scopes,
        asked=tuple(sorted({*connected.asked})),
        issuer=connected.issuer,
        place=credentials.choose(stores.home, stores.notice, terminal=stores.terminal),
        signed_in_at=stores.clock(),
        expires=grant.expires,
        life=grant.life,
        refreshable=grant.refresh_token is not None,
        ids=(os.urandom(16).hex(),),
    )
    with tokens.locked(stores, service, _LOCK_SECONDS):
        _replace(stores, service, new, grant)
    return new


def token(stores: Stores, service: Service, seconds: float = _RENEWAL_SECONDS) -> str:
    """The access token for a call now, renewed first where it ends soon, for which the service has so many seconds.

    Another process that renews it has as many. Where it cannot be renewed now, it is used to its end. Raises HelmError
    "not_authorized" before the first sign-in and after it ended, "not_configured" where the profile changed since, and
    "unavailable" or "state".
    """
    signin = current(stores, service)
    if not _due(signin, stores.clock()):
        return tokens.read(stores, service, signin, "access-token")
    try:
        _renewed(stores, service, seconds)
    except HelmError as error:
        if error.code == "not_authorized" or not _lives(signin, stores.clock()):
            raise
    return tokens.read(stores, service, current(stores, service), "access-token")


def unrenewed(stores: Stores, service: Service) -> str | None:
    """The access token as it is, None where a call would renew it first; nothing is sent. Raises as `token`."""
    signin = current(stores, service)
    return None if _due(signin, stores.clock()) else tokens.read(stores, service, signin, "access-token")


def current(stores: Stores, service: Service) -> Signin:
    """The sign-in that serves calls on this service; no secret is read, nothing is sent.

    Raises HelmError "not_authorized" where there is none, it ended, or its token did and cannot be renewed; and
    "not_configured" where the profile is no longer what it was made for.
    """
    signin = signins.find(stores.db, service.name)
    if signin is None:
        raise HelmError(
            "not_authorized", f"{service.name} is not connected; connect it with: helm oauth connect {service.name}"
        )
    if signin.ended is not None:
        raise HelmError(
            "not_authorized", f"the sign-in to {service.name} ended: {signin.ended}; {tokens.again(service)}"
        )
    if not tokens.bound(stores, service, signin):
        raise HelmError(
            "not_configured", f"the target of {service.name} changed since its sign-in; {tokens.again(service)}"
        )
    if not signin.refreshable and not _lives(signin, stores.clock()):
        raise HelmError("not_authorized", f"the sign-in to {service.name} expired; {tokens.again(service)}")
    return signin


def doubt(stores: Stores, service: Service) -> None:
    """A service did not take its token: the next call renews it first, unless it is new.

    Raises HelmError "unavailable" where the sign-in is being changed in this moment, and "state".
    """
    with tokens.locked(stores, service, 0.0):
        signin = signins.find(stores.db, service.name)
        now = stores.clock()
        if signin is None or not signin.refreshable:
            return
        age = None if signin.expires is None or signin.life is None else signin.life - (signin.expires - now)
        if age is None or age > _EARLY_SECONDS:
            signins.save(stores.db, signin._replace(expires=now, life=0.0))


def drop(stores: Stores, service: Service) -> bool:
    """Take the sign-in to a service away, with its tokens. False where there was none that could be read."""
    former = _former(stores, service)
    if former is None:
        return False
    with tokens.locked(stores, service, _LOCK_SECONDS):
        # Whoever held the lock may have put its own there, or taken this one away.
        signin = _former(stores, service) or former
        # Killed in between, it serves no call, and can be dropped again.
        signins.end(stores.db, service.name, "it was disconnected")
        tokens.drop(stores, service, "refresh-token", signin.place)
        tokens.drop(stores, service, "access-token", signin.place)
        return signins.forget(stores.db, service.name)


def _former(stores: Stores, service: Service) -> Signin | None:
    """The sign-in that is to go, None for none; one that cannot be read is taken away here."""
    try:
        return signins.find(stores.db, service.name)
    except signins.Damaged:
        stores.notice(
            f"the sign-in to {service.name} could not be read; its tokens, if any, are left and serve no call"
        )
    signins.forget(stores.db, service.name)
    return None


def _renewed(stores: Stores, service: Service, seconds: float) -> None:
    with tokens.locked(stores, service, seconds) as held:
        # Whoever held the lock may have renewed it.
        if _due(current(stores, service), stores.clock()):
            renewal.run(stores, service, held, seconds)


def _due(signin: Signin, now: float) -> bool:
    """Whether the access token is to be renewed before it is used (design, section 8)."""
    if not signin.refreshable or signin.expires is None:
        return False
    early = _EARLY_SECONDS if signin.life is None else min(_EARLY_SECONDS, signin.life / 4)
    return signin.expires - now < early or not _lives(signin, now)


def _lives(signin: Signin, now: float) -> bool:
    """Whether the access token has not ended; a clock that went back makes none live longer than it does."""
    if signin.expires is None:
        return True
    left = signin.expires - now
    return 0 < left <= (signin.life or 0.0) + _CLOCK_SECONDS


def _replace(stores: Stores, service: Service, new: Signin, grant: "Grant") -> None:
    """Killed in between, what stands is renewed by whichever refresh token lives, and serves what both granted."""
    old = signins.find(stores.db, service.name)
    if old is not None and old.place == new.place:
        signins.save(stores.db, _between(old, new))
    begun = False
    try:
        if grant.refresh_token is not None:
            tokens.write(stores, service, new, "refresh-token", grant.refresh_token)
            begun = True
        tokens.write(stores, service, new, "access-token", grant.access_token)
    except HelmError:
        if old is not None and not begun:
            signins.save(stores.db, old)
        raise
    signins.save(stores.db, new)
    tokens.used(stores, service, new.token_url)
    if old is not None:
        _clear(stores, service, old, new)


def _between(old: Signin, new: Signin) -> Signin:
    both = tuple(scope for scope in old.scopes if scope in new.scopes)
    between = old._replace(scopes=both, ids=(*new.ids, *old.ids))
    if old.refreshable:
        return between._replace(expires=0.0, life=0.0)
    known = [expires for expires in (old.expires, new.expires) if expires is not None]
    return between._replace(expires=min(known, default=None))


def _clear(stores: Stores, service: Service, old: Signin, new: Signin) -> None:
    """Take away what the former sign-in left where the new one put nothing over it."""
    moved = old.place != new.place
    if moved:
        tokens.drop(stores, service, "access-token", old.place, moved=True)
    if moved or not new.refreshable:
        tokens.drop(stores, service, "refresh-token", old.place, moved=moved and new.refreshable)
