"""What `helm plugin new --dialect plugin.yaml` writes: a plugin that is valid as it stands and shows every field."""

import re
from typing import Final

from helm_cli.model.errors import HelmError

_ID: Final = re.compile(r"([a-z0-9][a-z0-9-]{0,38}/)?[a-z0-9][a-z0-9-]{0,63}")

_MANIFEST: Final = """\
# yaml-language-server: $schema=https://docs.coderhelm.com/schema/plugin-manifest.v1.json
name: {id}
version: 0.1.0
description: What this plugin does, in one line.

# Paths or globs of the texts that say how it behaves; these are the defaults.
agents: ["agents/*.md"]
skills: ["skills/*/SKILL.md"]

# What each team fills in. A secret and a connection are always sensitive.
settings:
  - key: audience
    type: string
  - key: internal_codename
    type: string
    sensitive: true
  - key: newsletter_key
    type: secret
  - key: crm
    type: connection
    provider: oauth2
    scopes: [contacts.read]

# Every tool that a run may call. What is not listed does not exist for it.
tools:
  # Tools of the team's MCP server named cms. A * stands for any characters; such names go in quotes.
  - ref: mcp:cms
    allow: ["get_*", list_posts]
  - ref: mcp:cms
    allow: [create_draft]
    risk: write
  # Tools of the plugin's own, each bound to a service by `helm plugin bind`. kind: builtin is a tool that a host brings
  # along; this helm brings none.
  - name: read_release_notes
    kind: http
    description: Read the notes of the release that started the run.
    risk: read
  - name: send_newsletter
    kind: http
    description: Send the approved text to the subscribers.
    risk: consequential

# What starts a run, besides a person who writes a brief.
triggers:
  - on: manual
    form:
      brief: text
      tone: [plain, playful]
  - on: schedule
    cron: 0 14 * * MON
  - on: github.release

# Drafts wait for approval; what publishes sends an approved one by a consequential tool.
outputs:
  - type: draft
    kinds: [blog, social, email, image, action]
  - type: publish
    via: send_newsletter
    approval:
      role: marketing_editor
      min: 2

# Empty or 0: no limit of its own.
budget:
  monthly_tokens: 2000000
"""

_AGENT: Final = """\
---
name: writer
description: Writes the drafts.
---

Read the brief and the release notes. Write one draft of each kind that the brief asks for, in the tone it names.
Look at what was published before with `list_posts`. Publish nothing yourself: every draft waits for a person.
"""

_SKILL: Final = """\
---
name: house-style
description: How texts of this team sound. Use it before writing any draft.
---

# House style

- Say what is new in the first sentence.
- One idea a paragraph, no exclamation marks.
"""

_README: Final = """\
# {id}

A plugin for `helm`: `plugin.yaml` declares what it may touch, `agents/` and `skills/` say how it behaves.

- `helm plugin validate .` checks all of it.
- `helm plugin review .` shows what it asks for, and asks whether you approve it.
- `helm mcp add cms --url URL` adds the MCP server that it uses.

Every change of a file in this folder asks for approval again. `helm plugin reference --dialect plugin.yaml` lists all
fields.
"""


def files(identifier: str) -> dict[str, str]:
    """Path -> text. Raises HelmError("usage") for an id that no plugin can have."""
    if not _ID.fullmatch(identifier):
        allowed = "lower-case letters, digits and -, as in marketing or acme/marketing"
        raise HelmError("usage", f"the id of a plugin must be {allowed}; choose another")
    return {
        "plugin.yaml": _MANIFEST.format(id=identifier),
        "agents/writer.md": _AGENT,
        "skills/house-style/SKILL.md": _SKILL,
        "README.md": _README.format(id=identifier),
        # Approval pins bytes: a checkout that turned the line ends would ask for approval again.
        ".gitattributes": "* -text\n",
    }
