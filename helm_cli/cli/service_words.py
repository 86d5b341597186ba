"""How a service profile is told: its members one by one, and in a few words what it is authorized with."""

from helm_cli.cli.here import Here
from helm_cli.model.profile import Service


def secret(profile: Service) -> str:
    if profile.oauth2:
        return f"its client secret in the {profile.credential}" if profile.credential else "a public client"
    if profile.credential is None:
        return "without a token"
    return f"its token in the {profile.credential}{sent(profile)}"


def sent(profile: Service) -> str:
    """How the token is sent, where that is not the usual way."""
    if (profile.header, profile.format) == ("Authorization", "bearer"):
        return ""
    return f", sent as {profile.header}: {'Bearer ' if profile.format == 'bearer' else ''}TOKEN"


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


def redirect_uri(place: Here, profile: Service) -> str | None:
    if not profile.oauth2:
        return None
    from helm_cli.drivers import oauth_callback

    return oauth_callback.redirect_uri(profile.redirect_port or place.stores.config.oauth_port)
