"""How a draft stands: whose yes counts, whose no, and that the last word of each does."""

import pytest

from helm_cli.model.draft import Decision, Draft, Filed, Rule, Said, Standing, body_fault, standing, title_fault

ASKER, ADA, BEN, EVE = 1, 2, 3, 4
DRAFT = Draft("abcdefgh", "a/b", "blog", "T", "x", None, "2026-07-01", ASKER, "sha256:d")


def stands(rule: Rule, *words: tuple[int, Said, str]) -> Standing:
    """How it stands after these people said this at these times."""
    decisions = tuple(Decision(uid, said, DRAFT.digest, at) for uid, said, at in words)
    return standing(Filed(DRAFT, decisions, None), rule)


@pytest.mark.contract("P32")
def test_so_many_different_people_have_to_say_yes() -> None:
    two = Rule(2)
    assert not stands(two).ready
    assert stands(two, (ADA, "approve", "1"), (ADA, "approve", "2")) == Standing((ADA,), (), 2)
    assert not stands(two, (ADA, "approve", "1"), (ADA, "approve", "2")).ready
    assert stands(two, (BEN, "approve", "2"), (ADA, "approve", "1")) == Standing((ADA, BEN), (), 2)
    assert stands(two, (BEN, "approve", "2"), (ADA, "approve", "1")).ready


@pytest.mark.contract("P32")
def test_who_asked_never_approves_not_even_from_a_list() -> None:
    for rule in (Rule(1), Rule(1, "editor", (ASKER, ADA))):
        assert stands(rule, (ASKER, "approve", "1")) == Standing((), (), 1)
        assert not rule.may(ASKER, DRAFT)


@pytest.mark.contract("P32")
def test_where_there_is_a_list_nobody_else_counts() -> None:
    rule = Rule(1, "editor", (ADA, BEN))
    assert stands(rule, (EVE, "approve", "1")) == Standing((), (), 1)
    assert stands(rule, (EVE, "reject", "2"), (ADA, "approve", "1")) == Standing((ADA,), (), 1)
    assert stands(rule, (BEN, "reject", "2"), (ADA, "approve", "1")) == Standing((ADA,), (BEN,), 1)
    assert not stands(rule, (BEN, "reject", "2"), (ADA, "approve", "1")).ready
    assert stands(Rule(1, "editor", ()), (ADA, "approve", "1")) == Standing((), (), 1)


def test_a_no_stands_until_the_same_person_says_yes() -> None:
    assert not stands(Rule(1), (ADA, "approve", "1"), (BEN, "reject", "2")).ready
    assert stands(Rule(1), (ADA, "approve", "1"), (BEN, "reject", "2"), (BEN, "approve", "3")).ready
    assert not stands(Rule(1), (ADA, "approve", "1"), (ADA, "reject", "2")).ready
    assert not stands(Rule(1), (ADA, "reject", "1"), (ADA, "approve", "1")).ready
    assert stands(Rule(1), (ADA, "approve", "2"), (ASKER, "reject", "1")) == Standing((ADA,), (ASKER,), 1)


def test_what_was_said_to_another_content_counts_for_nothing() -> None:
    old = tuple(Decision(ADA, said, "sha256:old", "9") for said in ("approve", "reject"))
    assert standing(Filed(DRAFT, old, None), Rule(1)) == Standing((), (), 1)


@pytest.mark.parametrize(
    ("title", "fault"),
    [
        ("Version 2", None),
        ("\U0001f469\u200d\U0001f4bb \u202e" + "x" * 235, None),
        ("", "must be one line of text"),
        (" \t", "must be one line of text"),
        ("a\nb", "must be one line of text"),
        ("a\u2028b", "must be one line of text"),
        ("a\x1b[2J", "must be one line of text"),
        ("\ud800", "must be one line of text"),
        (7, "must be one line of text"),
        ("x" * 240, None),
        ("x" * 241, "must have at most 240 characters"),
    ],
)
def test_a_title_is_a_line(title: object, fault: str | None) -> None:
    assert title_fault(title) == fault


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("x", None),
        ("\x1b\n", None),
        ("", "must not be empty"),
        (" \n", "must not be empty"),
        (None, "must not be empty"),
        ("é" * 131_072, None),
        ("é" * 131_072 + "x", "must have at most 256 KiB"),
    ],
)
def test_a_text_is_not_empty_and_not_too_long(body: object, fault: str | None) -> None:
    assert body_fault(body) == fault
