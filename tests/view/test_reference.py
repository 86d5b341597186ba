"""The reference of a manifest as people read it at a terminal: nothing of Markdown, nothing wider than the screen."""

import sys

import pytest

from helm_cli import dialects
from helm_cli.view.reference import laid
from tests.rig.terminal import at_terminal

PAGE = r"""# A page

Some `code` in a paragraph that is folded.

| Field | Type | Required | Default | Description |
|---|---|---|---|---|
| `id` | string | yes |  | Its id. |
| `kind` | `a` \| `b` | no | `a` | What it is. |

```yaml
# as it is, however wide it may be
```
"""


def test_a_page_is_laid_out() -> None:
    assert [*laid(PAGE, 30)] == [
        "A page",
        "",
        "Some code in a paragraph that",
        "is folded.",
        "",
        "id (string, required)",
        "    Its id.",
        "kind (a | b, else a)",
        "    What it is.",
        "",
        "    # as it is, however wide it may be",
    ]


@pytest.mark.parametrize("dialect", dialects.DIALECTS)
def test_the_references_fit(dialect: str) -> None:
    lines = [*laid(dialects.reference(dialect), 100)]
    assert not [line for line in lines if len(line) > 100]
    assert not [line for line in lines if line.startswith(("|", "#", "```"))]


def test_it_is_paged_at_a_terminal_and_markdown_in_a_pipe() -> None:
    command = (sys.executable, "-m", "helm_cli", "plugin", "reference")
    with at_terminal(*command, size=(80, 24)) as screen:
        screen.wait_for("Space: go on   b: back   q: leave")
        assert screen.screen()[0] == "Reference of manifest.json"
        screen.send(b"q")
        assert screen.status() == 0
    with at_terminal(*command, env={"HELM_CLI_NO_INPUT": "1"}, size=(80, 24)) as screen:
        assert screen.status() == 0
        assert b"$schema (string)" in screen.raw
    with at_terminal(*command, stdout="pipe") as screen:
        assert screen.status() == 0
        assert screen.out.startswith(b"# Reference of manifest.json\n")
