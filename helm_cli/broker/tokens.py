"""The secrets of a sign-in: what each is bound to, so that it goes nowhere else, and the lock they change under."""

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final, Literal

from helm_cli.broker import secrets
from helm_cli.broker.stores import Stores
from helm_cli.model import wording
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import digest
from helm_cli.model.profile import Place, Service
from helm_cli.store import home as homes
from helm_cli.store import targets
from helm_cli.store.signins import Signin

if TYPE_CHECKING:
    from helm_cli.drivers.oauth_token import Grant

Field = Literal["access-token", "refresh-token"]

_FOLDER: Final = "run"


def client_secret(stores: Stores, service: Service, token_url: str) -> str:
    """The client secret as this token URL may get it, empty for a public client.

    Raises HelmError "not_configured" where it was entered for another target, or a sign-in used it at another token
    URL: it goes to none that the user did not enter it for. Raises as `secrets.read` does.
    """
    known = targets.target(stores.db, _used_at(service))
    if service.credential is not None and known not in (None, digest(token_url)):
        raise HelmError(
            "not_configured",
            f"the token URL of {service.name} changed; {secrets.again(service)}",
        )
    return secrets.read(stores, service) or ""


def used(stores: Stores, service: Service, token_url: str) -> None:
    """The client secret was used at this token URL, and goes to no other until it is entered again."""
    targets.remember(stores.db, _used_at(service), digest(token_url))


def bound(stores: Stores, service: Service, signin: Signin) -> bool:
    """Whether the profile still is what this sign-in was made for; nothing secret is read."""
    wanted = _item(service, signin, "access-token")
    return signin.client_id == service.client_id and targets.target(stores.db, wanted.account) == wanted.target


def read(stores: Stores, service: Service, signin: Signin, field: Field) -> str:
    """One token of a sign-in that is `bound`.

    Raises HelmError "not_authorized" where the store has no such token of this sign-in any more, and "unavailable" or
    "state" where it does not answer.
    """
    try:
        return secrets.item(stores, _item(service, signin, field))
    except HelmError as error:
        if error.code != "not_configured":
            raise
    raise HelmError(
        "not_authorized", f"the tokens of {service.name} are gone from the {signin.place}; {again(service)}"
    )


def write(stores: Stores, service: Service, signin: Signin, field: Field, token: str) -> None:
    """Keep one token of a sign-in, the first of its ids, in place of the former; a kill leaves the one or the other.

    Raises HelmError "unavailable" or "state" where the store does not take it.
    """
    secrets.keep(stores, _item(service, signin, field), token)


def drop(stores: Stores, service: Service, field: Field, place: Place, *, moved: bool = False) -> None:
    """Take one token out of this store, `moved` where it stays in use in the other; says so where it cannot."""
    secrets.drop(stores, service.item(field), place, moved=moved)


@contextmanager
def locked(stores: Stores, service: Service, seconds: float) -> Iterator[int]:
    """Let nobody else change the sign-in to this service; gives the descriptor that holds the lock.

    Raises HelmError "unavailable" where another process has it for longer than `seconds`, and "state".
    """
    folder = stores.home / _FOLDER
    for one in (stores.home, folder):
        homes.prepare(one)
    with ExitStack() as stack:
        try:
            held = stack.enter_context(homes.locked(folder / f"{service.name}.signin", seconds))
        except homes.Held:
            raise HelmError(
                "unavailable",
                f"another helm has been busy with the sign-in to {service.name} for over {seconds:g} s; try again",
            ) from None
        yield held


def beyond(grant: "Grant", allowed: Collection[str]) -> str:
    """The scopes of a grant that are not among those allowed, in words that repeat no token; "" where all are."""
    extra = sorted({*grant.scopes} - {*allowed})
    return wording.brief([wording.without(scope, grant.access_token, grant.refresh_token) for scope in extra])


def again(service: Service) -> str:
    """What the user does about a sign-in that serves no more."""
    return f"connect it again with: helm oauth connect {service.name}"


def _item(service: Service, signin: Signin, field: Field) -> secrets.Item:
    target = digest(["tokens", service.base_url, signin.token_url, service.client_id])
    # A sign-in without an id has no token that could be read.
    owners = signin.ids or ("",)
    return secrets.Item(service.name, service.item(field), target, signin.place, again(service), owners)


def _used_at(service: Service) -> str:
    return service.item("token-url")
