"""What a person reads of a planned call before it is sent: who wants what, where, and every member of the request."""

from collections.abc import Iterator, Mapping
from typing import Final

from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json, dump
from helm_cli.model.plan import Plan
from helm_cli.view.text import shown, shown_exactly, shown_json

MOST_BYTES: Final = 1024 * 1024


def plan_text(plan: Plan, context: Mapping[str, str] = {}) -> list[str]:
    """The lines of a plan, the same in a confirmation and in a dry run, safe for a terminal.

    `context` is what the plan itself does not know of who asks and where ("asked by", "workspace"), by its label.
    Members of the request stand in their own order: a text as it is, several lines of it as an indented block;
    `[[name, value], …]` as `name = JSON` each; anything else as JSON. Texts that differ in any character are shown
    differently. Raises HelmError `refused` when the lines are over 1 MiB, which nobody reads.
    """
    who_and_where = {"extension": plan.extension, **context, "connection": plan.connection}
    if plan.profile is not None:
        who_and_where["profile"] = f"{plan.group}/{plan.profile}"
    who_and_where[plan.noun] = plan.operation
    labels = len(max(*who_and_where, *plan.request, key=len)) + 2
    lines = [f"  {label:<{labels}}{shown(value)}" for label, value in who_and_where.items()]
    for name, value in plan.request.items():
        lines.extend(_member(shown(name), value, labels))
    if sum(len(line.encode()) + 1 for line in lines) > MOST_BYTES:
        raise HelmError("refused", "the request is over 1 MiB when shown, too long to be read before it is sent")
    return lines


def _member(name: str, value: Json, labels: int) -> Iterator[str]:
    block = _block(value)
    if block is None:
        text = shown_exactly(value) if isinstance(value, str) else shown_json(dump(value))
        yield f"  {name:<{labels}}{text}"
        return
    yield f"  {name}"
    yield from (f"    {line}" for line in block)


def _block(value: Json) -> list[str] | None:
    """The lines of a value that takes a block of its own: a text of several lines, or named values."""
    if isinstance(value, str):
        return shown_exactly(value).split("\n") if "\n" in value else None
    if not isinstance(value, list) or not value:
        return None
    lines = []
    for pair in value:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
            return None
        lines.append(f"{shown(pair[0])} = {shown_json(dump(pair[1]))}")
    return lines
