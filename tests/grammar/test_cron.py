"""Cron: which expressions there are, what each means, and when it is due by a clock that summer time moves."""

import math
import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helm_cli.grammar import cron
from helm_cli.grammar.cron import Cron, Offset

FIELDS = "must be five fields with one space between them: minute, hour, day of month, month, day of week"


@pytest.mark.contract("P26")
@pytest.mark.parametrize(
    "text",
    ["* * * *", "0 0 * * * *", "0  0 * * *", " 0 0 * * *", "0 0 * * * ", "0\t0 * * *", "0 0 * * \n", "", "@reboot"],
)
def test_an_expression_has_five_fields_with_one_space_between(text: str) -> None:
    assert cron.fault(text) == FIELDS


@pytest.mark.contract("P26")
def test_a_shorthand_is_answered_with_its_fields() -> None:
    assert cron.fault("@daily") == f"{FIELDS}; write @daily as 0 0 * * *"
    assert cron.fault("@Daily") == FIELDS


NONE = ", which is none; it takes"
FAULTY = {
    "61 * * * *": "has the minute 61; it takes 0 to 59",
    "60 * * * *": "has the minute 60; it takes 0 to 59",
    "0 24 * * *": "has the hour 24; it takes 0 to 23",
    "0 0 0 * *": "has the day of month 0; it takes 1 to 31",
    "0 0 1 13 *": "has the month 13; it takes 1 to 12 or JAN to DEC",
    "0 0 * * 8": "has the day of week 8; it takes 0 to 7 or SUN to SAT",
    "0 0 * * FRB": "has the day of week FRB, which is none; did you mean FRI?",
    "0 0 * * QQQ": f"has the day of week QQQ{NONE} 0 to 7 or SUN to SAT",
    "0 0 * JUNE *": "has the month JUNE, which is none; did you mean JUN?",
    "0 MON * * *": f"has the hour MON{NONE} 0 to 23",
    "*/0 * * * *": "has the step /0 in its minute, where steps go from 1 to 59",
    "*/60 * * * *": "has the step /60 in its minute, where steps go from 1 to 59",
    "*/9999999999999 * * * *": "has the step /9999999999999 in its minute, where steps go from 1 to 59",
    "5-1 * * * *": "has the minute 5-1, where a range goes from the lower to the higher",
    "0 0 * * FRI-MON": "has the day of week FRI-MON, where a range goes from the lower to the higher",
    "5/15 * * * *": "has the minute 5/15, where a step needs a range; write 5-59/15",
    "*-5 * * * *": "has the minute *-5, where a range needs two ends",
    "1,,2 * * * *": f"has the minute ''{NONE} 0 to 59, *, a range, or a list",
    "1-2-3 * * * *": f"has the minute '1-2-3'{NONE} 0 to 59, *, a range, or a list",
    "007 * * * *": f"has the minute '007'{NONE} 0 to 59, *, a range, or a list",
    "-1 * * * *": f"has the minute '-1'{NONE} 0 to 59, *, a range, or a list",
    "1.5 * * * *": f"has the minute '1.5'{NONE} 0 to 59, *, a range, or a list",
    "\u0663 * * * *": f"has the minute '\u0663'{NONE} 0 to 59, *, a range, or a list",
    "0 0 L * *": f"has the day of month L{NONE} 1 to 31",
    "0 0 ? * *": f"has the day of month '?'{NONE} 1 to 31, *, a range, or a list",
    "0 0 * * MON#1": f"has the day of week 'MON#1'{NONE} 0 to 7 or SUN to SAT, *, a range, or a list",
    "0 0 30 2 *": "is never due: no such month has a day 30",
    "0 0 31 APR,JUN */2": "is never due: no such month has a day 31",
}


@pytest.mark.contract("P27")
@pytest.mark.parametrize("text", FAULTY)
def test_what_is_no_expression_is_told_by_its_field(text: str) -> None:
    assert cron.fault(text) == FAULTY[text]
    with pytest.raises(ValueError, match=r".") as told:
        cron.parse(text)
    assert str(told.value) == FAULTY[text]


def every(least: int, most: int) -> frozenset[int]:
    return frozenset(range(least, most + 1))


