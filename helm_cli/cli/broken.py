"""What the commands of every group of profiles do about a profile whose file cannot be understood."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from helm_cli.cli.here import Here, tell
from helm_cli.model.errors import HelmError
from helm_cli.store import profiles


@contextmanager
def to_change(place: Here, group: str, name: str) -> Iterator[None]:
    """Around loading a profile that is to be changed: one that is broken can also be replaced whole."""
    try:
        yield
    except HelmError as error:
        if error.code == "state" and profiles.exists(place.stores.home, group, name):
            raise HelmError(
                "state", f"{error.message}, or replace it whole with: helm {group} add {name} --force"
            ) from None
        raise


def rows(
    place: Here, group: str, columns: Sequence[str], row: Callable[[str], dict[str, object]]
) -> list[dict[str, object]]:
    """A row for each profile of a group, as `row` makes it of a name; `columns` begin with "name".

    Of a profile that is broken it has the name, and "broken" in the second column.
    """
    return [_row(place, columns, row, name) for name in profiles.names(place.stores.home, group)]


def _row(place: Here, columns: Sequence[str], row: Callable[[str], dict[str, object]], name: str) -> dict[str, object]:
    try:
        return row(name)
    except HelmError as error:
        # One broken file must not hide the others.
        tell(place.streams, error.message)
        return {**dict.fromkeys(columns), "name": name, columns[1]: "broken"}
