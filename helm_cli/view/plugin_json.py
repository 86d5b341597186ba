"""How the sections that only a team's plugin has reach a program: as JSON, with the values that count."""

from collections.abc import Iterable, Mapping
from typing import Any

from helm_cli.model.extension import Connection
from helm_cli.model.jsontext import Json
from helm_cli.model.plugin import Instructions, Plugin, Setting, Trigger
from helm_cli.model.review import Review


def sections(review: Review, plugin: Plugin) -> dict[str, Json]:
    """The members of a review that other extensions do not have, every default filled in."""
    outputs: list[Json] = []
    if plugin.draft_kinds:
        outputs.append({"type": "draft", "kinds": list(plugin.draft_kinds)})
    outputs += [
        {"type": "publish", "via": one.via, "approval": {"role": one.role, "min": one.least}}
        for one in plugin.publishes
    ]
    return {
        "settings": [_setting(one) for one in plugin.settings],
        "triggers": [_trigger(one) for one in plugin.triggers],
        "outputs": outputs,
        "budget": {"monthly_tokens": plugin.monthly_tokens, "team_tokens": review.team_tokens},
        "agents": _instructions(plugin.agents),
        "skills": _instructions(plugin.skills),
        "bindings": [dict(one._asdict()) for one in review.bindings],
    }


def globs(review: Review, connection: Connection) -> list[Json]:
    """Each glob with the tools that it lets in; null where that is not known, because the server was not asked."""
    asked = review.listed(connection) is not None
    told: list[Json] = []
    for glob, risk in connection.spec["globs"]:
        names: list[Json] = [one.name for one in connection.operations if glob in one.spec.get("let_in_by", ())]
        told.append({"glob": glob, "risk": risk, "lets_in": names if names or asked else None})
    return told


def plain(value: Any) -> Any:
    """A declaration's value as plain lists and objects."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _setting(setting: Setting) -> Json:
    told: Json = plain(setting._asdict())
    return told


def _trigger(trigger: Trigger) -> Json:
    told: dict[str, Json] = {"on": trigger.on}
    if trigger.on == "manual":
        told["form"] = plain(trigger.form)
    if trigger.on == "schedule":
        told["cron"] = trigger.cron
    return told


def _instructions(texts: Iterable[Instructions]) -> list[Json]:
    return [{"path": one.path, "name": one.name, "description": one.description} for one in texts]
