"""How profiles are taken over from other programs' files: read with care, shown first, chosen by the person, added."""

import os
import shlex
import stat
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, NamedTuple

from helm_cli.broker import profiles as broker
from helm_cli.broker.profiles import Kept
from helm_cli.cli import entry
from helm_cli.cli.here import Here, note, tell
from helm_cli.grammar import profile_name
from helm_cli.model.errors import HelmError
from helm_cli.store import groups, profiles
from helm_cli.view.lines import Line, drawn, folded, line
from helm_cli.view.text import shown

_MIB: Final = 1024 * 1024
_IN: Final = "  "
_DEEP: Final = "      "


class Source(NamedTuple):
    """A file that was read: how it is called, its text, its mode, and whether it is the person's own."""

    label: str
    text: str
    mode: int
    own: bool

    @property
    def exposed(self) -> bool:
        """Whether others on this machine could read it too."""
        return bool(self.mode & 0o077)

    def __repr__(self) -> str:
        return f"Source({self.label!r}, …, {self.mode:o})"


class Offer(NamedTuple, Generic[Kept]):
    """One profile that a source could become, and in which words; or why it does not (`reason`, and no profile).

    `origin` is what the source calls it. `asked` is the field of the profile that the person is asked for, "" for none.
    `former` is which revision of a profile of that name it replaces, None where it is new; `other` says that the one
    that is there is not the same.
    """

    name: str
    origin: str
    profile: Kept | None = None
    secret: str | None = None
    told: tuple[str, ...] = ()
    reason: str = ""
    asked: str = ""
    former: tuple[int, int] | None = None
    other: bool = False


class Section(NamedTuple, Generic[Kept]):
    """What one source holds: a line that says so, remarks on the whole of it, and its offers."""

    heading: str
    offers: tuple[Offer[Kept], ...] = ()
    remarks: tuple[str, ...] = ()


class Manner(NamedTuple, Generic[Kept]):
    """How a group's profiles are taken over: its name, what they are called, and the parts that are its own.

    `ask` completes an offer by what only the person can say; `taken` tells that a profile was "added" or "replaced".
    """

    group: str
    things: str
    ask: Callable[[Offer[Kept]], Offer[Kept]]
    taken: Callable[[Kept, str], None]


