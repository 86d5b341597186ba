"""Every faulty manifest of faulty.txt: all faults in one run, each with its line, column, path and sentence."""

import pytest

from helm_cli import dialects
from helm_cli.model.content import Content
from tests.dialects.golden import Case, cases

CASES = cases("faulty.txt")


def test_the_table_is_whole() -> None:
    assert len(CASES) > 140
    assert len({case.name for case in CASES}) == len(CASES)
    assert all(case.faults for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_faults(case: Case) -> None:
    reading = dialects.read(Content({"manifest.json": case.manifest.encode()}))
    assert reading.extension is None
    assert {fault.file for fault in reading.faults} == {"manifest.json"}
    told = "\n".join(f"{fault.line}:{fault.column} {fault.path or '.'}: {fault.message}" for fault in reading.faults)
    assert told == case.faults


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_sentence_repeats_a_url_or_a_credential(case: Case) -> None:
    for fault in dialects.read(Content({"manifest.json": case.manifest.encode()})).faults:
        assert "secret" not in fault.message
        assert "evil" not in fault.message
        assert fault.message.isprintable()
        assert fault.path.isprintable()
