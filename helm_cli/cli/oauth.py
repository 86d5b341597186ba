"""`helm oauth`: signing in to services, seeing how far each sign-in reaches, and ending it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Final

import typer

from helm_cli.broker import connect as broker
from helm_cli.broker import signin
from helm_cli.broker.standing import Standing, standing
from helm_cli.cli import OutputOption, WorkspaceOption, group, listing_format
from helm_cli.cli.here import Here, here, note, tell
from helm_cli.cli.listing import show_members, show_rows, write_json
from helm_cli.drivers import browser
from helm_cli.drivers.oauth_pasted import Pasted
from helm_cli.model.errors import EXIT, HelmError
from helm_cli.model.profile import Service
from helm_cli.store import profiles
from helm_cli.view.streams import person_present
from helm_cli.view.text import shown
from helm_cli.view.unseen import unseen

app = group(
    "Sign in to services by OAuth2.",
    "The service profile is added first, with helm service add NAME --oauth2. helm asks for the scopes that approved"
    " extensions declare, keeps the tokens where your secrets are, and renews them.",
    ("helm oauth connect calendar", "helm oauth status"),
)

_MOST_SECONDS: Final = 3600
_COLUMNS: Final = ("service", "state", "expires", "scopes", "missing", "reason")

ServiceArgument = Annotated[str, typer.Argument(metavar="SERVICE", help="The service profile's name.")]


@app.command()
def connect(
    service: ServiceArgument,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address to go to.")] = False,
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="How long to wait.")] = 300,
    workspace: WorkspaceOption = None,
) -> None:
    """Sign in to a service, for what the enabled extensions of the workspace declare.

    The address to go to is printed on standard error, and opened in a graphical browser. Where the browser is on
    another machine, paste the address at which it ended, on standard input.

    \b
    Examples:
      helm oauth connect calendar
      helm oauth connect calendar --no-browser --timeout 600
    """
    # Neither less nor more than NaN is.
    if not 1 <= timeout <= _MOST_SECONDS:
        raise HelmError("usage", f"--timeout takes 1 to {_MOST_SECONDS} seconds")
    place = here()
    profile = broker.profile(place.stores, service)
    where = place.workspace(workspace)
    with _pasting(place) as pasted:

        def show(address: str, returns: str) -> None:
            opened = not no_browser and browser.show(address)
            tell(place.streams, f"{'your browser was started at' if opened else 'go to'} this address to sign in:")
            place.streams.say(shown(address))
            tell(place.streams, _waiting(returns, timeout, pasted))

        found = broker.connect(place.stores, where, profile, timeout, show, pasted)
    note(place.streams, f"signed in to {service}, its tokens in the {found.place}")
    lacking = sorted({*found.asked} - {*found.scopes})
    if lacking:
        tell(place.streams, f"{service} granted less than was asked for: calls that need the rest are refused")
    members = {
        "service": service,
        "asked": " ".join(found.asked) or "(no scopes)",
        "granted": " ".join(found.scopes) or "(no scopes)",
        "missing": " ".join(lacking) or None,
    }
    show_members(place, "auto", _without_blanks(members))


@app.command()
def status(
    service: Annotated[str | None, typer.Argument(metavar="SERVICE", help="One service; else all of them.")] = None,
    workspace: WorkspaceOption = None,
    output: OutputOption = "auto",
) -> int:
    """Show which services you are signed in to, for what, how long, and which extensions lack a scope.

    Of one service, the exit status is 5 where its sign-in serves no call.

    \b
    Examples:
      helm oauth status
      helm oauth status calendar -o json
    """
    place = here()
    listing_format(output)
    where = place.workspace(workspace)
    if service is not None:
        found = standing(place.stores, where, broker.profile(place.stores, service))
        row = _row(found)
        show_members(place, output, row if output == "json" else _without_blanks(_told(row)))
        return 0 if found.serves else EXIT["not_authorized"]
    rows = [_row(standing(place.stores, where, profile)) for profile in _profiles(place)]
    if output == "json":
        write_json(place, rows)
    else:
        empty = "no service that signs in by OAuth2 yet; add one with helm service add --oauth2"
        show_rows(place, output, _COLUMNS, [_told(row) for row in rows], empty)
    return 0


@app.command()
def disconnect(service: ServiceArgument) -> None:
    """End a sign-in: helm forgets its tokens. The service itself is not told.

    \b
    Examples:
      helm oauth disconnect calendar
      helm oauth disconnect calendar && helm service remove calendar
    """
    place = here()
    gone = signin.drop(place.stores, broker.profile(place.stores, service))
    note(place.streams, f"disconnected {service}" if gone else f"{service} is not connected, so nothing was changed")


@contextmanager
def _pasting(place: Here) -> Iterator[Pasted | None]:
    """Where a redirect may be pasted: standard input, but no terminal whose keys are another program's."""
    if sys.stdin is None:
        yield None
        return
    fd = sys.stdin.fileno()
    pasted = Pasted(fd, lambda text: tell(place.streams, text))
    if not os.isatty(fd):
        yield pasted
    elif person_present(place.streams):
        with unseen(fd):
            yield pasted
    else:
        yield None


def _waiting(returns: str, seconds: float, pasted: Pasted | None) -> str:
    told = f"waiting {seconds:g} s for the answer at {returns}"
    if pasted is None:
        return told
    return f"{told}; if the browser cannot get there, paste the address it ended at here, and press Enter"


def _profiles(place: Here) -> Iterator[Service]:
    for name in profiles.names(place.stores.home, "service"):
        try:
            profile = profiles.load(place.stores.home, "service", name)
        except HelmError as error:
            # One broken file must not hide the others.
            tell(place.streams, error.message)
            continue
        if profile.oauth2:
            yield profile


def _row(found: Standing) -> dict[str, Any]:
    return {
        "service": found.service,
        "state": found.state,
        "reason": found.reason,
        "scopes": [*found.scopes],
        "missing": found.missing,
        "signed_in_at": _time(found.signed_in_at),
        "expires": _time(found.expires),
        "renewed": found.refreshable,
        "tokens": found.place,
    }


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """The same in words: lists as texts, and what there is nothing of left out."""
    missing = "; ".join(f"{extension}: {' '.join(lacking)}" for extension, lacking in row["missing"].items())
    renewed = ("by itself" if row["renewed"] else "no") if row["tokens"] else None
    return {**row, "scopes": " ".join(row["scopes"]) or None, "missing": missing or None, "renewed": renewed}


def _without_blanks(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
