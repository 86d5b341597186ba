"""What every command starts from: this process's streams, and the stores of its home."""

import signal
from contextlib import suppress
from typing import NamedTuple

from helm_cli.broker import workspace
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.store import person
from helm_cli.view.streams import Streams, person_present
from helm_cli.view.text import shown


class Here(NamedTuple):
    """This process's streams, and the stores of its home."""

    streams: Streams
    stores: Stores

    def workspace(self, named: str | None, *, review: bool = False) -> Workspace:
        found = workspace.find(self.stores, named, review=review)
        detail(self.streams, f"the workspace is {found.path}, {found.found}")
        return found


def here() -> Here:
    # Only from here on is there anything to put in order after Ctrl-C (`__main__`).
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    streams = Streams.here()
    stores = Stores(
        notice=lambda text: tell(streams, text),
        progress=lambda text: note(streams, text),
        detail=lambda text: detail(streams, text),
        terminal=person_present(streams),
    )
    if streams.voice == "verbose":
        # Without one, what needs none does its work all the same.
        with suppress(HelmError):
            detail(streams, f"the home is {stores.home}")
    return Here(streams, stores)


def tell(streams: Streams, text: str) -> None:
    """One line for the person, on standard error."""
    streams.say(f"helm: {shown(text)}")


def note(streams: Streams, text: str) -> None:
    """The same for what a person does not have to know, which --quiet leaves out."""
    if streams.voice != "quiet":
        tell(streams, text)


def detail(streams: Streams, text: str) -> None:
    """The same for what helm does, where --verbose asks for it. Never a secret, an argument, a statement or a URL."""
    if streams.voice == "verbose":
        tell(streams, text)


def need_person(place: Here, what: str) -> None:
    """Raises HelmError "confirmation_required" where there is no person at the terminal (design, section 7)."""
    if not person_present(place.streams):
        raise HelmError("confirmation_required", f"{what} needs a person at the terminal; run it in one")


def answered(place: Here) -> None:
    """A person answered one of helm's questions in this home: from now on nothing is approved without one."""
    person.mark(place.stores.db)