def read(path: str, what: str, *, mib: int = 1) -> Source:
    """The text of a file of another program's, of at most so many MiB; it may begin with ~ and a byte order mark.

    `what` is what should be named in its place. Raises HelmError "usage" where it cannot be read.
    """
    label = shortened(path)
    try:
        # A FIFO would hold helm for ever.
        descriptor = os.open(os.path.expanduser(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise HelmError("usage", f"{label} is not a regular file; name the {what} itself")
            with open(descriptor, "rb", closefd=False) as opened:
                data = opened.read(mib * _MIB + 1)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        reason = os.strerror(getattr(error, "errno", None) or 0).lower() if isinstance(error, OSError) else "no path"
        raise HelmError("usage", f"{label} cannot be read ({reason}); name a {what}") from None
    if len(data) > mib * _MIB:
        raise HelmError("usage", f"{label} is over {mib} MiB; name a {what}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HelmError("usage", f"{label} is not UTF-8; name a {what}") from None
    if "\0" in text:
        raise HelmError("usage", f"{label} is no text; name a {what}")
    return Source(label, text, stat.S_IMODE(found.st_mode), found.st_uid == os.geteuid())


def shortened(path: str) -> str:
    """A path as people write it: with ~ for their home folder."""
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if home != "/" and path.startswith(f"{home}/") else path


def pasted(label: str) -> str:
    """A path, maybe with ~, as one word of a command that the person pastes into a shell."""
    if label.startswith("~/"):
        return f"~/{shlex.quote(label[2:])}" if label[2:] else label
    return shlex.quote(f"./{label}" if label.startswith("-") else label)


def counted(label: str, offers: Sequence[object], thing: str, things: str) -> str:
    """The line above the offers of a source."""
    return f"{label} holds {f'1 {thing}' if len(offers) == 1 else f'{len(offers)} {things}'}"


def apart(sections: Sequence[Section[Kept]]) -> list[Section[Kept]]:
    """The sections with a name of its own for each offer that could be taken, also across them."""
    able = (offer for section in sections for offer in section.offers if offer.profile is not None)
    names = profile_name.numbered(offer.name for offer in able)
    return [section._replace(offers=tuple(_named(offer, names) for offer in section.offers)) for section in sections]


def standing(place: Here, offer: Offer[Kept], *, force: bool) -> Offer[Kept]:
    """The offer as it is; without its profile where that is not possible, or where one of its name is in the way.

    With `force` that one is replaced, and the offer says in what they differ.
    """
    profile = offer.profile
    if profile is None:
        return offer
    asked: dict[str, Any] = {offer.asked: "x"} if offer.asked else {}
    whole = profile._replace(**asked)
    reason = groups.GROUPS[profile.group].fault(whole)
    if not profile.name:
        reason = "no name of a profile can be made from it"
    former = None if reason else profiles.revision(place.stores.home, profile.group, profile.name)
    if reason or former is None:
        return offer._replace(profile=None, secret=None, reason=reason) if reason else offer
    differing = _differing(place, offer, profile)
    if force:
        told = f"replaces another: {differing}" if differing else "it is already there, and is taken over anew"
        return offer._replace(former=former, other=bool(differing), told=(told, *offer.told))
    reason = "it is already there; --force takes it over anew"
    if differing:
        reason = f"there is a profile {profile.name} already; --force replaces it"
    return offer._replace(profile=None, secret=None, reason=reason)


def run(place: Here, sections: Sequence[Section[Kept]], manner: Manner[Kept], what: str, *, force: bool) -> int:
    """Show what the sources hold, ask which of it to take, and take it; no source is ever changed.

    `what` is what the sources are called together. All questions are put before the first profile is added. Raises
    HelmError "confirmation_required" without a person, and "declined": then nothing was added.
    """
    _show(place, sections)
    able = {offer.name: offer for section in sections for offer in section.offers if offer.profile is not None}
    if not sections:
        tell(place.streams, f"nothing was found: there is none of {what} here")
        return 0
    if not able:
        tell(place.streams, f"nothing of {what} is to be taken over")
        return 0
    if not entry.can_ask(place):
        step = f"who chooses; run it in one, or use helm {manner.group} add"
        told = f"taking {manner.things} over needs a person at the terminal, {step}"
        raise HelmError("confirmation_required", told)
    from helm_cli.cli import wizard

    others = [name for name, offer in able.items() if offer.other]
    names = wizard.chosen("Take over (space marks, Enter takes)", list(able), others)
    place.stores.answered = True
    _take(place, [manner.ask(able[name]) for name in names], manner)
    note(place.streams, f"try {'it' if len(names) == 1 else 'each'} with: helm {manner.group} test {names[0]}")
    return 0


def _take(place: Here, chosen: list[Offer[Kept]], manner: Manner[Kept]) -> None:
    """Record them one by one; where one cannot be, tell which were and which are left."""
    names = [offer.name for offer in chosen]
    for number, offer in enumerate(chosen):
        try:
            recorded = _taken(place, offer)
        except HelmError as error:
            told = f"{offer.name} was not taken over: {error.message}; taken over before it: "
            told += ", ".join(names[:number]) or "nothing"
            if names[number + 1 :]:
                told += f"; not taken over either: {', '.join(names[number + 1 :])}"
            raise HelmError(error.code, told, error.members, error.outer) from None
        entry.kept(place)
        if recorded is not None:
            manner.taken(recorded, "added" if offer.former is None else "replaced")


def _taken(place: Here, offer: Offer[Kept]) -> Kept | None:
    profile = offer.profile
    if profile is None:
        return None
    # Another shell may have been at work while the person was asked.
    if offer.former not in (None, profiles.revision(place.stores.home, profile.group, profile.name)):
        raise HelmError("conflict", "its profile was changed while you were asked; look at it and start again")
    return broker.add(place.stores, profile, offer.secret, force=offer.former is not None)


def _named(offer: Offer[Kept], names: Iterator[str]) -> Offer[Kept]:
    if offer.profile is None:
        return offer
    name = next(names)
    return offer._replace(name=name, profile=offer.profile._replace(name=name))


def _differing(place: Here, offer: Offer[Kept], profile: Kept) -> str:
    """In what the profile of that name is another than this one, "" for nothing; not whether its secret is the same."""
    try:
        there = profiles.load(place.stores.home, profile.group, profile.name)
    except HelmError:
        return "its file is broken"
    pairs = zip(profile._fields, profile, there, strict=True)
    keys = [key for key, mine, theirs in pairs if key not in ("credential", offer.asked) and mine != theirs]
    if (there.credential is not None) != bool(offer.secret):
        keys.append("secret")
    return ", ".join(keys)


def _show(place: Here, sections: Sequence[Section[Kept]]) -> None:
    show(place, [part for section in sections for part in _laid(section)])


def show(place: Here, laid: Sequence[Line]) -> None:
    """Lines for the person who chooses, folded to the terminal."""
    streams = place.streams
    if streams.out_terminal:
        laid = [part for whole in laid for part in folded(whole, streams.width)]
    streams.write("".join(f"{drawn(whole, color=streams.color)}\n" for whole in laid))


def _laid(section: Section[Kept]) -> Iterator[Line]:
    yield Line(shown(section.heading))
    for remark in section.remarks:
        yield line(_IN, (shown(remark), "warning"))
    for offer in section.offers:
        called = "" if offer.origin == offer.name else f" ({offer.origin})"
        yield line(_IN, (shown(offer.name or offer.origin), "bold"), shown(called if offer.name else ""))
        told = offer.told if offer.profile is not None else (f"not taken over: {offer.reason}",)
        yield from (Line(_DEEP + shown(text)) for text in told)
