"""What a test has a fork do that no command does by itself: a write with its yes, a renewal, a new sign-in."""

import json
from typing import Final

from helm_cli.broker import call, renewal, signin, workspace
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.drivers.oauth_token import Grant
from helm_cli.model.envelope import exit_status, failure
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import dump
from helm_cli.store import profiles

# What the endpoint of the tests grants, and that it may be renewed.
ASKED: Final = ("a", "b", "offline_access")


def confirmed(connection: str, operation: str, arguments: str) -> int:
    """A write that a person says yes to at once; its envelope is printed, and its status comes back."""
    stores = Stores()
    request = call.Request(workspace.find(stores, None), connection, operation, json.loads(arguments))
    try:
        asked = call.ask(stores, request, listed=False)
        envelope = call.perform(stores, request, asked.token, asked.entry)
    except HelmError as error:
        envelope = failure(error)
    print(dump(envelope), flush=True)
    return exit_status(envelope)


def asked(connection: str, operation: str, arguments: str) -> int:
    """A write that waits for its yes: its token, and its line in the history, are printed."""
    stores = Stores()
    request = call.Request(workspace.find(stores, None), connection, operation, json.loads(arguments))
    found = call.ask(stores, request, listed=False)
    print(json.dumps([found.token, found.entry]), flush=True)
    return 0


def performed(connection: str, operation: str, arguments: str, token: str, entry: str) -> int:
    """The same write, said yes to later, by another process."""
    stores = Stores()
    request = call.Request(workspace.find(stores, None), connection, operation, json.loads(arguments))
    envelope = call.perform(stores, request, token, int(entry))
    print(dump(envelope), flush=True)
    return exit_status(envelope)


def renewed(service: str) -> int:
    """The tokens of a service, renewed as the process that renews them does it."""
    stores = Stores()
    try:
        renewal._renew(stores, profiles.load(stores.home, "service", service))
    except HelmError as error:
        print(dump(failure(error)), flush=True)
        return error.exit_status
    return 0


def signed_in(service: str, authorize_url: str, token_url: str, access: str, refresh: str, seconds: str) -> int:
    """A service, signed in with these tokens, of which the access token lives for so many seconds."""
    stores = Stores()
    life = float(seconds)
    grant = Grant(access, refresh, ASKED, stores.clock() + life, life)
    try:
        signin.keep(
            stores,
            profiles.load(stores.home, "service", service),
            grant,
            Connected(authorize_url, token_url, ASKED),
        )
    except HelmError as error:
        print(dump(failure(error)), flush=True)
        return error.exit_status
    return 0
