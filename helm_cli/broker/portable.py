"""What goes from one home to another machine, as one text: profiles without secrets, settings, and what is approved."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from helm_cli.broker.stores import Stores
from helm_cli.grammar import secret_shapes, secret_words
from helm_cli.grammar.secret_words import Sign
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Profile, Server, Service
from helm_cli.store import approvals, config, profiles
from helm_cli.store.groups import GROUPS

VERSION: Final = 1
# Group -> what the secret of its profiles can be: the last part of its account in the credential store.
SECRETS: Final[dict[str, tuple[str, ...]]] = {
    "db": ("password",),
    "service": ("token", "client-secret"),
    "mcp": ("token",),
}
_HEAD: Final = f"""\
# What helm keeps in a home, without the secrets. On another machine: helm config import FILE
# A profile with `secret` is asked for it there; one with client_id signs in there: helm oauth connect NAME
version = {VERSION}
"""


class Entry(NamedTuple):
    """One profile without the store of its secret, and what its secret is called, None where it needs none."""

    profile: Profile
    secret: str | None

    @property
    def id(self) -> str:
        return f"{self.profile.group}/{self.profile.name}"


class Extension(NamedTuple):
    """An extension that is approved in some workspace, and the digest of the content that is."""

    id: str
    digest: str


class Portable(NamedTuple):
    """All of it: profiles by group and name, `settings` as config.toml has them, extensions by id and digest.

    An approval is a person's yes on one machine and stays there; what was approved is only told.
    """

    entries: tuple[Entry, ...]
    settings: Mapping[str, Any]
    extensions: tuple[Extension, ...]


def gathered(stores: Stores, without: Collection[str] = ()) -> Portable:
    """What this home has, but for the profiles whose ids ("db/shop") are `without`; no secret is read.

    Raises HelmError "usage" for an id of no profile, and "state" where a file cannot be understood.
    """
    there = [(group, name) for group in GROUPS for name in profiles.names(stores.home, group)]
    for id_ in without:
        if id_ not in [f"{group}/{name}" for group, name in there]:
            raise HelmError("usage", f"there is no profile {id_[:80]}; write it as GROUP/NAME, such as db/shop")
    wanted = [(group, name) for group, name in there if f"{group}/{name}" not in without]
    approved = {Extension(one.extension, one.digest) for one in approvals.listed(stores.db, None)}
    # A setting that is wrong here would be wrong there too.
    _ = stores.config
    return Portable(
        tuple(_entry(profiles.load(stores.home, group, name)) for group, name in wanted),
        config.table(stores.home),
        tuple(sorted(approved)),
    )


def secret_of(profile: Profile) -> str:
    """What the secret of a profile is called, whether it has one or not."""
    return profile.account.rpartition("/")[2]


def telling(profile: Profile) -> list[str]:
    """What in a profile is a secret for sure that stands open in it: options, variables, fields, no values."""
    return [sign.told for sign in _signs(profile) if sign.sure]


def doubtful(profile: Profile) -> list[str]:
    """What in it may be one, or a number of something: the person had better look at it."""
    return [sign.told for sign in _signs(profile) if not sign.sure]


def telling_settings(settings: Mapping[str, Any]) -> list[str]:
    """The settings in which a secret stands open for sure, by their names."""
    return [key for key, value in settings.items() if isinstance(value, str) and _shaped(value)]


def _signs(profile: Profile) -> Iterator[Sign]:
    if isinstance(profile, Server):
        yield from secret_words.signs_in_command(profile.command or ())
    for field, value in profile._asdict().items():
        if not isinstance(value, str):
            continue
        if field in ("url", "base_url", "authorize_url", "token_url"):
            # Of several URLs it says in which.
            named = field if isinstance(profile, Service) else "the URL"
            found = secret_words.signs_in_url(value)
            yield from (
                sign._replace(told=f"{sign.told} of {named}") if sign.told in secret_words.UNNAMED else sign
                for sign in found
            )
        elif _shaped(value):
            yield Sign(field)


def _shaped(text: str) -> bool:
    return secret_shapes.token(text) or secret_shapes.password(text)


def render(portable: Portable) -> str:
    """The TOML text, the same for the same home whenever it is made."""
    parts = [_HEAD, settings_text(portable.settings, "settings")]
    for entry in portable.entries:
        secret = f"secret = {profiles.toml(entry.secret)}\n" if entry.secret else ""
        parts.append(f"[{header(entry)}]\n{profiles.render(entry.profile)}{secret}")
    parts += [f'[[extensions]]\nid = "{one.id}"\ndigest = "{one.digest}"\n' for one in portable.extensions]
    return "\n".join(filter(None, parts))


def header(entry: Entry) -> str:
    """The name of a profile's table."""
    name = entry.profile.name
    return f"{entry.profile.group}." + (f'"{name}"' if "." in name else name)


def settings_text(settings: Mapping[str, Any], under: str = "") -> str:
    """Settings as they stand in config.toml, or below the table `under`."""
    own = {key: value for key, value in settings.items() if not isinstance(value, Mapping)}
    sections = [(key, value) for key, value in sorted(settings.items()) if isinstance(value, Mapping) and value]
    parts = [(f"[{under}]\n" if under else "") + _lines(own)] if own else []
    parts += [f"[{under}{'.' if under else ''}{key}]\n{_lines(value)}" for key, value in sections]
    return "\n".join(parts)


def _entry(profile: Profile) -> Entry:
    # A SQLite file has no password, whatever its profile records.
    has = profile.credential is not None and getattr(profile, "engine", "") != "sqlite"
    return Entry(profile._replace(credential=None), secret_of(profile) if has else None)


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {profiles.toml(value)}\n" for key, value in sorted(values.items()))
