"""How an export is taken over: every fault is told first, then all of it shown, chosen, and recorded one by one."""

import os
from collections.abc import Iterator, Mapping
from typing import Final

from helm_cli.broker import portable, portable_reading, portable_taking, secrets
from helm_cli.broker.portable import Entry, Portable
from helm_cli.broker.portable_taking import Standing
from helm_cli.cli import config_secrets, entry, mcp_profile, service_words, taking
from helm_cli.cli.config_export import OUT, counted
from helm_cli.cli.given import option
from helm_cli.cli.here import Here, answered, note, tell
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database, Profile, Server, Service
from helm_cli.store import approvals, config, profiles
from helm_cli.view.lines import Line, line
from helm_cli.view.streams import piped_bytes
from helm_cli.view.text import shown

_DEEP: Final = "      "
# More of them say nothing more.
_MOST_FAULTS: Final = 20
_MOST_BYTES: Final = 1024 * 1024


def run(place: Here, file: str, *, everything: bool, piped: bool, force: bool) -> None:
    """Take over what an export holds: `everything`, or what the person chooses; with the secrets that are `piped` in.

    All questions are put before the first profile is recorded; each is taken whole or not at all. Raises HelmError
    "usage" where the export or the secrets cannot be used, "conflict" where one is in the way of `everything` or of a
    secret, "confirmation_required" without a person, and "declined".
    """
    if piped and file == OUT:
        raise HelmError("usage", "the export and the secrets cannot both come on standard input; name the file")
    called = "the export on standard input" if file == OUT else taking.shortened(file)
    found = _understood(place, called, _text(file))
    given = config_secrets.piped(place, found.entries) if piped else {}
    standings = [portable_taking.standing(place.stores, one) for one in found.entries]
    # One that cannot be understood is told before anything is shown.
    _ = place.stores.config
    _show(place, called, found, standings, force=force)
    able = {one.entry.id: one for one in standings if _takes(one, force=force)}
    if everything:
        _check_free(standings, force=force)
    _check_given(place, standings, given, able)
    if not able:
        tell(place.streams, f"nothing of {called} is to be taken over")
        return
    chosen = list(able.values()) if everything else [able[id_] for id_ in _chosen(place, list(able))]
    asked = {one.entry.id: config_secrets.wanted(place, one, given) for one in chosen}
    _take(place, chosen, asked)


