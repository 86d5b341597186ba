"""What a team fills in for a plugin in one workspace: seen where it may be, and what is secret never again."""

import hashlib
from typing import Final, NamedTuple

from helm_cli.broker import secrets
from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Extension
from helm_cli.model.jsontext import digest
from helm_cli.model.plugin import Setting
from helm_cli.model.profile import Place
from helm_cli.model.wording import meant
from helm_cli.store import person, profiles, settings
from helm_cli.store.settings import Filled

MOST_CHARACTERS: Final = 4096
OAUTH2: Final = "oauth2"


class Asked(NamedTuple):
    """A setting, and whether it is filled in. `value` is None where it is not, and where it is never shown."""

    setting: Setting
    is_set: bool
    value: str | None = None


def asked(stores: Stores, workspace: str, extension: Extension) -> tuple[Asked, ...]:
    """Every setting of the approved extension in the order of its declaration. Raises HelmError "state"."""
    found = settings.listed(stores.db, workspace, extension.id)
    return tuple(_asked(setting, found.get(setting.key)) for setting in _declared(extension))


def plain(stores: Stores, workspace: str, extension: Extension) -> dict[str, str]:
    """The values that a model may see: those of strings that are not sensitive. Raises HelmError "state"."""
    return {
        one.setting.key: one.value
        for one in asked(stores, workspace, extension)
        if one.setting.type == "string" and one.value is not None
    }


def secret(stores: Stores, workspace: str, extension: Extension, key: str) -> str | None:
    """A value that is kept in a credential store; None where none is filled in. For a driver and nobody else.

    Raises HelmError "not_configured", "unavailable" and "state".
    """
    setting = declared(extension, key)
    found = settings.listed(stores.db, workspace, extension.id).get(key)
    if found is None or found.place is None or found.type != setting.type:
        return None
    return secrets.item(stores, _item(workspace, extension.id, key, found.place))


def scopes_of(stores: Stores, workspace: str, extension: Extension, service: str) -> tuple[str, ...] | None:
    """The scopes that the plugin asks for of this service, where a connection setting names it; else None."""
    found = oauth2(stores, workspace, extension, service)
    if not found:
        return None
    return tuple(dict.fromkeys(scope for setting in found for scope in setting.scopes))


def oauth2(stores: Stores, workspace: str, extension: Extension, service: str) -> list[Setting]:
    """The settings of an OAuth2 connection that name this service profile. Raises HelmError "state"."""
    wanting = [setting for setting in _declared(extension) if _signs_in(setting)]
    if not wanting:
        return []
    found = settings.listed(stores.db, workspace, extension.id)
    chosen = {key for key, filled in found.items() if (filled.type, filled.value) == ("connection", service)}
    return [setting for setting in wanting if setting.key in chosen]


def declared(extension: Extension, key: str) -> Setting:
    """The setting of this key. Raises HelmError "usage" where the plugin asks for none."""
    known = {setting.key: setting for setting in _declared(extension)}
    if key not in known:
        close = meant(key, known)
        has = f"did you mean {close}?" if close else f"it asks for {', '.join(known)}" if known else "it asks for none"
        raise HelmError("usage", f"{extension.id} has no setting {key}; {has}")
    return known[key]


def check_allowed(stores: Stores, key: str, *, by_person: bool) -> None:
    """That a setting may be filled in here: what a model is told, and whose account it uses, is a person's to say.

    Where no person has ever answered one of helm's questions, as in a CI job's fresh home, anybody may (design,
    sections 1 and 6). Raises HelmError "confirmation_required".
    """
    if not by_person and person.seen(stores.db):
        raise HelmError(
            "confirmation_required",
            f"setting {key} decides what a model is told, or whose account it uses, so it needs a person at the"
            " terminal; run it in one",
        )


def fill_text(stores: Stores, workspace: str, extension: Extension, setting: Setting, value: str) -> Filled:
    """Keep the value of a string or a secret; of what is sensitive, in the credential store alone.

    Raises HelmError "usage" for what no store keeps, "unavailable" and "state"; then nothing has changed.
    """
    _check_text(setting, value)
    if not setting.sensitive:
        filled = Filled("string", value)
        former = _record(stores, workspace, extension.id, setting.key, filled)
        _drop(stores, workspace, extension.id, setting.key, former)
        return filled
    from helm_cli.store import credentials

    place = credentials.choose(stores.home, stores.notice, terminal=stores.terminal)
    filled = Filled(setting.type, "", place)
    # First the record: killed in between, it says where nothing is yet, and the value has to be entered again.
    former = _record(stores, workspace, extension.id, setting.key, filled)
    item = _item(workspace, extension.id, setting.key, place)
    try:
        secrets.keep(stores, item, value)
    except (HelmError, KeyboardInterrupt):
        _restore(stores, workspace, extension.id, setting.key, former)
        raise
    if former is not None and former.place not in (None, place):
        secrets.drop(stores, item.account, former.place, moved=True)
    return filled


