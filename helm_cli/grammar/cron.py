"""When a five-field cron expression is due: its names, ranges, steps and lists, by a clock that summer time moves."""

import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from helm_cli.model.wording import meant

# Seconds that local time is ahead of UTC at an instant, in seconds since the epoch: `time.localtime(at).tm_gmtoff`.
Offset = Callable[[float], int]

_DAY: Final = 86_400
# From one 29 February to the next, over a century that has none.
_LONGEST_DAYS: Final = 8 * 366 + 1
_ITEM: Final = re.compile(
    r"(?P<first>\*|[0-9]{1,2}|[A-Za-z]+)(?:-(?P<last>[0-9]{1,2}|[A-Za-z]+))?(?:/(?P<step>[0-9]+))?"
)
_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_SHORTHANDS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_FIELDS: Final = "minute, hour, day of month, month, day of week"


class Cron(NamedTuple):
    """The times that an expression means: of each field the values that match.

    `weekdays` count from 0, Sunday, to 6. `either` says that a day matches by its number or by its weekday, not by
    both. `fixed` says that the expression names hours and minutes, so that each is due once a day whatever the clock
    does.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either: bool
    fixed: bool


class _Field(NamedTuple):
    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()


_MINUTE: Final = _Field("minute", 0, 59)
_HOUR: Final = _Field("hour", 0, 23)
_DAY_OF_MONTH: Final = _Field("day of month", 1, 31)
_MONTH: Final = _Field("month", 1, 12, _MONTHS)
_DAY_OF_WEEK: Final = _Field("day of week", 0, 7, _WEEKDAYS)


def fault(text: str) -> str | None:
    """Why this is no cron expression: a clause that follows its name ("must be …", "has …"); None where it is one."""
    try:
        parse(text)
    except ValueError as error:
        return str(error)
    return None


def parse(text: str) -> Cron:
    """What an expression means, as crontab(5) has it: five fields, one space apart. Names are in any case.

    A day matches by both its number and its weekday, or by either where neither field begins with `*`. Raises
    ValueError with the clause of `fault`.
    """
    words = text.split(" ")
    if len(words) != 5 or any(not word or re.search(r"\s", word) for word in words):
        same = f"; write {text} as {_SHORTHANDS[text]}" if text in _SHORTHANDS else ""
        raise ValueError(f"must be five fields with one space between them: {_FIELDS}{same}")
    minute, hour, day, month, weekday = words
    found = Cron(
        minutes=_values(minute, _MINUTE),
        hours=_values(hour, _HOUR),
        days=_values(day, _DAY_OF_MONTH),
        months=_values(month, _MONTH),
        weekdays=frozenset(value % 7 for value in _values(weekday, _DAY_OF_WEEK)),
        either=not day.startswith("*") and not weekday.startswith("*"),
        fixed=not minute.startswith("*") and not hour.startswith("*"),
    )
    if not found.either and min(found.days) > max(map(_longest, found.months)):
        raise ValueError(f"is never due: no such month has a day {min(found.days)}")
    return found


def next_after(cron: Cron, after: float, offset: Offset) -> float:
    """The first instant after this one when it is due, in seconds since the epoch; infinity where time ends before.

    Where the clock is put forward over a fixed time, that is due when the clock was put forward; where it is put back
    over one, the first time counts. An expression with `*` as its minute or hour goes by what the clock shows.
    """
    day = _local(after, offset).date() - timedelta(days=1)
    nearest = math.inf
    try:
        for _ in range(_LONGEST_DAYS + 2):
            found = min((at for at in _instants(cron, day, offset) if at > after), default=math.inf)
            if nearest < math.inf:
                # A clock put back just after midnight shows the end of one day after the beginning of the next.
                return min(nearest, found)
            nearest = found
            day += timedelta(days=1)
    except OverflowError:
        return math.inf
    return nearest


def _values(text: str, field: _Field) -> frozenset[int]:
    return frozenset(value for item in text.split(",") for value in _item(item, field))


def _item(text: str, field: _Field) -> range:
    match = _ITEM.fullmatch(text)
    if match is None:
        raise ValueError(f"has the {field.name} {text[:40]!r}, which is none; {_allowed(field)}, *, a range, or a list")
    first, last, step = match["first"], match["last"], match["step"]
    if step is not None and not 1 <= int(step[:9]) <= field.most:
        raise ValueError(f"has the step /{step[:20]} in its {field.name}, where steps go from 1 to {field.most}")
    if step is not None and first != "*" and last is None:
        raise ValueError(
            f"has the {field.name} {text}, where a step needs a range; write {first}-{field.most}/{int(step)}"
        )
    low, high = _ends(text, first, last, field)
    return range(low, high + 1, int(step or 1))


def _ends(text: str, first: str, last: str | None, field: _Field) -> tuple[int, int]:
    """The lowest and the highest value of an item."""
    if first == "*":
        if last is not None:
            raise ValueError(f"has the {field.name} {text}, where a range needs two ends")
        return field.least, field.most
    low = _value(first, field)
    if last is None:
        return low, low
    # SUN is 0, but FRI-SUN is what people write.
    high = 7 if field is _DAY_OF_WEEK and last.upper() == "SUN" and low > 0 else _value(last, field)
    if high < low:
        raise ValueError(f"has the {field.name} {first}-{last}, where a range goes from the lower to the higher")
    return low, high


def _value(text: str, field: _Field) -> int:
    if text.isdecimal():
        if not field.least <= int(text) <= field.most:
            raise ValueError(f"has the {field.name} {text}; {_allowed(field)}")
        return int(text)
    if text.upper() in field.names:
        return field.names.index(text.upper()) + field.least
    close = meant(text.upper(), field.names)
    hint = f"did you mean {close}?" if close else _allowed(field)
    raise ValueError(f"has the {field.name} {text[:40]}, which is none; {hint}")


def _allowed(field: _Field) -> str:
    names = f" or {field.names[0]} to {field.names[-1]}" if field.names else ""
    return f"it takes {field.least} to {field.most}{names}"


def _longest(month: int) -> int:
    return 29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31


def _instants(cron: Cron, day: date, offset: Offset) -> Iterator[float]:
    """When it is due by what the clock shows on this day, in no order."""
    numbered, named = day.day in cron.days, day.isoweekday() % 7 in cron.weekdays
    if day.month not in cron.months or not (numbered or named if cron.either else numbered and named):
        return
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
    # The clock's whole day and a day around it, which no zone is further away than.
    before, later = offset(midnight - _DAY), offset(midnight + 2 * _DAY)
    for hour in cron.hours:
        for minute in cron.minutes:
            shown = midnight + hour * 3600 + minute * 60
            if before == later:
                yield shown - before
            else:
                yield from _moved(cron, shown, {before, later}, offset)


def _moved(cron: Cron, shown: float, offsets: set[int], offset: Offset) -> Iterator[float]:
    """The instants when a clock that was put forward or back shows this time (as if it were UTC)."""
    exact = sorted(shown - ahead for ahead in offsets if offset(shown - ahead) == ahead)
    if not cron.fixed:
        yield from exact
    elif exact:
        yield exact[0]
    else:
        early, late = int(shown - max(offsets)), int(shown - min(offsets))
        while late - early > 1:
            middle = (early + late) // 2
            early, late = (early, middle) if middle + offset(middle) >= shown else (middle, late)
        yield late


def _local(at: float, offset: Offset) -> datetime:
    return datetime.fromtimestamp(at + offset(at), UTC)
