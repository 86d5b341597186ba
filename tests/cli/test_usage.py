"""What the command line says to words that it does not know: one line, one status, what was probably meant."""

import pytest

from tests.program import Helm


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nosuch", "there is no such command (see helm --help)"),
        ("plugn list", "there is no command plugn; did you mean plugin? (see helm --help)"),
        ("db rm local-app", "there is no command rm; did you mean remove? (see helm db --help)"),
        ("plugin rm tickets", "there is no command rm; did you mean forget? (see helm plugin --help)"),
        ("approve tickets", "there is no command approve; did you mean plugin review? (see helm --help)"),
        ("logs", "there is no command logs; did you mean history? (see helm --help)"),
        ("db list -o yaml", "-o takes auto or json"),
    ],
)
def test_unknown_words_are_answered_in_one_line(helm: Helm, words: str, message: str) -> None:
    ended = helm(*words.split())
    assert (ended.status, ended.out, ended.err) == (2, "", f"helm: {message}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "call app recent id=3",
            "a call takes its arguments as options; did you mean --arg NAME=VALUE? (see helm call --help)",
        ),
        ("call app recent --jobs 4", "--jobs goes with --batch: a single call has nothing to run beside it"),
        (
            "call app recent -o yaml",
            "-o takes auto, json, pretty, data, table, csv, tsv, ndjson or text",
        ),
        ("call", "a call names a CONNECTION and an OPERATION; this workspace has none yet"),
        ("call --batch nosuch.jsonl", "the batch nosuch.jsonl cannot be read: no such file or directory"),
        ("call app --batch -", "--batch takes its calls from the file; give no connection, operation or argument"),
    ],
)
def test_a_call_that_is_not_understood_is_an_envelope_in_a_pipe(helm: Helm, words: str, message: str) -> None:
    ended = helm(*words.split())
    assert (ended.status, ended.err) == (2, f"helm: {message}\n")
    assert ended.json == {"ok": False, "data": None, "error": {"code": "usage", "message": message}}


def test_help_is_had_in_every_way(helm: Helm) -> None:
    wanted = helm("call", "--help")
    assert wanted.status == 0
    for words in (("help", "call"), ("call", "-h")):
        assert helm(*words) == wanted
    assert helm("version").out == helm("--version").out
    alone = helm()
    assert (alone.status, alone.out, alone.err) == (2, "", helm("--help").out)
