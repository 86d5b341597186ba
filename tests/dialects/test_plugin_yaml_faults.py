"""Every faulty plugin of plugin_faulty.txt: all faults in one run, each with its line, column, path and sentence."""

import re

import pytest

from helm_cli import dialects
from helm_cli.model.content import Content
from tests.dialects.golden import Case, cases
from tests.dialects.yaml_samples import HEAD, content

AGENT = b"---\n---\nWrite.\n"


CASES = cases("plugin_faulty.txt")
# A block's name begins with the item of the checklist that it proves.
PARAMETERS = [pytest.param(case, id=case.name, marks=pytest.mark.contract(case.name.split()[0])) for case in CASES]


@pytest.mark.contract("P34", "P35")
def test_the_table_is_whole() -> None:
    assert len(CASES) > 140
    assert len({case.name for case in CASES}) == len(CASES)
    assert all(case.faults for case in CASES)
    places = {line.split()[0] for case in CASES for line in case.faults.splitlines()}
    assert len(places) > 60


@pytest.mark.parametrize("case", PARAMETERS)
def test_faults(case: Case) -> None:
    reading = dialects.read(Content({"plugin.yaml": case.manifest.encode(), "agents/writer.md": AGENT}))
    assert reading.extension is None
    assert {fault.file for fault in reading.faults} == {"plugin.yaml"}
    told = "\n".join(f"{fault.line}:{fault.column} {fault.path or '.'}: {fault.message}" for fault in reading.faults)
    assert told == case.faults
    assert all(fault.message.isprintable() for fault in reading.faults)


@pytest.mark.contract("P12", "P13", "P14", "P15", "P20", "P21", "P29", "P30", "P31")
def test_these_items_have_their_cases_in_the_table() -> None:
    proven = {case.name.split()[0] for case in CASES}
    assert {"P12", "P13", "P14", "P15", "P20", "P21", "P29", "P30", "P31"} <= proven


@pytest.mark.contract("P34")
def test_faults_are_sorted_by_line() -> None:
    for case in CASES:
        places = [tuple(map(int, line.split()[0].split(":"))) for line in case.faults.splitlines()]
        assert places == sorted(places)


@pytest.mark.contract("P34")
def test_more_faults_than_anybody_reads() -> None:
    many = dialects.read(content(HEAD + "".join(f"x{number}: 1\n" for number in range(4_000)))).faults
    assert len(many) == 500
    assert all("is unknown here" in fault.message for fault in many)
    twice = dialects.read(content(HEAD + "name: b\n" * 5_000)).faults
    assert len(twice) == 500
    assert "there are 500 faults or more; nothing after this one was read" in [fault.message for fault in twice]


@pytest.mark.contract("P36")
def test_a_trap_hides_no_other_fault() -> None:
    text = f"{HEAD}name: b\nagents: &x [5]\nskills: *x\ntolls: []\nsettings:\n  - <<: *y\n    typ: string\n"
    assert [f"{fault.line}:{fault.column} {fault.message[:36]}" for fault in dialects.read(content(text)).faults] == [
        '4:1 the key "name" stands twice, first i',
        "5:9 &x is an anchor in YAML, and none is",
        '5:13 entry 1 of "agents" must be text, no',
        "6:9 *x is an alias in YAML, and none is ",
        '7:1 the field "tolls" is unknown here; d',
        "9:5 << merges mappings in YAML, and none",
        '10:5 the field "typ" is unknown here; did',
    ]


@pytest.mark.contract("P17")
def test_more_tools_than_anybody_reviews() -> None:
    names = ", ".join(f"t{number}" for number in range(501))
    (fault,) = dialects.read(content(f"{HEAD}tools:\n  - ref: mcp:a\n    allow: [{names}]\n")).faults
    assert (fault.line, fault.column) == (4, 1)
    assert fault.message == '"tools" allows 501 names and globs; at most 500 are read'


@pytest.mark.contract("P9")
def test_more_globs_than_can_be_compared() -> None:
    globs = ", ".join(f"'*{'a*' * 100}{number}'" for number in range(800))
    folder = content(f"{HEAD}agents: [{globs}]\n")
    (fault,) = dialects.read(Content({**folder.files, "a" * 200: b""})).faults
    assert re.fullmatch(r'"agents" has more globs than helm compares with so many files', fault.message)
