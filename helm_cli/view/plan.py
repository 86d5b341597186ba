"""What a person reads of a planned call before it is sent: who wants what, where, and every member of the request."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json, dump
from helm_cli.model.plan import Plan, Revision
from helm_cli.view.lines import Line
from helm_cli.view.text import shown, shown_exactly, shown_json

MOST_BYTES: Final = 1024 * 1024


def plan_text(plan: Plan, context: Mapping[str, str] = {}) -> list[str]:
    """The lines of a plan, the same in a confirmation and in a dry run, safe for a terminal.

    `context` is what the plan itself does not know of who asks and where ("asked by", "workspace"), by its label.
    Members of the request stand in their own order: a text as it is, several lines of it as an indented block;
    `[[name, value], …]` as `name = JSON` each; anything else as JSON. Texts that differ in any character are shown
    differently. Raises HelmError `refused` when the lines are over 1 MiB, which nobody reads.
    """
    lines = list(_lines(plan, context))
    check_readable(lines)
    return lines


def revised_text(plan: Plan, context: Mapping[str, str], revisions: Iterable[Revision]) -> list[str | Line]:
    """The same with a line diff of each text that the write replaces, which then is not shown as a member too.

    Raises HelmError `refused` likewise.
    """
    # Most plans replace no text.
    from helm_cli.view import diff

    revisions = list(revisions)
    request = dict(plan.request)
    for revision in revisions:
        # The last one: a path may read like the text of its file.
        if same := [name for name, value in request.items() if value == revision.after]:
            del request[same[-1]]
    lines: list[str | Line] = [*_lines(plan._replace(request=request), context)]
    for revision in revisions:
        lines += diff.lines(revision)
    check_readable(line if isinstance(line, str) else line.text for line in lines)
    return lines


def _lines(plan: Plan, context: Mapping[str, str]) -> Iterator[str]:
    who_and_where = {"extension": plan.extension, **context, "connection": plan.connection}
    if plan.profile is not None:
        who_and_where["profile"] = f"{plan.group}/{plan.profile}"
    if plan.request.get(plan.noun) != plan.operation:  # else it stands below
        who_and_where[plan.noun] = plan.operation
    labels = len(max(*who_and_where, *plan.request, key=len)) + 2
    yield from (f"  {label:<{labels}}{shown(value)}" for label, value in who_and_where.items())
    # A request of HTTP is ASCII, and to spell any of it out would show what is not sent.
    spelled = shown if plan.kind == "http" else shown_exactly
    for name, value in plan.request.items():
        yield from _member(shown(name), value, labels, spelled)


def check_readable(lines: Iterable[str]) -> None:
    """Raises HelmError `refused` for lines of over 1 MiB, which nobody reads before they say yes."""
    if sum(len(line.encode()) + 1 for line in lines) > MOST_BYTES:
        raise HelmError("refused", "the request is over 1 MiB when shown, too long to be read before it is sent")


def _member(name: str, value: Json, labels: int, spelled: Callable[[str], str]) -> Iterator[str]:
    block = _block(value)
    if block is None:
        text = spelled(value) if isinstance(value, str) else shown_json(dump(value))
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