def _text(file: str) -> str:
    if file != OUT:
        return taking.read(file, "file that helm config export wrote").text
    data = piped_bytes("the export", _MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise HelmError("usage", "the export on standard input is over 1 MiB, which none is")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HelmError("usage", "the export on standard input is not UTF-8") from None


def _understood(place: Here, called: str, text: str) -> Portable:
    try:
        found, faults = portable_reading.read(text)
    except ValueError as error:
        raise HelmError("usage", f"{called} cannot be used: {error}") from None
    for fault in faults[:_MOST_FAULTS]:
        where = f"{called}:{fault.line}" if fault.line else called
        tell(place.streams, f"{where}: {fault.about + ': ' if fault.about else ''}{fault.clause}")
    if faults:
        more = f", of which {_MOST_FAULTS} are told" if len(faults) > _MOST_FAULTS else ""
        number = "1 fault" if len(faults) == 1 else f"{len(faults)} faults{more}"
        raise HelmError("usage", f"{called} has {number}; nothing was taken over")
    return found


def _takes(standing: Standing, *, force: bool) -> bool:
    return standing.state in ("new", "lacking") or (force and (standing.state == "other" or _has_secret(standing)))


def _has_secret(standing: Standing) -> bool:
    return standing.entry.secret is not None


def _check_free(standings: list[Standing], *, force: bool) -> None:
    taken = [one.entry.id for one in standings if one.state == "other"]
    if taken and not force:
        told = f"{taken[0]} is another one here" if len(taken) == 1 else f"{', '.join(taken)} are others here"
        raise HelmError("conflict", f"{told}; nothing was taken over, --force replaces what is in the way")


def _check_given(
    place: Here, standings: list[Standing], given: Mapping[str, str], able: Mapping[str, Standing]
) -> None:
    """That no secret is dropped unsaid: each is of a profile that can be taken, or is the one that is here."""
    unused = [one for one in standings if given.get(one.entry.id) and one.entry.id not in able]
    other = [one.entry.id for one in unused if not portable_taking.has_already(place.stores, one, given[one.entry.id])]
    if other:
        told = f"the secrets name {', '.join(other)}, which {'is' if len(other) == 1 else 'are'} here already"
        raise HelmError(
            "conflict", f"{told} with another secret or target; nothing was taken over, --force replaces it"
        )


def _chosen(place: Here, ids: list[str]) -> list[str]:
    if not entry.can_ask(place):
        told = "taking profiles over needs a person at the terminal, who chooses; run it in one, or give --all"
        raise HelmError("confirmation_required", told)
    from helm_cli.cli import wizard

    names = wizard.chosen("Take over (space marks, Enter takes)", ids)
    answered(place)
    return names


def _take(place: Here, chosen: list[Standing], asked: dict[str, str]) -> None:
    done: list[str] = []
    for one in chosen:
        try:
            recorded = portable_taking.take(place.stores, one, asked[one.entry.id])
        except HelmError as error:
            before = f"taken over before it: {', '.join(done) or 'nothing'}"
            raise HelmError(error.code, f"{one.entry.id} was not taken over: {error.message}; {before}") from None
        done.append(one.entry.id)
        _tell_taken(place, one, recorded, bool(asked[one.entry.id]))


def _tell_taken(place: Here, one: Standing, recorded: Profile, given: bool) -> None:
    new = one.state in ("new", "other")
    named = config_secrets.CALLED.get(one.entry.secret or "", "")
    if new or given:
        verb = {"new": "added", "other": "replaced"}.get(one.state, "kept")
        note(place.streams, f"{verb} {one.entry.id}" + (f", its {named} in the {recorded.credential}" if given else ""))
    if named and not given and not secrets.entered(place.stores, recorded):
        told = f"the {named} of {one.entry.id} is not here yet; enter it with: {secrets.entering(recorded)}"
        tell(place.streams, told)
    if new:
        _tell_next(place, recorded)


def _tell_next(place: Here, recorded: Profile) -> None:
    """What may still be to be done for one that is new on this machine."""
    if isinstance(recorded, Service) and recorded.oauth2:
        tell(place.streams, service_words.next_step(place, recorded))
    elif isinstance(recorded, Server):
        mcp_profile.warn(place, recorded)
    elif isinstance(recorded, Database):
        for field in ("path", "socket", "tls_ca"):
            path = getattr(recorded, field)
            if path is not None and not os.path.exists(path):
                step = f"name another with: helm db edit {recorded.name} {option(field)} PATH"
                tell(place.streams, f"there is no {path} on this machine; {step}")


def _show(place: Here, called: str, found: Portable, standings: list[Standing], *, force: bool) -> None:
    laid = [Line(shown(f"{called} holds {counted(len(standings))}"))]
    laid += [part for one in standings for part in _laid(one, force=force)]
    laid += [*_settings(place, found), *_extensions(place, found)]
    taking.show(place, laid)


def _laid(one: Standing, *, force: bool) -> Iterator[Line]:
    yield line("  ", (shown(one.entry.id), "bold"), f" ({_in_words(one, force=force)})")
    if one.state not in ("new", "other"):
        return
    for text in profiles.render(one.entry.profile).splitlines():
        yield Line(_DEEP + shown(text))
    if one.entry.secret is not None:
        yield Line(f"{_DEEP}its {config_secrets.CALLED[one.entry.secret]} is not in the export")


def _in_words(one: Standing, *, force: bool) -> str:
    if one.state == "lacking":
        return f"is here already, but not its {config_secrets.CALLED[one.entry.secret or '']}"
    if one.state == "other":
        differs = _differing(one.entry, one.former)
        return f"replaces another: {differs}" if force else f"another is here: {differs}; --force replaces it"
    return "new" if one.state == "new" else "is here already"


def _differing(given: Entry, former: Profile | None) -> str:
    """The keys in which a profile and the one of its name differ."""
    if former is None:
        return "its file is broken"
    pairs = zip(given.profile._fields, given.profile, former, strict=True)
    keys = [key for key, mine, theirs in pairs if key != "credential" and mine != theirs]
    return ", ".join(keys or ["secret"])


def _settings(place: Here, found: Portable) -> Iterator[Line]:
    """Those that this home's config.toml does not have so; helm never writes that file."""
    here = config.table(place.stores.home)
    missing: dict[str, object] = {}
    for key, value in found.settings.items():
        if isinstance(value, dict):
            mine = here.get(key, {})
            missing[key] = {name: one for name, one in value.items() if mine.get(name) != one}
        elif here.get(key) != value:
            missing[key] = value
    text = portable.settings_text(missing)
    if text:
        yield Line(f"  settings, for you to put into {shown(str(place.stores.home / config.NAME))}")
        yield from (Line(_DEEP + shown(each)) for each in text.splitlines() if each)


def _extensions(place: Here, found: Portable) -> Iterator[Line]:
    here = {(one.extension, one.digest) for one in approvals.listed(place.stores.db, None)}
    missing = [one for one in found.extensions if one not in here]
    if missing:
        yield Line("  extensions that are approved there; review each here: helm plugin review PATH")
        yield from (Line(f"{_DEEP}{one.id}  {one.digest}") for one in missing)
