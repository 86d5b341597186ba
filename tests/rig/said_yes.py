"""What helm does once a person said yes, without the terminal: for tests that do it hundreds of times.

Each is an act of `tests.rig.stepped`: words in, something that JSON can say out.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from helm_cli.broker import bindings, call, confirm, drafts, plugin, profiles, publishing, signin, workspace
from helm_cli.broker.drafts import Text
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.drivers.oauth_token import Grant
from helm_cli.model.envelope import failure
from helm_cli.model.errors import HelmError
from helm_cli.model.plugin import Bound
from helm_cli.model.profile import Service


def confirmed(id_: str) -> Any:
    """The envelope of the write that waits under this id."""
    with _here() as (stores, _):
        try:
            return confirm.send(stores, confirm.write(stores, confirm.find(stores, id_)))
        except HelmError as error:
            return failure(error)


def bound(id_: str, tool: str, service: str, path: str) -> None:
    """A named tool of a plugin, bound to a POST of a service that sends the draft's title."""
    with _here() as (stores, here):
        approval = plugin.approved(stores, here, id_).approval
        bindings.bind(stores, approval, Bound(tool, service, "POST", path, '{"title": "{title}"}'))


def drafted(id_: str, kind: str, uid: str) -> str:
    """A draft that this user asks for; its id."""
    with _here() as (stores, here):
        team = plugin.find(stores, here, id_)
        with drafts.opened(stores):
            os.seteuid(int(uid))
            try:
                return drafts.add(stores, team, Text(kind, "Version 2", "It is out.\n")).id
            finally:
                os.seteuid(0)


def approved(draft: str, uid: str = "0") -> str:
    """The draft, approved by this user; how it stands then."""
    with _here() as (stores, here):
        found = drafts.find(stores, here, draft)
        os.seteuid(int(uid))
        try:
            drafts.check_decidable(found, "approve")
            drafts.decide(stores, found.filed.draft, "approve")
        finally:
            os.seteuid(0)
        return drafts.find(stores, here, draft).state


def published(draft: str, via: str) -> Any:
    """The envelope of its publication."""
    with _here() as (stores, here):
        try:
            found = publishing.ready(stores, here, drafts.find(stores, here, draft), via, {})
            asked = call.ask(stores, found.request, listed=False)
            return publishing.perform(stores, here, found, asked)
        except HelmError as error:
            return failure(error)


def signed_in(url: str, access: str, refresh: str, secret: str) -> None:
    """The service `cal` at this URL, signed in with the scope `a` by these tokens, whose time is over."""
    with _here() as (stores, _):
        service = profiles.add(stores, Service("cal", f"{url}/api", client_id="id"), secret, force=False)
        grant = Grant(access, refresh, ("a",), stores.clock() - 1, 3600.0)
        signin.keep(stores, service, grant, Connected(f"{url}/authorize", f"{url}/token", ("a",)))


@contextmanager
def _here() -> Iterator[tuple[Stores, Workspace]]:
    stores = Stores()
    try:
        yield stores, workspace.find(stores, None)
    finally:
        stores.close()
