"""Whether each profile would serve a call: that its file and its secret are sound, and that its target answers."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from shlex import quote
from threading import Lock
from typing import Final, NamedTuple, TypeVar

from helm_cli.broker import authorization, probe, scopes, secrets, signin
from helm_cli.broker.health import Subject, beside, failed, guarded
from helm_cli.broker.health_home import editor
from helm_cli.broker.health_secrets import Vault
from helm_cli.drivers import deadline
from helm_cli.drivers.deadline import Abandoned
from helm_cli.model.errors import HelmError
from helm_cli.model.health import Check, Status
from helm_cli.model.profile import Place, Profile, Server, Service
from helm_cli.store import profiles, signins
from helm_cli.store.groups import GROUPS

AREA: Final = "profiles"
SIDE_BY_SIDE: Final = 8
# How long a driver may take beyond its own limits, to put in order what it began.
_MORE_SECONDS: Final = 5.0

Result = TypeVar("Result")


class Trial(NamedTuple):
    """How profiles are tried: not at all where `offline`; else each in its usual limits, and in `seconds` at most.

    MCP commands are started in `folder`. `tick` is called as each is done.
    """

    subject: Subject
    vault: Vault
    offline: bool
    seconds: float | None
    folder: str
    tick: Callable[[], None]


def every(subject: Subject) -> list[tuple[str, str]]:
    """The group and the name of each profile. Raises HelmError "state"."""
    home = subject.stores.home
    return [(group, name) for group in GROUPS for name in profiles.names(home, group)]


def checks(trial: Trial) -> Iterator[Check]:
    """A line for each profile, in their order, tried eight at once. Raises HelmError "state"."""
    named = every(trial.subject)
    if not named:
        yield Check(AREA, "profiles", "ok", "there are none yet")
        return
    pool = ThreadPoolExecutor(min(SIDE_BY_SIDE, len(named)), thread_name_prefix="doctor")
    trial, turn = trial._replace(subject=beside(trial.subject)), Lock()
    try:
        futures = [pool.submit(_checked, trial, turn, group, name) for group, name in named]
        for _done in as_completed(futures):
            trial.tick()
        for future in futures:
            yield from future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def within(work: Callable[[], Result], seconds: float) -> Result:
    """What the work gives or raises. HelmError "unavailable" where it is not done in time: it is left behind."""
    try:
        return deadline.run(lambda _: work(), seconds)
    except Abandoned:
        raise HelmError("unavailable", f"it was not done within {seconds:g} s, and was left behind") from None


def _checked(trial: Trial, turn: Lock, group: str, name: str) -> list[Check]:
    return guarded(AREA, f"{group}/{name}", lambda: [_one(trial, turn, group, name)])


def _one(trial: Trial, turn: Lock, group: str, name: str) -> Check:
    stores = trial.subject.stores
    called = f"{group}/{name}"
    try:
        profile = profiles.load(stores.home, group, name)
    except HelmError as error:
        path = stores.home / profiles.FOLDER / group / f"{name}.toml"
        return failed(AREA, called, error)._replace(next=editor(path))
    if trial.subject.trouble is not None:
        told = "its file is sound; it is not tried, for state.db cannot be read"
        return Check(AREA, called, "warning", told, "see state.db above")
    unusable = _kept_away(trial, called, profile.credential)
    if unusable is not None:
        return unusable
    try:
        with turn:
            given, known = _given(trial, called, profile)
    except HelmError as error:
        # What contacts nothing cannot tell what is reachable.
        usual: Status = "warning" if trial.offline else "unreachable"
        return failed(AREA, called, error, "broken" if error.code == "state" else usual)
    if known is not None:
        return known
    if trial.offline:
        return Check(AREA, called, "ok", f"sound{_where(profile)}; not tried")
    return _tried(trial, called, profile, given)


def _given(trial: Trial, called: str, profile: Profile) -> tuple[str | None, Check | None]:
    """What a call would be sent with; and the line, where that is known without a try.

    Raises HelmError "not_configured", "not_authorized", "unavailable" and "state".
    """
    stores = trial.subject.stores
    secret = secrets.read(stores, profile)
    if not (isinstance(profile, Service) and profile.oauth2):
        return secret, None
    found = signins.find(stores.db, profile.name)
    if found is None and not scopes.asked_for(stores, profile):
        told = "sound; not signed in to, for no enabled extension declares a sign-in to it"
        return None, Check(AREA, called, "ok", told)
    signin.current(stores, profile)
    unusable = _kept_away(trial, called, found.place if found is not None else None)
    if unusable is not None:
        return None, unusable
    token = signin.unrenewed(stores, profile)
    if token is not None:
        return token, None
    return None, Check(AREA, called, "ok", "signed in; not tried, for a call would renew its token first")


def _kept_away(trial: Trial, called: str, place: Place | None) -> Check | None:
    """Why a secret in this store is not to be had now."""
    vault = trial.vault
    if place == "keychain" and vault.silent is not None:
        told = f"its secret is in the keychain, and {vault.silent.reason}"
        return Check(AREA, called, "unreachable", told, vault.silent.step)
    if place == "file" and vault.damaged is not None:
        told = "its secret is in credentials.json, which cannot be used"
        return Check(AREA, called, "unreachable", told, "see credentials.json above")
    if place == "file" and vault.loose:
        told = "not tried, for its secret is in credentials.json, which is open to other users"
        return Check(AREA, called, "warning", told, "see credentials.json above")
    return None


def _tried(trial: Trial, called: str, profile: Profile, given: str | None) -> Check:
    if isinstance(profile, Server):
        profile = profile._replace(folder=trial.folder)
    try:
        longest = probe.longest(profile, trial.seconds) + _MORE_SECONDS
        answer = within(lambda: probe.reached(profile, given, trial.seconds), longest)
    except HelmError as error:
        told = authorization.unsaid(error.message, profile, given)
        return Check(AREA, called, "unreachable", told, f"helm {profile.group} show {quote(profile.name)}")
    return Check(AREA, called, "ok", authorization.unsaid(answer, profile, given))


def _where(profile: Profile) -> str:
    if isinstance(profile, Service) and profile.oauth2:
        return ", signed in"
    return f", its secret in the {profile.credential}" if profile.credential is not None else ""
