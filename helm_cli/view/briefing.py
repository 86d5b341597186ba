"""What a person, or the host of a model, reads of a run that starts: the page, and the same as JSON."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from helm_cli.model.extension import Extension
from helm_cli.model.jsontext import Json
from helm_cli.model.plugin import Instructions
from helm_cli.view.text import shown, shown_lines


class Tool(NamedTuple):
    """One tool of a run: its name for a model, what it is, and what the plugin says of its risk."""

    name: str
    connection: str
    operation: str
    risk: str
    description: str


class Started(NamedTuple):
    """A run that started. `tokens` are those used this month and the limit, None for none; `serve` is a command."""

    id: str
    workspace: str
    digest: str
    trigger: str
    form: Mapping[str, Json]
    extension: Extension
    agents: Sequence[Instructions]
    skills: Sequence[Instructions]
    tools: Sequence[Tool]
    draft_kinds: Sequence[str]
    settings: Mapping[str, str]
    withheld: Sequence[str]
    month: str
    tokens: tuple[int, int | None]
    serve: Sequence[str]


def lines(started: Started) -> list[str]:
    """The page for people, safe for a terminal."""
    extension = started.extension
    found = [
        f"run {started.id} of {shown(extension.id)} {shown(extension.version)}",
        "",
        *_members(
            {
                "trigger": started.trigger,
                "workspace": started.workspace,
                "digest": started.digest,
                "budget": _budget(started),
            }
        ),
        "",
        "Brief" if started.form else "Brief: none",
    ]
    found += _form(started.form)
    found += ["", f"Tools: {len(started.tools)}; no other exists for this run"]
    found += [
        f"  {tool.risk:<13}  {shown(tool.name)}  ({shown(tool.connection)} {shown(tool.operation)})"
        for tool in started.tools
    ]
    found += ["", f"Drafts: {', '.join(started.draft_kinds) or 'none'}"]
    if started.settings or started.withheld:
        withheld = dict.fromkeys(started.withheld, "(not filled in, or not for a model)")
        found += ["", "Settings", *_members({**started.settings, **withheld})]
    for title, texts in (("Agent", started.agents), ("Skill", started.skills)):
        for text in texts:
            found += ["", f"{title} {shown(text.name)} ({shown(text.path)})"]
            found += [f"  {shown(text.description)}"] if text.description else []
            found += ["", *(f"  {line}".rstrip(" ") for line in shown_lines(text.text).split("\n"))]
    return [*found, "", f"Serve its tools with: {shlex.join(started.serve)}"]


def members(started: Started) -> dict[str, Json]:
    """The same for programs."""
    used, limit = started.tokens
    return {
        "run": started.id,
        "plugin": started.extension.id,
        "version": started.extension.version,
        "description": started.extension.description,
        "workspace": started.workspace,
        "digest": started.digest,
        "trigger": started.trigger,
        "form": dict(started.form),
        "agents": _texts(started.agents),
        "skills": _texts(started.skills),
        "tools": [dict(tool._asdict()) for tool in started.tools],
        "draft_kinds": list(started.draft_kinds),
        "settings": dict(started.settings),
        "withheld": list(started.withheld),
        "budget": {
            "month": started.month,
            "used": used,
            "limit": limit,
            "left": None if limit is None else max(limit - used, 0),
        },
        "serve": list(started.serve),
    }


def _texts(texts: Iterable[Instructions]) -> list[Json]:
    return [dict(text._asdict()) for text in texts]


def _budget(started: Started) -> str:
    used, limit = started.tokens
    if limit is None:
        return f"no limit; {used:,} tokens used in {started.month}"
    return f"{max(limit - used, 0):,} of {limit:,} tokens left in {started.month}"


def _members(told: Mapping[str, str]) -> list[str]:
    width = max(map(len, map(shown, told)), default=0) + 2
    return [f"  {shown(name):<{width}}{shown(value)}" for name, value in told.items()]


def _form(form: Mapping[str, Json]) -> list[str]:
    """The answers, one of several lines as a block of its own."""
    told = {name: value if isinstance(value, str) else str(value).lower() for name, value in form.items()}
    width = max(map(len, map(shown, told)), default=0) + 2
    found = []
    for name, value in told.items():
        if "\n" in value:
            found += [f"  {shown(name)}", *(f"    {line}" for line in shown_lines(value).split("\n"))]
        else:
            found.append(f"  {shown(name):<{width}}{shown(value)}")
    return found