ALL_DAYS, ALL_MONTHS, ALL_WEEK = every(1, 31), every(1, 12), every(0, 6)
MEANINGS = {
    "0 14 * * MON": Cron(every(0, 0), every(14, 14), ALL_DAYS, ALL_MONTHS, every(1, 1), either=False, fixed=True),
    "*/15 9-17 * * 1-5": Cron(
        frozenset((0, 15, 30, 45)), every(9, 17), ALL_DAYS, ALL_MONTHS, every(1, 5), either=False, fixed=False
    ),
    "0 0 1,15 * *": Cron(every(0, 0), every(0, 0), frozenset((1, 15)), ALL_MONTHS, ALL_WEEK, either=False, fixed=True),
    "5-20/5,59 0 13 jan-Mar Fri": Cron(
        frozenset((5, 10, 15, 20, 59)), every(0, 0), every(13, 13), every(1, 3), every(5, 5), either=True, fixed=True
    ),
    "00 05 */10 * 7": Cron(
        every(0, 0), every(5, 5), frozenset((1, 11, 21, 31)), ALL_MONTHS, every(0, 0), either=False, fixed=True
    ),
    "0 0 * * FRI-SUN": Cron(
        every(0, 0), every(0, 0), ALL_DAYS, ALL_MONTHS, frozenset((5, 6, 0)), either=False, fixed=True
    ),
    **{
        f"0 0 * * {days}": Cron(every(0, 0), every(0, 0), ALL_DAYS, ALL_MONTHS, expected, either=False, fixed=True)
        for days, expected in {
            "SUN-SUN": frozenset((0,)),
            "0-sun": frozenset((0,)),
            "7": frozenset((0,)),
            "7-SUN": frozenset((0,)),
            "7-7": frozenset((0,)),
            "SUN-SAT": ALL_WEEK,
            "MON-SUN": ALL_WEEK,
            "0-7": ALL_WEEK,
            "SAT-7": frozenset((6, 0)),
            "SAT-SUN/2": frozenset((6,)),
        }.items()
    },
    "0 */6 29 2 0,7": Cron(
        every(0, 0), frozenset((0, 6, 12, 18)), every(29, 29), every(2, 2), every(0, 0), either=True, fixed=False
    ),
}


@pytest.mark.contract("P27")
@pytest.mark.parametrize("text", MEANINGS)
def test_what_an_expression_means(text: str) -> None:
    assert cron.parse(text) == MEANINGS[text]
    assert cron.fault(text) is None


def clock(zone: str) -> Offset:
    named = ZoneInfo(zone)

    def offset(at: float) -> int:
        ahead = datetime.fromtimestamp(at, named).utcoffset()
        return round(ahead.total_seconds()) if ahead is not None else 0

    return offset


def following(text: str, zone: str, after: str, times: int) -> list[str]:
    """The next times that it is due, as the clock there shows them, with how far it is ahead of UTC."""
    at = datetime.fromisoformat(after).replace(tzinfo=ZoneInfo(zone)).timestamp()
    found = []
    for _ in range(times):
        at = cron.next_after(cron.parse(text), at, clock(zone))
        found.append(datetime.fromtimestamp(at, ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M%z"))
    return found


@pytest.mark.contract("P27")
@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("0 14 * * MON", "2026-06-29 13:59", ["2026-06-29 14:00", "2026-07-06 14:00"]),
        ("0 14 * * MON", "2026-06-29 14:00", ["2026-07-06 14:00"]),
        ("*/15 9-17 * * 1-5", "2026-07-03 17:40", ["2026-07-03 17:45", "2026-07-06 09:00"]),
        ("0 0 1,15 * *", "2026-12-15 00:00", ["2027-01-01 00:00", "2027-01-15 00:00"]),
        ("0 0 13 * FRI", "2026-01-01 12:00", ["2026-01-02 00:00", "2026-01-09 00:00", "2026-01-13 00:00"]),
        ("0 0 */13 * FRI", "2026-01-01 12:00", ["2026-02-27 00:00", "2026-03-27 00:00"]),
        ("0 0 29 2 *", "2096-02-29 00:00", ["2104-02-29 00:00"]),
        ("59 23 31 12 *", "2026-12-31 23:59", ["2027-12-31 23:59"]),
        ("* * * * *", "2026-02-28 23:59", ["2026-03-01 00:00", "2026-03-01 00:01"]),
    ],
)
def test_when_it_is_due(text: str, after: str, expected: list[str]) -> None:
    assert following(text, "UTC", after, len(expected)) == [f"{time}+0000" for time in expected]


