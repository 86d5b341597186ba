"""How databases are taken over from a connection URL or the files of libpq's and MySQL's: what of each is told."""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Final

from helm_cli.broker import profiles as broker
from helm_cli.cli import db_sources, entry, taking
from helm_cli.cli.db_sources import Held
from helm_cli.cli.here import Here, note, tell
from helm_cli.cli.taking import Manner, Offer, Section
from helm_cli.drivers import trust
from helm_cli.grammar import pgpass
from helm_cli.grammar.database_url import Parts
from helm_cli.grammar.found import FoundDatabase
from helm_cli.grammar.pgpass import Entry
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import PORTS, Database
from helm_cli.store import profiles

_PLACES: Final = "DATABASE_URL, pg_service.conf, .pgpass and .my.cnf"


def run(place: Here, source: str | None, variables: list[str], files: list[str], *, force: bool) -> int:
    """Show what the source, these variables and .env files hold, and take what the person chooses.

    Without any of them the usual places are looked at. Raises HelmError "usage" where what was named is not there or
    cannot be understood, and as `taking.run` does.
    """
    held = [
        *(db_sources.named(source) if source is not None else ()),
        *map(db_sources.variable, variables),
        *map(db_sources.variables, files),
    ]
    what = " and ".join(one.label for one in held)
    if source is None and not variables and not files:
        held, what = list(db_sources.everything()), _PLACES
    held = _once(held)
    sections = taking.apart([_section(one) for one in held])
    pairs = ((one, offer) for one, section in zip(held, sections, strict=True) for offer in section.offers)
    entries = {offer.name: one.entries for one, offer in pairs if offer.profile is not None}
    known = _known(place)
    sections = [
        section._replace(offers=tuple(_standing(place, known, offer, force=force) for offer in section.offers))
        for section in sections
    ]
    manner = Manner("db", "databases", partial(_ask, place, entries), partial(_taken, place))
    return taking.run(place, sections, manner, what, force=force)


def _once(held: list[Held]) -> list[Held]:
    """With each database once: another source that leads there says so, as lines of .pgpass do for services."""
    there: dict[Parts, tuple[str, bool]] = {}
    return [one._replace(found=tuple(_first(database, one.label, there) for database in one.found)) for one in held]


def _first(found: FoundDatabase, label: str, there: dict[Parts, tuple[str, bool]]) -> FoundDatabase:
    if found.fault or found.parts is None:
        return found
    place, origin = _place(found.parts), label if found.origin == label else f"{found.origin} of {label}"
    with_password = found.parts.password is not None
    first, first_with = there.setdefault(place, (origin, with_password))
    if first == origin:
        return found
    if with_password and not first_with:
        there[place] = (origin, True)
        return found
    return found._replace(parts=None, fault=f"it is the same as {first}, above")


def _place(parts: Parts) -> Parts:
    """Where parts lead and who signs in there."""
    port = parts.port or PORTS.get(parts.engine)
    return parts._replace(port=port, password=None, tls=None, tls_ca=None)


def _section(held: Held) -> Section[Database]:
    offers = tuple(map(_offer, held.found))
    unread = not offers and held.remarks
    heading = held.label if unread else taking.counted(held.label, offers, "database", "databases")
    return Section(heading, offers, held.remarks)


def _offer(found: FoundDatabase) -> Offer[Database]:
    parts = found.parts
    if found.fault or parts is None:
        return Offer[Database](found.name, found.origin, reason=found.fault)
    profile = Database(
        found.name,
        parts.engine,
        path=parts.path,
        host=parts.host,
        port=_port(parts),
        socket=_absolute(parts.socket),
        database=parts.database,
        user=parts.user,
        tls=parts.tls,
        tls_ca=_absolute(parts.tls_ca),
    )
    asked = "database" if parts.database is None and parts.engine != "sqlite" else ""
    told = (_where(profile), *_of_password(profile, parts.password), *found.notes)
    return Offer(found.name, found.origin, profile, parts.password, told, asked=asked)


def _port(parts: Parts) -> int | None:
    if parts.engine == "sqlite" or (parts.socket is not None and parts.engine == "mysql"):
        return None
    return parts.port or PORTS[parts.engine]


def _absolute(path: str | None) -> str | None:
    return None if path is None else os.path.abspath(os.path.expanduser(path))


def _where(profile: Database) -> str:
    if profile.engine == "sqlite":
        return f"sqlite {profile.path}"
    where = profile.where() if profile.database else profile._replace(database="?").where()
    return f"{profile.engine} {where}, user {profile.user}, {_tls(profile)}"


def _tls(profile: Database) -> str:
    if profile.socket is not None:
        return "by a Unix socket"
    local = trust.loopback(profile.host or "")
    vouched = f" with {profile.tls_ca}" if profile.tls_ca else ""
    return f"TLS {profile.tls or ('disable' if local else 'require')}{vouched}"


def _of_password(profile: Database, password: str | None) -> list[str]:
    """What becomes of the password, never the password; and what the person is asked for."""
    if profile.engine == "sqlite":
        return []
    told = "with its password, which goes to the credential store" if password else "without a password"
    return [told, *(() if profile.database else ("its database is not said there: you are asked for it",))]


def _known(place: Here) -> list[Database]:
    """The profiles that are there already and can be understood."""
    found = []
    for name in profiles.names(place.stores.home, "db"):
        with suppress(HelmError):
            found.append(profiles.load(place.stores.home, "db", name))
    return found


def _standing(place: Here, known: list[Database], offer: Offer[Database], *, force: bool) -> Offer[Database]:
    """The offer as it is; without its profile where it cannot be taken, or is there already under another name."""
    profile = offer.profile
    for one in known if profile is not None and not force else ():
        same = one._replace(name=offer.name, credential=None) == profile
        if same and one.name != offer.name and (one.credential is not None) == bool(offer.secret):
            return offer._replace(profile=None, secret=None, reason=f"it is already there, as {one.name}")
    return taking.standing(place, offer, force=force)


def _ask(place: Here, entries: Mapping[str, tuple[Entry, ...]], offer: Offer[Database]) -> Offer[Database]:
    """With the database's name, and with the password that libpq takes for it: a line before may be for that one."""
    if offer.profile is None or not offer.asked:
        return offer
    profile = offer.profile

    def fitting(answer: str) -> None:
        broker.check(place.stores, profile._replace(database=answer), force=True)

    answer = entry.asked(place, True, "--database", f"Database of {offer.name}", check=fitting)
    offer = offer._replace(profile=profile._replace(database=answer), asked="")
    line = pgpass.first(entries[offer.name], _parts(profile._replace(database=answer)))
    if line is None or (line.password or None) == offer.secret:
        return offer
    told = f"for {answer} libpq takes the password of line {line.line}, which comes first, and so does helm"
    tell(place.streams, told)
    return offer._replace(secret=line.password or None)


def _parts(profile: Database) -> Parts:
    return Parts(
        profile.engine,
        host=profile.host,
        port=profile.port,
        socket=profile.socket,
        database=profile.database,
        user=profile.user,
    )


def _taken(place: Here, recorded: Database, verb: str) -> None:
    where = f", its password in the {recorded.credential}" if recorded.credential else ""
    note(place.streams, f"{verb} the {recorded.engine} profile {recorded.name}{where}")
    if recorded.path is not None and not os.path.exists(recorded.path):
        note(place.streams, f"there is no file {recorded.path} yet; helm never creates it")
