"""Plugins that the tests of plugin.yaml share: one with every field, and texts that are no YAML that is read."""

from typing import Final

from helm_cli.model.content import Content

HEAD: Final = "name: a\nversion: 1.0.0\ndescription: d\n"
AGENT: Final = "---\nname: writer\ndescription: Writes.\n---\n\nWrite a draft.\n"
SKILL: Final = "---\nname: style\ndescription: How we sound.\nlicense: MIT\n---\n# Style\n"

FULL: Final = """\
# yaml-language-server: $schema=https://docs.coderhelm.com/schema/plugin-manifest.v1.json
name: acme/marketing
version: 1.2.0-rc.1+build.5
description: Drafts posts from release notes.
skills: ["skills/*/SKILL.md"]
agents:
  - agents/*.md
settings:
  - key: audience
    type: string
  - key: codename
    type: string
    sensitive: true
  - key: api_key
    type: secret
  - key: crm
    type: connection
    provider: oauth2
    scopes: [contacts.read, contacts.write]
tools:
  - ref: mcp:sanity
    allow: ["get_*", list_issues, create_issue]
  - ref: mcp:sanity
    allow: [create_issue, "create_*"]
    risk: write
  - ref: mcp:github
    allow: ['*']
    risk: consequential
  - name: read_notes
    kind: builtin
    description: Reads the notes.
    risk: read
  - name: send_mail
    kind: http
    risk: consequential
triggers:
  - on: manual
    form: {brief: text, tone: [plain, playful]}
  - on: manual
  - on: schedule
    cron: 0 14 * * MON
  - on: github.release
outputs:
  - type: draft
    kinds: [blog, social]
  - type: draft
    kinds: [social, email]
  - type: publish
    via: send_mail
    approval:
      role: marketing_editor
      min: 2
  - type: publish
    via: send_mail
budget:
  monthly_tokens: 2000000
"""

# Name -> bytes of a plugin.yaml, the place at which they are refused, and the whole sentence.
BYTES: Final[dict[str, tuple[bytes, str]]] = {
    "a NUL": (
        (HEAD + "# \0\n").encode(),
        "4:3 a NUL is not read; remove it",
    ),
    "a control character": (
        HEAD.replace("d\n", "d\x1b[2J\n").encode(),
        "3:15 U+001B is not read; remove it",
    ),
    "a byte that is not UTF-8": (
        HEAD.encode() + b"# \xe9\n",
        "4:3 this byte is not UTF-8; save the file as UTF-8",
    ),
    "UTF-16 with a mark": (HEAD.encode("utf-16"), "1:1 the file is UTF-16; save it as UTF-8"),
    "UTF-16 without one": (HEAD.encode("utf-16-le"), "1:1 the file is UTF-16; save it as UTF-8"),
    "UTF-32": (HEAD.encode("utf-32-be"), "1:1 the file is UTF-32; save it as UTF-8"),
    "a byte order mark": (
        b"\xef\xbb\xbf" + HEAD.encode(),
        "1:1 the file begins with a byte order mark; save it as UTF-8 without one",
    ),
    "a byte order mark inside": (
        (HEAD + "# \ufeff\n").encode(),
        "4:3 U+FEFF is not read; remove it",
    ),
    "a line that only some readers end": (
        HEAD.replace("d\n", "d # no\u2028tools: []\n").encode(),
        "3:20 U+2028 ends a line for some readers and not for others; remove it",
    ),
    "a carriage return alone": (
        HEAD.replace("d\n", "d # no\rtools: []\n").encode(),
        "3:20 U+000D ends a line for some readers and not for others; remove it",
    ),
    "300 KiB": (
        (HEAD + "# " + "x" * 300 * 1024).encode(),
        "1:1 the file has 307,240 bytes; at most 262,144 are read",
    ),
    "50,000 brackets": (
        (HEAD + "tools: " + "[" * 50_000).encode(),
        "4:27 lists and mappings are nested deeper than 20 levels",
    ),
    "50,000 braces with keys": (
        (HEAD + "tools: " + "{a: " * 50_000).encode(),
        "4:84 lists and mappings are nested deeper than 20 levels",
    ),
    "50,000 dashes": (
        (HEAD + "tools:\n" + "- " * 50_000).encode(),
        "5:39 lists and mappings are nested deeper than 20 levels",
    ),
    "50,000 question marks": (
        (HEAD + "tools:\n" + "? " * 50_000).encode(),
        "5:3 a key must be text, not a mapping",
    ),
    "more values than anybody writes": (
        (HEAD + "tools: [" + "a, " * 50_000 + "]").encode(),
        "4:14994 the file has more than 5,000 values",
    ),
}

BOMB: Final = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def content(text: str | bytes = FULL, **more: str) -> Content:
    """A folder with this plugin.yaml, an agent and a skill, and more files: `agents__x` is agents/x.md."""
    data = text.encode() if isinstance(text, str) else text
    files = {"plugin.yaml": data, "agents/writer.md": AGENT.encode(), "skills/style/SKILL.md": SKILL.encode()}
    return Content({**files, **{f"{name.replace('__', '/')}.md": body.encode() for name, body in more.items()}})
