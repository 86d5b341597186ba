"""Which schedules of the plugins of a workspace came due since they were last asked for, by this machine's clock."""

import time
from typing import NamedTuple

from helm_cli.broker import content, plugin
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.grammar import cron
from helm_cli.store import schedules


class Due(NamedTuple):
    """One schedule of a plugin that is to be run now."""

    plugin: str
    cron: str


def take(stores: Stores, workspace: Workspace) -> list[Due]:
    """What is due, each told once: whoever gets it is to start it. A plugin that changed since it was approved is told
    of: its schedules count anew from its next approval on. Raises HelmError "state".
    """
    now = stores.clock()
    found = []
    for team in plugin.teams(stores, workspace):
        crons = [trigger.cron for trigger in team.plugin.triggers if trigger.on == "schedule"]
        if not crons:
            continue
        id_ = team.extension.id
        if not content.matches(stores, team.approval):
            stores.notice(f"{id_} changed since it was approved, so its schedules count anew once it is reviewed")
            continue
        taken = schedules.take(stores.db, workspace.path, id_, crons, now, lambda text, last: _due(text, last, now))
        found += [Due(id_, expression) for expression in taken]
    return found


def _due(expression: str, last: float, now: float) -> bool:
    return cron.next_after(cron.parse(expression), last, _offset) <= now


def _offset(at: float) -> int:
    return time.localtime(at).tm_gmtoff
