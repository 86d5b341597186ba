"""What a person reads of a draft before they decide about it: who asked for it, what was said, and the whole of it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from helm_cli.model.draft import Draft
from helm_cli.view.lines import Line, line
from helm_cli.view.text import shown, shown_exactly


class Way(NamedTuple):
    """One way out of the queue: its tool ("" for none), what it needs, in words, and who said yes and no, by name."""

    via: str
    needs: str
    approved: Sequence[str]
    rejected: Sequence[str]


def lines(draft: Draft, asker: str, state: str, ways: Sequence[Way]) -> list[str | Line]:
    """A draft in full, safe for a terminal; no two texts are shown alike. `asker` is the name of its owner."""
    found: list[str | Line] = [*_members(_told(draft, asker, state))]
    for way in ways:
        found += _way(way)
    found += ["", line("  ", ("title", "bold")), *(f"    {part}" for part in shown_exactly(draft.title).split("\n"))]
    found += [line("  ", ("text", "bold")), *(f"    {part}" for part in shown_exactly(draft.body).split("\n"))]
    return found


def summary(draft: Draft, asker: str, state: str) -> list[str | Line]:
    """What stands above the question where the draft itself is too long for the screen."""
    return [*_members({**_told(draft, asker, state), "title": draft.title})]


def _told(draft: Draft, asker: str, state: str) -> dict[str, str]:
    return {
        "draft": draft.id,
        "state": state,
        "plugin": draft.plugin,
        "kind": draft.kind,
        "asked by": f"{asker} (uid {draft.asker})",
        "asked at": f"{draft.at[:19].replace('T', ' ')} UTC",
        **({"run": draft.run} if draft.run else {}),
        "digest": draft.digest,
    }


def _members(told: Mapping[str, str]) -> list[str]:
    width = max(map(len, told)) + 2
    return [f"  {name:<{width}}{shown(value)}" for name, value in told.items()]


def _way(way: Way) -> list[str | Line]:
    found: list[str | Line] = ["", f"  publish through {shown(way.via)}" if way.via else "  review"]
    found.append(f"    needs     {shown(way.needs)}")
    found.append(f"    approved  {shown(', '.join(way.approved) or 'by nobody yet')}")
    if way.rejected:
        found.append(line("    ", (f"rejected  {shown(', '.join(way.rejected))}", "warning")))
    return found