def fill_connection(stores: Stores, workspace: str, extension: Extension, setting: Setting, service: str) -> None:
    """Let a connection go by a service profile.

    Raises HelmError "not_configured" where there is none of that name, and "usage" where an OAuth2 connection would get
    one that does not sign in, or whose profile has no addresses for that: this dialect declares none.
    """
    profile = profiles.load(stores.home, "service", service)
    if _signs_in(setting) and not profile.oauth2:
        raise HelmError(
            "usage",
            f"{setting.key} signs in by OAuth2 and {service} does not; replace it with: helm service add {service}"
            " --oauth2 --force",
        )
    if _signs_in(setting) and profile.authorize_url is None:
        raise HelmError(
            "usage",
            f"{service} has no addresses to sign in at, and plugin.yaml declares none; give the provider's own with"
            f" helm service edit {service} --authorize-url URL --token-url URL",
        )
    former = _record(stores, workspace, extension.id, setting.key, Filled("connection", service))
    _drop(stores, workspace, extension.id, setting.key, former)


def empty(stores: Stores, workspace: str, extension: str, key: str) -> bool:
    """Whether there was a value to take away, also of a setting that the plugin no longer asks for."""
    former = settings.listed(stores.db, workspace, extension).get(key)
    if former is None:
        return False
    _drop(stores, workspace, extension, key, former)
    settings.remove(stores.db, workspace, extension, key)
    return True


def forget(stores: Stores, workspace: str, extension: str) -> None:
    """Take every value of an extension away. Raises HelmError "state"."""
    for key in settings.listed(stores.db, workspace, extension):
        empty(stores, workspace, extension, key)


def _declared(extension: Extension) -> tuple[Setting, ...]:
    return extension.plugin.settings if extension.plugin is not None else ()


def _signs_in(setting: Setting) -> bool:
    return setting.type == "connection" and setting.provider == OAUTH2


def _asked(setting: Setting, found: Filled | None) -> Asked:
    if found is None or found.type != setting.type:
        return Asked(setting, is_set=False)
    # What was entered as sensitive stays unseen, whatever a later version says of it; and the other way round.
    shown = setting.type == "connection" or not (setting.sensitive or found.place)
    return Asked(setting, True, found.value if shown else None)


def _check_text(setting: Setting, value: str) -> None:
    if not value:
        raise HelmError("usage", f"the value of {setting.key} is empty; take a value away with unset")
    if len(value) > MOST_CHARACTERS and setting.type == "string":
        told = f"the value of {setting.key} has {len(value):,} characters; at most {MOST_CHARACTERS:,} are kept"
        raise HelmError("usage", told)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise HelmError("usage", f"the value of {setting.key} is not valid Unicode text; enter it again") from None


def _record(stores: Stores, workspace: str, extension: str, key: str, filled: Filled) -> Filled | None:
    former = settings.listed(stores.db, workspace, extension).get(key)
    settings.put(stores.db, workspace, extension, key, filled)
    return former


def _restore(stores: Stores, workspace: str, extension: str, key: str, former: Filled | None) -> None:
    if former is None:
        settings.remove(stores.db, workspace, extension, key)
    else:
        settings.put(stores.db, workspace, extension, key, former)


def _drop(stores: Stores, workspace: str, extension: str, key: str, former: Filled | None) -> None:
    if former is not None and former.place is not None:
        secrets.drop(stores, _item(workspace, extension, key, former.place).account, former.place)


def _item(workspace: str, extension: str, key: str, place: Place) -> secrets.Item:
    """The item of a setting: of its own in each workspace, and bound to it."""
    mark = hashlib.sha256(workspace.encode()).hexdigest()[:12]
    account = f"plugin/{extension.replace('/', '.')}.{mark}/{key}"
    again = f"set it again with: helm plugin settings {extension} set {key}"
    target = digest(["plugin", workspace, extension, key])
    return secrets.Item(f"{key} of {extension}", account, target, place, again)
