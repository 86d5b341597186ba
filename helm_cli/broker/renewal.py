"""How tokens are renewed in a process of their own, which ends what it began even when the call is killed.

A refresh token is dead once it was sent to a service that rotates it: whoever sends it must live to store what comes.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Final

from helm_cli.broker import tokens
from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.profile import Service
from helm_cli.store import profiles, signins
from helm_cli.store.signins import Signin

if TYPE_CHECKING:
    from subprocess import Popen

    from helm_cli.drivers.oauth_token import Grant

# The process waits longer for the service than the call does (design, section 8): an answer that comes late is kept.
_PATIENT_SECONDS: Final = 30.0
_PART: Final = 65536
_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from helm_cli.broker.renewal import main; main()"
)


def run(stores: Stores, service: Service, held: int, seconds: float) -> None:
    """Renew the tokens of this service, whose lock the descriptor `held` holds; the process keeps it to its end.

    Waits for the service for `seconds`. Raises HelmError "not_authorized" where the service ended the sign-in, and
    what kept it from being renewed now: "unavailable", "not_configured", "state".
    """
    process = _started(stores, service, held)
    assert process.stdout is not None
    try:
        _followed(stores, service, process.stdout.fileno(), seconds)
    finally:
        process.stdout.close()
        # It may work on after the time of this call, which does not wait for it; but it leaves no dead process.
        Thread(target=process.wait, name="renewal", daemon=True).start()


def _started(stores: Stores, service: Service, held: int) -> "Popen[bytes]":
    import subprocess

    # Not `-m`: the current folder, which may be anybody's, would be the first that is imported from.
    options = ["-I", *(["-B"] if sys.dont_write_bytecode else [])]
    path = json.dumps([os.path.abspath(entry) for entry in sys.path])
    asked = [os.path.abspath(stores.home), service.name, "person" if stores.terminal else "program"]
    try:
        return subprocess.Popen(
            [sys.executable, *options, "-c", _PROGRAM, path, *asked],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(held,),
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        reason = f"no process can be started for it: {(error.strerror or 'error').lower()}"
        raise HelmError("unavailable", f"the sign-in to {service.name} cannot be renewed: {reason}") from None


def _followed(stores: Stores, service: Service, answers: int, seconds: float) -> None:
    """What the process says until it is done, line by line."""
    from select import POLLIN, poll

    waiting = poll()
    waiting.register(answers, POLLIN)
    ends: float | None = None
    text = b""
    while waiting.poll(None if ends is None else max(0.0, ends - monotonic()) * 1000):
        part = os.read(answers, _PART)
        if not part:
            raise HelmError("unavailable", f"the renewal of the sign-in to {service.name} broke off; try again")
        *lines, text = (text + part).split(b"\n")
        for kind, *rest in map(json.loads, lines):
            if kind == "done":
                return
            if kind == "error":
                raise HelmError(*rest)
            if kind == "notice":
                stores.notice(*rest)
            else:
                ends = monotonic() + seconds if kind == "asking" else None
    raise HelmError(
        "unavailable", f"the sign-in to {service.name} was not renewed within {seconds:g} seconds; try again"
    )


def main() -> None:
    """The process: renews, and says what it does in lines of JSON, to nobody where the call was killed."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _, _, home, name, caller = sys.argv
    stores = Stores(Path(home), notice=lambda text: _say("notice", text), terminal=caller == "person")
    try:
        _renew(stores, profiles.load(stores.home, "service", name))
        _say("done")
    except HelmError as error:
        _say("error", error.code, error.message)
    except BaseException as error:
        _say("error", "internal", f"the renewal of the sign-in to {name} failed ({type(error).__name__})")
    os._exit(0)


def _say(*words: Json) -> None:
    # Where nobody listens any more, what was begun is ended all the same.
    with suppress(OSError):
        os.write(1, json.dumps(words).encode() + b"\n")


def _renew(stores: Stores, service: Service) -> None:
    signin = signins.find(stores.db, service.name)
    if signin is None:
        raise HelmError("not_authorized", f"{service.name} is not connected; {tokens.again(service)}")
    grant = _granted(stores, service, signin)
    if beyond := tokens.beyond(grant, {*signin.asked, *signin.scopes}):
        raise _ended(stores, service, f"the service granted what no extension had declared ({beyond})")
    # In this order a kill leaves a pair that can be renewed: the new refresh token is the only one that still lives.
    if grant.refresh_token is not None:
        tokens.write(stores, service, signin, "refresh-token", grant.refresh_token)
    tokens.write(stores, service, signin, "access-token", grant.access_token)
    # There is a refresh token, named or not.
    scopes = {*grant.scopes, *({"offline_access"} & {*signin.scopes})}
    # Both tokens were kept anew, so they are of one sign-in.
    renewed = signin._replace(scopes=tuple(sorted(scopes)), expires=grant.expires, life=grant.life, ids=signin.ids[:1])
    signins.save(stores.db, renewed)


def _granted(stores: Stores, service: Service, signin: Signin) -> "Grant":
    from helm_cli.drivers import oauth_token

    refresh_token = tokens.read(stores, service, signin, "refresh-token")
    client = oauth_token.Client(
        signin.token_url, signin.client_id, tokens.client_secret(stores, service, signin.token_url)
    )
    # A store that does not take this one would lose the next.
    tokens.write(stores, service, signin, "refresh-token", refresh_token)
    limits = oauth_token.LIMITS._replace(seconds=_PATIENT_SECONDS)
    _say("asking")
    try:
        return oauth_token.renew(client, refresh_token, asked=signin.scopes, now=stores.clock(), limits=limits)
    except HelmError as error:
        if error.code != "not_authorized":
            raise
    finally:
        _say("asked")
    raise _ended(stores, service, "the service does not renew it any more (invalid_grant)")


def _ended(stores: Stores, service: Service, reason: str) -> HelmError:
    signins.end(stores.db, service.name, reason)
    return HelmError("not_authorized", f"the sign-in to {service.name} ended: {reason}; {tokens.again(service)}")
