"""The fuzz tests led by coverage: `python -m tests.proofs.fuzz TARGET [options of libFuzzer]`, alone a list of them.

It needs atheris (`pip install atheris`), which no other test does. The targets are the tests that hypothesis runs for a
moment each: here one of them runs until it fails, or as long as `-max_total_time=SECONDS` says.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

# Name -> a test of hypothesis that takes no fixture.
TARGETS: Final[dict[str, str]] = {
    "argument": "tests.proofs.test_fuzz:test_an_argument_is_what_json_prints_back_or_else_the_text",
    "arguments": "tests.proofs.test_fuzz:test_any_words_are_arguments_or_a_usage_error",
    "json": "tests.proofs.test_fuzz:test_json_is_read_as_python_reads_it_where_both_may",
    "url": "tests.proofs.test_fuzz:test_no_value_changes_where_a_url_leads",
    "body": "tests.proofs.test_fuzz:test_a_body_is_the_declared_one_with_each_value_in_its_own_type",
    "sql": "tests.proofs.test_fuzz:test_what_sqlite_runs_is_counted_as_sqlite_counts_it",
    "callback": "tests.proofs.test_fuzz_wires:test_only_the_state_of_this_sign_in_makes_a_callback",
    "frames": "tests.proofs.test_fuzz_wires:test_frames_are_read_however_they_are_cut_and_what_is_none_ends_it",
    "frame": "tests.proofs.test_fuzz_wires:test_an_end_that_says_no_frame_is_left_at_once",
    "manifest": "tests.dialects.test_fuzz:test_bytes",
    "manifest-json": "tests.dialects.test_fuzz:test_scraps_of_json",
    "manifest-value": "tests.dialects.test_fuzz:test_a_valid_manifest_with_another_value_somewhere",
    "plugin-yaml": "tests.dialects.test_plugin_yaml_fuzz:test_bytes",
    "plugin-yaml-scraps": "tests.dialects.test_plugin_yaml_fuzz:test_scraps_of_yaml",
    "glob": "tests.grammar.test_glob:test_the_matcher_agrees_with_a_plain_one",
    "globs": "tests.grammar.test_glob:test_globs_followed_step_by_step_match_the_same",
    "tool-glob": "tests.grammar.test_tool_glob:test_it_matches_as_the_same_regular_expression_does",
    "cron": "tests.grammar.test_cron:test_it_is_what_a_clock_that_is_watched_each_minute_gives",
    "cron-text": "tests.grammar.test_cron:test_any_text_is_an_expression_or_has_a_fault",
    "database-url": "tests.grammar.test_database_url:test_any_text_is_taken_or_refused_without_its_secret",
    "toml": "tests.store.test_tomltext:test_any_text_is_read_as_tomllib_reads_it",
    "mcp-line": "tests.drivers.test_mcp_wire:test_nothing_crashes",
    "mcp-lines": "tests.drivers.test_mcp_wire:test_lines_do_not_depend_on_how_they_come",
    "shown": "tests.view.test_text:test_what_is_shown_is_harmless_and_stays_so",
    "diff": "tests.view.test_diff:test_texts_that_differ_are_shown_differently",
}


def target(name: str) -> Callable[[bytes], Any]:
    """What is fed bytes, from which hypothesis makes the test's own values."""
    module, _, test = TARGETS[name].partition(":")
    found: Callable[[bytes], Any] = getattr(import_module(module), test).hypothesis.fuzz_one_input
    return found


def main(words: list[str]) -> None:
    if not words or words[0] not in TARGETS:
        print("\n".join(TARGETS))
        sys.exit(2)
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=["helm_cli"]):
        run = target(words[0])
    atheris.Setup([sys.argv[0], *words[1:]], run)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
