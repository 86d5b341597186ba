"""The exact request of one call: what is shown is what is digested is what is sent."""

from typing import NamedTuple

from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import Json, digest


class Plan(NamedTuple):
    """A call that was checked and is ready to be shown, confirmed and sent. It holds no secret.

    `request` is the whole of what the driver may send; every member of it is shown, in this order, and nothing
    else is sent. `title` and `verb` are those of its confirmation ("Confirm database write", "Run"), `noun` what
    its kind calls an operation ("query"). `group` and `profile` say which profile it goes to, `driver` is the row
    of the drivers' table that sends it, `shape` one of the constants of `envelope`. `previewed` says that the driver
    can tell which texts the write would replace, and by what. `open` says that the driver has to complete it first,
    because only the other side knows what belongs into the request: nobody sees or sends it as it is.
    """

    kind: str
    effect: Effect
    extension: str
    connection: str
    operation: str
    group: str | None
    profile: str | None
    driver: str
    shape: str
    title: str
    verb: str
    noun: str
    request: dict[str, Json]
    previewed: bool = False
    open: bool = False

    def digest(self) -> str:
        """The SHA-256 of the driver and the request: the part of a write token that pins the exact write."""
        return digest({"driver": self.driver, "request": self.request})


class Revision(NamedTuple):
    """A text that a write would replace, and by what: what a person reads as a line diff. `before` is None for none.

    Where `told` is set nothing replaces anything: `after` is a text that the decision is about, `path` what it is.
    """

    path: str
    before: str | None
    after: str
    told: bool = False


class Binding(NamedTuple):
    """What a write token is bound to (contract, Writes 3; design, section 7). Equal or not valid."""

    workspace: str
    extension: str
    content: str
    connection: str
    operation: str
    target: str
    request: str
