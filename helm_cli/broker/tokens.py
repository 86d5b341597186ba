"""The secrets of a sign-in: what each is bound to, so that it goes nowhere else, and the lock they change under."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal

from helm_cli.broker import secrets
from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import digest
from helm_cli.model.profile import Place, Service
from helm_cli.store import home as homes
from helm_cli.store import targets
from helm_cli.store.signins import Signin

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
            f"the token URL of {service.name} changed; enter its client secret again with: helm service edit"
            f" {service.name} --ask-client-secret",
        )
    return secrets.read(stores, service) or ""


def used(stores: Stores, service: Service, token_url: str) -> None:
    """The client secret was used at this token URL, and goes to no other until it is entered again."""
    targets.remember(stores.db, _used_at(service), digest(token_url))


def bound(stores: Stores, service: Service, signin: Signin) -> bool:
    """Whether the profile still is what this sign-in was made for; nothing secret is read."""
    wanted = _item(service, signin.token_url, signin.place, "access-token")
    return signin.client_id == service.client_id and targets.target(stores.db, wanted.account) == wanted.target


def read(stores: Stores, service: Service, signin: Signin, field: Field) -> str:
    """One token of a sign-in that is `bound`.

    Raises HelmError "not_authorized" where the store has no such token any more, and "unavailable" or "state" where
    it does not answer.
    """
    try:
        return secrets.item(stores, _item(service, signin.token_url, signin.place, field))
    except HelmError as error:
        if error.code != "not_configured":
            raise
    raise HelmError(
        "not_authorized", f"the tokens of {service.name} are gone from the {signin.place}; {again(service)}"
    )


def write(stores: Stores, service: Service, signin: Signin, field: Field, token: str) -> None:
    """Keep one token, in place of the former; a kill leaves the one or the other.

    Raises HelmError "unavailable" or "state" where the store does not take it.
    """
    secrets.keep(stores, _item(service, signin.token_url, signin.place, field), token)


def drop(stores: Stores, service: Service, field: Field, place: Place, *, moved: bool = False) -> None:
    """Take one token out of this store, `moved` where it stays in use in the other; says so where it cannot."""
    secrets.drop(stores, service.item(field), place, moved=moved)


@contextmanager
def locked(stores: Stores, service: Service, seconds: float) -> Iterator[int]:
    """Let nobody else change the sign-in to this service; gives the descriptor that holds the lock.

    Raises HelmError "state" where another process has it for longer than `seconds`.
    """
    folder = stores.home / _FOLDER
    for one in (stores.home, folder):
        homes.prepare(one)
    with homes.locked(folder / f"{service.name}.signin", seconds) as held:
        yield held


def again(service: Service) -> str:
    """What the user does about a sign-in that serves no more."""
    return f"connect it again with: helm oauth connect {service.name}"


def _item(service: Service, token_url: str, place: Place, field: Field) -> secrets.Item:
    target = digest(["tokens", service.base_url, token_url, service.client_id])
    return secrets.Item(service.name, service.item(field), target, place)


def _used_at(service: Service) -> str:
    return service.item("token-url")
