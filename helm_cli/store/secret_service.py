"""How the Secret Service of a Linux session (GNOME Keyring, KWallet, KeePassXC) keeps a secret, with no prompt unasked.

The items are those that the `keyring` library makes and finds (its default scheme). The library itself is not used
here, for it unlocks, and so prompts, whenever it is asked, obeys KEYRING_PROPERTY_* variables, and starts slowly.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from socket import SHUT_RDWR
from typing import Final, NamedTuple

import secretstorage
from secretstorage import Collection, Item

from helm_cli.store.patience import UNLOCK, Absent, HangUp, Trouble

APPLICATION: Final = "Python keyring library"


class Session(NamedTuple):
    """The `service` name of every item; whether to ask the person to `unlock` (or first create) the collection."""

    service: str
    unlock: bool
    hang_up: HangUp


def check(session: Session) -> None:
    """Returns when a secret could be put now; raises Trouble with the reason, as every function here."""
    with opened(session):
        pass


def put(session: Session, account: str, secret: str) -> None:
    query = _query(session, account)
    with opened(session) as collection:
        former = list(collection.search_items(query))
        label = f"Password for '{account}' on '{session.service}'"
        kept = collection.create_item(label, query | {"application": APPLICATION}, secret.encode(), replace=True)
        # What another program put under this account would be found in place of ours.
        _discard([item for item in former if item.item_path != kept.item_path], session)


def get(session: Session, account: str) -> str | None:
    with opened(session) as collection:
        for item in collection.search_items(_query(session, account)):
            _open(item, session)
            return item.get_secret().decode()
    return None


def delete(session: Session, account: str) -> bool:
    with opened(session) as collection:
        return _discard(list(collection.search_items(_query(session, account))), session)


def _query(session: Session, account: str) -> dict[str, str]:
    return {"service": session.service, "username": account}


def _discard(items: list[Item], session: Session) -> bool:
    for item in items:
        # Another process may be discarding the same item.
        with suppress(secretstorage.ItemNotFoundException):
            _open(item, session)
            item.delete()
    return bool(items)


@contextmanager
def opened(session: Session) -> Iterator[Collection]:
    """The default collection, open, on a connection of its own."""
    try:
        connection = secretstorage.dbus_init()
    except TimeoutError:
        raise Trouble("no keychain can be reached: the session bus does not answer") from None
    except Exception as error:
        raise _unreachable(_why(error)) from None

    def hang_up() -> None:
        # This conversation may be over, and another one be what is waited for.
        with suppress(OSError):
            connection.sock.shutdown(SHUT_RDWR)

    session.hang_up(hang_up)
    try:
        if not secretstorage.check_service_availability(connection):
            raise _unreachable("the session has no Secret Service")
        # get_default_collection creates what is missing, for which the service prompts.
        find = secretstorage.get_default_collection if session.unlock else Collection
        yield _found(partial(find, connection), session)
    except (secretstorage.LockedException, secretstorage.PromptDismissedException):
        raise Trouble("the keychain is locked", UNLOCK) from None
    finally:
        connection.close()


def _why(error: Exception) -> str:
    """Why there is no connection to the bus, from what the libraries raise for it."""
    cause = error.__cause__ if isinstance(error, secretstorage.SecretServiceNotAvailableException) else error
    match cause:
        case KeyError():
            return "there is no session bus"
        case OSError():
            return "the session bus is gone"
    return "the address of the session bus is none that helm can use"


def _found(find: Callable[[], Collection], session: Session) -> Collection:
    try:
        collection = find()
    except secretstorage.ItemNotFoundException:
        raise Trouble("the keychain has no default keyring yet") from None
    except Exception:
        # The first word to the service makes the bus start it, which fails in as many ways as programs do.
        raise _unreachable("the Secret Service of the session does not start") from None
    _open(collection, session)
    return collection


def _open(what: Collection | Item, session: Session) -> None:
    if what.is_locked():
        dismissed = not session.unlock or what.unlock()
        if dismissed or what.is_locked():
            raise Trouble("the keychain is locked", UNLOCK)


def _unreachable(why: str) -> Absent:
    return Absent(f"no keychain can be reached: {why}")
