"""How a sign-in stands for the person who looks: whether it serves calls, how far it reaches, and what is missing."""

from typing import NamedTuple

from helm_cli.broker import scopes, signin
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Place, Service
from helm_cli.store import signins


class Standing(NamedTuple):
    """How the sign-in to a service stands; of its tokens only which store has them.

    `state` is "signed in", "expired" (there was a sign-in, and it serves no call) or "not connected". `reason` is why
    it serves no call. `scopes` were granted. `missing` has for each enabled extension of the workspace the scopes it
    declares and that were not granted. `expires` is the end of the access token, which is renewed before it where
    `refreshable`; it and `signed_in_at` are seconds since the epoch.
    """

    service: str
    state: str
    missing: dict[str, list[str]]
    reason: str | None = None
    scopes: tuple[str, ...] = ()
    signed_in_at: float | None = None
    expires: float | None = None
    refreshable: bool = False
    place: Place | None = None

    @property
    def serves(self) -> bool:
        """Whether calls are authorized by it, as far as they need no scope that is `missing`."""
        return self.state == "signed in"


def standing(stores: Stores, workspace: Workspace, service: Service) -> Standing:
    """As the home's own records tell it: nothing is sent and no secret is read. Raises HelmError "state"."""
    try:
        found = signins.find(stores.db, service.name)
    except signins.Damaged as error:
        return Standing(service.name, "expired", scopes.missing(stores, workspace, service, ()), error.message)
    if found is None:
        return Standing(service.name, "not connected", scopes.missing(stores, workspace, service, ()))
    reason = None
    try:
        signin.current(stores, service)
    except HelmError as error:
        if error.code not in ("not_authorized", "not_configured"):
            raise
        reason = error.message
    return Standing(
        service.name,
        "expired" if reason else "signed in",
        scopes.missing(stores, workspace, service, found.scopes),
        reason,
        found.scopes,
        found.signed_in_at,
        found.expires,
        found.refreshable,
        found.place,
    )
