"""Whether two globs of tools let in the same tool: compared with every name of a small alphabet."""

import time
from itertools import product

from helm_cli.grammar.tool_glob import matches, meet

NAMES = ["".join(letters) for length in range(7) for letters in product("ab", repeat=length)]
PATTERNS = ["".join(letters) for length in range(4) for letters in product("ab*", repeat=length)]


def test_patterns_meet_where_a_name_matches_both() -> None:
    matched = {pattern: {name for name in NAMES if matches(pattern, name)} for pattern in PATTERNS}
    for one, other in product(PATTERNS, repeat=2):
        assert meet(one, other) == bool(matched[one] & matched[other]), (one, other)


def test_no_pattern_takes_long() -> None:
    began = time.process_time()
    assert not meet("*a" * 500 + "b", "*a" * 500 + "c")
    assert meet("*a" * 500, "a*" * 500)
    assert time.process_time() - began < 5