@pytest.mark.contract("P27")
@pytest.mark.parametrize(
    ("text", "zone", "after", "expected"),
    [
        # Put forward over a fixed time: due when it was put forward, once for all that were skipped.
        ("30 2 * * *", "Europe/Berlin", "2026-03-28 12:00", ["2026-03-29 03:00+0200", "2026-03-30 02:30+0200"]),
        ("0,30 2 * * *", "Europe/Berlin", "2026-03-29 01:59", ["2026-03-29 03:00+0200", "2026-03-30 02:00+0200"]),
        ("0 0 * * *", "America/Havana", "2026-03-07 12:00", ["2026-03-08 01:00-0400", "2026-03-09 00:00-0400"]),
        # Put back over a fixed time: the first of both.
        ("30 2 * * *", "Europe/Berlin", "2026-10-24 12:00", ["2026-10-25 02:30+0200", "2026-10-26 02:30+0100"]),
        ("0 23 * * *", "America/Sao_Paulo", "2018-02-17 12:00", ["2018-02-17 23:00-0200", "2018-02-18 23:00-0300"]),
        # By what the clock shows: nothing is made up for, and what it shows twice is due twice.
        (
            "*/30 * * * *",
            "Europe/Berlin",
            "2026-03-29 01:15",
            ["2026-03-29 01:30+0100", "2026-03-29 03:00+0200", "2026-03-29 03:30+0200"],
        ),
        (
            "*/30 * * * *",
            "Europe/Berlin",
            "2026-10-25 01:45",
            ["2026-10-25 02:00+0200", "2026-10-25 02:30+0200", "2026-10-25 02:00+0100", "2026-10-25 02:30+0100"],
        ),
        ("*/30 2 * * *", "Europe/Berlin", "2026-03-28 12:00", ["2026-03-30 02:00+0200"]),
        # Half an hour, and a whole day that a calendar left out.
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03 12:00", ["2026-10-04 02:30+1100", "2026-10-05 02:15+1100"]),
        ("0 12 * * *", "Pacific/Apia", "2011-12-29 13:00", ["2011-12-31 00:00+1400", "2011-12-31 12:00+1400"]),
        ("0 14 * * MON", "Asia/Kolkata", "2026-06-29 13:00", ["2026-06-29 14:00+0530"]),
    ],
)
def test_a_clock_that_is_put_forward_or_back(text: str, zone: str, after: str, expected: list[str]) -> None:
    assert following(text, zone, after, len(expected)) == expected


@pytest.mark.contract("P27")
@settings(max_examples=80)
@given(
    minute=st.sampled_from(["*", "*/7", "0", "30", "10-50/20", "5,59"]),
    hour=st.sampled_from(["*", "*/5", "0", "1-3", "2", "23"]),
    day=st.sampled_from(["*", "1", "29-31", "*/9"]),
    weekday=st.sampled_from(["*", "0", "MON-FRI", "6,7"]),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"]),
    start=st.integers(1_774_000_000, 1_794_000_000),
)
def test_it_is_what_a_clock_that_is_watched_each_minute_gives(
    minute: str, hour: str, day: str, weekday: str, zone: str, start: int
) -> None:
    found, offset = cron.parse(f"{minute} {hour} {day} * {weekday}"), clock(zone)
    begun = start - start % 60
    shown_before = datetime.fromtimestamp(begun, ZoneInfo(zone)).replace(tzinfo=None)
    # Where the clock was put back a moment ago, it may show again what was due already: begin on a quiet day.
    if offset(begun - 2 * 86_400) != offset(begun):
        return
    expected = math.inf
    for at in range(begun + 60, begun + 5 * 86_400, 60):
        shown = datetime.fromtimestamp(at, ZoneInfo(zone)).replace(tzinfo=None)
        if found.fixed:
            # Each wall time counts when the clock first shows it or a later one.
            passed = minutes(shown_before, shown)
            shown_before = max(shown_before, shown)
        else:
            passed = [shown]
        if any(is_shown(found, moment) for moment in passed):
            expected = at
            break
    if expected < math.inf:
        assert cron.next_after(found, begun, offset) == expected
    else:
        assert cron.next_after(found, begun, offset) >= begun + 5 * 86_400


def minutes(before: datetime, until: datetime) -> list[datetime]:
    count = max(round((until - before).total_seconds() / 60), 0)
    return [before + timedelta(minutes=number + 1) for number in range(count)]


def is_shown(found: Cron, shown: datetime) -> bool:
    numbered, named = shown.day in found.days, shown.isoweekday() % 7 in found.weekdays
    on_day = (numbered or named) if found.either else (numbered and named)
    return shown.minute in found.minutes and shown.hour in found.hours and shown.month in found.months and on_day


def test_the_end_of_the_calendar_is_no_fault() -> None:
    end = datetime(9999, 12, 31, 23, 59, tzinfo=UTC).timestamp()
    assert cron.next_after(cron.parse("0 0 1 1 *"), end, lambda at: 0) == math.inf


@given(st.text(alphabet="0123456789*/-, \tMONFRIJAN?#LW@", max_size=40))
def test_any_text_is_an_expression_or_has_a_fault(text: str) -> None:
    wrong = cron.fault(text)
    assert wrong is None or wrong.startswith(("must ", "has ", "is "))


def test_it_is_quick() -> None:
    begun = time.perf_counter()
    for text in ("0 0 29 2 *", "* * * * *", "59 23 31 12 *", "*/7 */5 29 2 *"):
        cron.next_after(cron.parse(text), 1_774_000_000, clock("Europe/Berlin"))
    cron.fault("1," * 100_000 + "1 * * * *")
    cron.fault("*/" + "9" * 100_000 + " * * * *")
    assert time.perf_counter() - begun < 2
