"""What the enabled extensions declare of the sign-in to a service, and so what is asked for (contract, OAuth2)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from helm_cli.broker import content, declared, settings
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Service
from helm_cli.store import approvals, signins


class Declaration(NamedTuple):
    """How one extension declares the sign-in to a service. `connection` is the connection or setting that does."""

    extension: str
    connection: str
    authorize_url: str
    token_url: str
    scopes: tuple[str, ...]


class Wanted(NamedTuple):
    """The two addresses of a sign-in, and the scopes that it asks for, each once, in the order of their declaration."""

    authorize_url: str
    token_url: str
    scopes: tuple[str, ...]


def wanted(stores: Stores, workspace: Workspace, service: Service) -> Wanted:
    """What a sign-in to this service asks for: all that the enabled extensions of the workspace declare for it.

    And what was granted before as far as an enabled extension of another workspace still declares it (design, section
    8), for one profile serves them all. An extension whose folder changed since its approval does not count. Raises
    HelmError "refused": no extension declares the sign-in, or two declare different addresses.
    """
    found = list(declarations(stores, workspace.path, service))
    if not found:
        raise HelmError("refused", _nothing(stores, workspace, service))
    first = found[0]
    for other in found[1:]:
        _check_agreement(service, first, other)
    if not (first.authorize_url and first.token_url):
        raise HelmError(
            "refused",
            f"{first.extension} declares no addresses for the sign-in to {service.name}; give the provider's own with "
            f"helm service edit {service.name} --authorize-url URL --token-url URL",
        )
    scopes = [*_scopes(found), *_kept(stores, workspace, service, first)]
    return Wanted(first.authorize_url, first.token_url, tuple(dict.fromkeys(scopes)))


def declarations(stores: Stores, workspace: str, service: Service) -> Iterator[Declaration]:
    """What each connection of the workspace's enabled extensions declares of this sign-in, as it was approved.

    The addresses are the profile's own where the dialect declares none, and "" where the profile has none either.
    """
    for approval in approvals.enabled(stores.db, workspace):
        found = list(_of(stores, approval, service))
        if not found:
            continue
        if content.matches(stores, approval):
            yield from found
        else:
            stores.notice(f"{_changed(approval)}, so the scopes it declares do not count")


def asked_for(stores: Stores, service: Service) -> bool:
    """Whether any enabled extension of any workspace signs in to this service; without one there is nothing to do."""
    workspaces = {approval.workspace for approval in approvals.listed(stores.db, None)}
    return any(
        True
        for workspace in sorted(workspaces)
        for approval in approvals.enabled(stores.db, workspace)
        for _ in _of(stores, approval, service)
    )


def missing(stores: Stores, workspace: Workspace, service: Service, granted: Iterable[str]) -> dict[str, list[str]]:
    """Extension -> the scopes that it declares and that were not granted, of those that lack one; nothing is told."""
    lacking: dict[str, list[str]] = {}
    given = set(granted)
    for approval in approvals.enabled(stores.db, workspace.path):
        scopes = dict.fromkeys(_scopes(_of(stores, approval, service)))
        if lacks := [scope for scope in scopes if scope not in given]:
            lacking[approval.extension] = lacks
    return lacking


def _of(stores: Stores, approval: approvals.Approval, service: Service) -> Iterator[Declaration]:
    extension = declared.extension(stores, approval)
    if extension.plugin is not None:
        for setting in settings.oauth2(stores, approval.workspace, extension, service.name):
            yield Declaration(approval.extension, setting.key, *service.addresses({}), setting.scopes)
    for connection in extension.connections:
        oauth2 = connection.spec.get("oauth2")
        if oauth2 is not None and (connection.group, connection.profile) == (service.group, service.name):
            scopes = tuple(oauth2.get("scopes", ()))
            yield Declaration(approval.extension, connection.id, *service.addresses(oauth2), scopes)


def _scopes(found: Iterable[Declaration]) -> list[str]:
    return [scope for declaration in found for scope in declaration.scopes]


def _kept(stores: Stores, workspace: Workspace, service: Service, first: Declaration) -> list[str]:
    """The scopes granted before that another workspace still needs, of a sign-in at the same addresses."""
    before = signins.find(stores.db, service.name)
    if before is None or before.token_url != first.token_url:
        return []
    others = {approval.workspace for approval in approvals.listed(stores.db, None)} - {workspace.path}
    needed = {
        scope
        for other in sorted(others)
        for declaration in declarations(stores, other, service)
        if declaration[2:4] == first[2:4]
        for scope in declaration.scopes
    }
    return [scope for scope in before.scopes if scope in needed]


def _check_agreement(service: Service, one: Declaration, other: Declaration) -> None:
    differing = [
        name
        for name, mine, theirs in (
            ("authorizeUrl", one.authorize_url, other.authorize_url),
            ("tokenUrl", one.token_url, other.token_url),
        )
        if mine != theirs
    ]
    if not differing:
        return
    names = f"{one.extension} and {other.extension} declare"
    step = "disable one of them with helm plugin disable, or have them declare the same"
    if one.extension == other.extension:
        names = f"the connections {one.connection} and {other.connection} of {one.extension} declare"
        step = "have them declare the same"
    raise HelmError(
        "refused", f"{names} different addresses for the sign-in to {service.name} ({', '.join(differing)}); {step}"
    )


def _nothing(stores: Stores, workspace: Workspace, service: Service) -> str:
    here = f"the workspace {workspace.path} ({workspace.found})"
    for approval in approvals.listed(stores.db, workspace.path):
        if not any(True for _ in _of(stores, approval, service)):
            continue
        if not approval.enabled:
            name = approval.extension
            return f"{name}, which declares this sign-in, is disabled for {here}; run helm plugin enable {name}"
        return f"{_changed(approval)}; run helm plugin review {approval.folder}"
    if (asking := _asking(stores, workspace)) is not None:
        step = f"helm plugin settings {asking} set KEY --service {service.name}"
        return f"no enabled extension of {here} signs in to {service.name}; where {asking} is to, run {step}"
    return (
        f"no enabled extension of {here} declares an oauth2 sign-in to {service.name}; review and approve the one that"
        " does with helm plugin review"
    )


def _asking(stores: Stores, workspace: Workspace) -> str | None:
    """The first plugin with a connection that no service profile was chosen for."""
    for approval in approvals.enabled(stores.db, workspace.path):
        for one in settings.asked(stores, workspace.path, declared.extension(stores, approval)):
            if one.setting.type == "connection" and not one.is_set:
                return approval.extension
    return None


def _changed(approval: approvals.Approval) -> str:
    return f"{approval.extension} changed since it was approved for {approval.workspace}, or its folder is gone"
