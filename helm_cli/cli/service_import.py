"""How services are taken over from gh's hosts.yml and a .netrc: where those are, and what of each is told."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from helm_cli.cli import service_words, taking
from helm_cli.cli.here import Here, note
from helm_cli.cli.taking import Manner, Offer, Section
from helm_cli.grammar import gh_hosts, netrc
from helm_cli.grammar.found import FoundService
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Service

_PLACES: Final = "gh's hosts.yml and .netrc"
_NETRC: Final = "~/.netrc"
_HOSTS: Final = "hosts.yml"

_Section = Section[Service]


def run(place: Here, source: str | None, *, force: bool) -> int:
    """Show what the source holds, "gh", "netrc" or a file, else what the usual places hold; take what is chosen.

    Raises HelmError "usage" where what was named is not there or cannot be understood, and as `taking.run` does.
    """
    sections = list(_everything()) if source is None else [_named(source)]
    sections = [
        section._replace(offers=tuple(taking.standing(place, offer, force=force) for offer in section.offers))
        for section in taking.apart(sections)
    ]
    manner = Manner("service", "services", lambda offer: offer, partial(_taken, place))
    return taking.run(place, sections, manner, source or _PLACES, force=force)


def _everything() -> Iterator[_Section]:
    """What is in the usual places, those that are not there left out; of one that cannot be used, a remark says why."""
    for reader, path in ((_hosts, _hosts_file()), (_machines, _netrc_file())):
        if os.path.lexists(os.path.expanduser(path)):
            try:
                yield reader(path)
            except HelmError as error:
                yield _Section(taking.shortened(path), remarks=(error.message,))


def _named(source: str) -> _Section:
    if source in ("gh", "netrc"):
        return _hosts(_hosts_file()) if source == "gh" else _machines(_netrc_file())
    reader: Callable[[str], _Section] = _hosts if source.endswith((".yml", ".yaml")) else _machines
    return reader(source)


def _hosts_file() -> str:
    folder = os.environ.get("GH_CONFIG_DIR")
    if not folder:
        folder = os.path.join(os.environ.get("XDG_CONFIG_HOME") or "~/.config", "gh")
    return os.path.join(folder, _HOSTS)


def _netrc_file() -> str:
    return os.environ.get("NETRC") or _NETRC


def _hosts(path: str) -> _Section:
    source = taking.read(path, "hosts.yml of gh's")
    # Only this one needs YAML.
    from helm_cli.dialects import yaml_document

    document = yaml_document.read(source.text)
    if document.faults:
        raise HelmError("usage", f"{source.label} cannot be used: see line {document.faults[0].line}")
    try:
        found = gh_hosts.found(document.value)
    except ValueError as error:
        raise HelmError("usage", f"{source.label} cannot be used: {error}") from None
    step = f"chmod 600 {taking.pasted(source.label)}"
    told = f"others on this machine can read {source.label} and the tokens in it; close it: {step}"
    exposed = source.exposed and any(one.token for one in found)
    return _section(source.label, found, (told,) if exposed else ())


def _machines(path: str) -> _Section:
    source = taking.read(path, ".netrc file")
    if not source.own or source.exposed:
        whose = "others can read it" if source.own else "it is not yours"
        step = (
            f"close it: chmod 600 {taking.pasted(source.label)}"
            if source.own
            else "copy what is yours into one of your own"
        )
        raise HelmError("usage", f"{source.label} is not read, as ftp would not read it: {whose}; {step}")
    try:
        found = netrc.found(netrc.read(source.text))
    except ValueError as error:
        raise HelmError("usage", f"{source.label} cannot be used: {error}") from None
    return _section(source.label, found, ())


def _section(label: str, found: list[FoundService], remarks: tuple[str, ...]) -> _Section:
    offers = tuple(map(_offer, found))
    return _Section(taking.counted(label, offers, "service", "services"), offers, remarks)


def _offer(found: FoundService) -> Offer[Service]:
    if found.fault:
        return Offer[Service](found.name, found.origin, reason=found.fault)
    profile = Service(found.name, found.base_url, format=found.format)
    way = "Bearer" if found.format == "bearer" else "Basic"
    told = f"with its token, which goes to the credential store; calls send it as Authorization: {way} …"
    return Offer(found.name, found.origin, profile, found.token, (found.base_url, told, *found.notes))


def _taken(place: Here, recorded: Service, verb: str) -> None:
    # What a .netrc holds is kept ready to be sent: Basic, and both its words.
    scheme = "Basic" if recorded.format == "raw" else ""
    note(place.streams, f"{verb} the service profile {recorded.name}, {service_words.secret(recorded, scheme)}")
