"""What another program's file holds of a database or a service, as helm would keep it."""

from typing import Any, NamedTuple

from helm_cli.grammar.database_url import Parts
from helm_cli.model.profile import Format


class FoundDatabase(NamedTuple):
    """One database of a source, and what helm would keep of it.

    `name` is what its profile would be called, `origin` how the source calls it. Where `parts.database` is None it is
    asked for. `notes` are clauses on what is not kept as it stands; `fault` says why nothing is, "" where nothing is
    wrong. Neither holds anything secret.
    """

    name: str
    origin: str
    parts: Parts | None = None
    notes: tuple[str, ...] = ()
    fault: str = ""

    def noted(self, *notes: str) -> "FoundDatabase":
        return self._replace(notes=(*self.notes, *notes))

    def __repr__(self) -> str:
        return f"FoundDatabase({self.name!r}, {self.origin!r}, …, {self.notes!r}, {self.fault!r})"


class FoundService(NamedTuple):
    """One service of a source, likewise; `token` is what its header would carry, after "Bearer " for that format."""

    name: str
    origin: str
    base_url: str = ""
    format: Format = "bearer"
    token: str = ""
    notes: tuple[str, ...] = ()
    fault: str = ""

    def __repr__(self) -> str:
        kept = f"{self.name!r}, {self.origin!r}, {self.base_url!r}, {self.format!r}"
        return f"FoundService({kept}, …, {self.notes!r}, {self.fault!r})"


def port(text: str) -> int | None:
    """A port as it is written in decimal digits, None for what is none."""
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        return None
    return int(text) if 1 <= int(text) <= 65_535 else None


def at(host: str) -> dict[str, Any]:
    """The field of a place that a host of libpq's fills: the path of a folder is that of its socket."""
    return {"socket": host} if host.startswith("/") else {"host": host}


def listed(names: list[str]) -> str:
    """The names with what they are: "a is", "a and b are"."""
    return f"{names[0]} is" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} are"
