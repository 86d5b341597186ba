"""How the findings about helm's health are shown: grouped and aligned for people, a line each for everybody else."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from helm_cli.model.health import Check, Status
from helm_cli.model.jsontext import dump, repaired
from helm_cli.model.wording import brief
from helm_cli.view.lines import Line, Style, drawn, line
from helm_cli.view.streams import Streams
from helm_cli.view.text import shown, shown_json, wrapped

MARKS: Final[dict[Status, tuple[str, Style]]] = {
    "ok": ("ok", "come"),
    "warning": ("warning", "warning"),
    "unreachable": ("not reachable", "gone"),
    "broken": ("broken", "write"),
}
_MARK: Final = max(len(word) for word, _ in MARKS.values())
_WIDEST_NAME: Final = 24
_NARROWEST: Final = 24


def page(checks: Sequence[Check], streams: Streams) -> str:
    """All lines, the last of which sums up. With a quiet voice what is well is left out, as is a sum of no problem."""
    told = [check for check in checks if check.status != "ok"] if streams.voice == "quiet" else checks
    summed = () if streams.voice == "quiet" and all(check.well for check in checks) else (_summed(checks),)
    if not streams.out_terminal:
        return "".join(f"{text}\n" for text in (*map(_plain, told), *(whole.text for whole in summed)))
    names = min(max((len(shown(check.name)) for check in told), default=0), _WIDEST_NAME)
    laid = [*summed]
    for area, group in reversed([(area, list(group)) for area, group in groupby(told, lambda check: check.area)]):
        laid[:0] = [line((area, "bold")), *(part for check in group for part in _laid(check, names, streams)), Line("")]
    return "".join(f"{drawn(whole, color=streams.color)}\n" for whole in laid)


def as_json(checks: Sequence[Check], streams: Streams) -> str:
    """The same for programs: one JSON object in one line."""
    text = dump(repaired({"ok": all(check.well for check in checks), "checks": [check._asdict() for check in checks]}))
    return (shown_json(text) if streams.out_terminal else text) + "\n"


def _laid(check: Check, names: int, streams: Streams) -> Iterator[Line]:
    """The lines of one check, its name so wide; no line but that of the next step is longer than the terminal."""
    word, style = MARKS[check.status]
    head, name = 2 + _MARK + 2, shown(check.name)
    at = head + names + 2
    first, *rest = (part.rstrip() for part in wrapped(shown(check.message), max(streams.width - at, _NARROWEST)))
    yield line("  ", (word, style), f"{' ' * (head - 2 - len(word))}{name:<{names}}  {first}")
    for part in rest:
        yield Line(" " * at + part)
    if check.next is not None:
        # Not folded, so that it can be copied whole.
        yield Line(f"{' ' * head}next: {shown(check.next)}")


def _plain(check: Check) -> str:
    step = f" (next: {check.next})" if check.next is not None else ""
    return f"{MARKS[check.status][0]}: {check.area}: {check.name}: {check.message}{step}"


def _summed(checks: Sequence[Check]) -> Line:
    warnings = sum(check.status == "warning" for check in checks)
    also = f"; {warnings} warning{'' if warnings == 1 else 's'}" if warnings else ""
    wrong = list(dict.fromkeys(shown(check.name) for check in checks if not check.well))
    if not wrong:
        return line(("all is well", "come"), also)
    number = sum(not check.well for check in checks)
    return line((f"{number} problem{'' if number == 1 else 's'}", "write"), f": {brief(wrong)}{also}")
