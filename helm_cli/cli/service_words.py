"""How a service profile is told: its members one by one, and in a few words what it is authorized with."""

from helm_cli.cli.here import Here
from helm_cli.model.profile import Service


def secret(profile: Service, scheme: str = "") -> str:
    """What it is authorized with, and where that is; `scheme` as in `sent`."""
    if profile.oauth2:
        return f"its client secret in the {profile.credential}" if profile.credential else "a public client"
    if profile.credential is None:
        return "without a token"
    return f"its token in the {profile.credential}{sent(profile, scheme)}"


def sent(profile: Service, scheme: str = "") -> str:
    """How the token is sent, where that is not the usual way; `scheme` is what a raw one begins with."""
    if (profile.header, profile.format) == ("Authorization", "bearer"):
        return ""
    before = "Bearer " if profile.format == "bearer" else f"{scheme} " if scheme else ""
    return f", sent as {profile.header}: {before}TOKEN"


def members(place: Here, profile: Service) -> dict[str, object]:
    sends = profile.sign_in == "token"
    return {
        "name": profile.name,
        "base_url": profile.base_url,
        "sign_in": profile.sign_in,
        "header": profile.header if sends else None,
        "format": profile.format if sends else None,
        "client_id": profile.client_id,
        "redirect_uri": redirect_uri(place, profile),
        "authorize_url": profile.authorize_url,
        "token_url": profile.token_url,
        "credential": profile.credential,
    }


def next_step(place: Here, profile: Service) -> str:
    """How a sign-in comes about: no sooner than an approved extension declares it."""
    from helm_cli.broker import scopes

    if scopes.asked_for(place.stores, profile):
        return f"sign in with: helm oauth connect {profile.name}"
    return (
        "review an extension that declares this sign-in (helm plugin review FOLDER), then sign in with:"
        f" helm oauth connect {profile.name}"
    )


def redirect_uri(place: Here, profile: Service) -> str | None:
    if not profile.oauth2:
        return None
    from helm_cli.drivers import oauth_callback

    return oauth_callback.redirect_uri(profile.redirect_port or place.stores.config.oauth_port)
