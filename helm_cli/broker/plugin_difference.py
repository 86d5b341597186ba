"""What a plugin may do now that it could not do when it was approved: its tools, and all that it declares beside."""

from collections.abc import Iterable, Iterator

from helm_cli.broker import expansion
from helm_cli.grammar import tool_glob
from helm_cli.model.extension import Connection
from helm_cli.model.plugin import Instructions, Plugin, Publish, Setting, Trigger, height
from helm_cli.model.review import Change


def tools(old: Connection, new: Connection) -> Iterator[Change]:
    """Tools and globs that came, went, or have another risk."""
    before, after = _allowed(old), _allowed(new)
    for name, risk in after.items():
        what = "glob" if tool_glob.is_glob(name) else "tool"
        if name in before:
            yield from _risk(f"{new.id} {name}", new.kind, before[name], risk)
        elif what == "tool" and (covering := expansion.matching(old, name)):
            former = expansion.highest(one for _, one in covering)
            yield Change("changed", f"{new.id}: tool {name}, so far let in by {covering[0][0]}, is listed by its name")
            yield from _risk(f"{new.id} {name}", new.kind, former, risk)
        else:
            yield Change("widened", f"{new.id}: new {what} {name} of risk {risk}")
    for name in (name for name in before if name not in after):
        yield from _gone(new, name, before[name])
    yield from _named(old, new)


def between(old: Plugin, new: Plugin) -> Iterator[Change]:
    """Every difference in the sections of a plugin, in no order."""
    yield from _settings(old.settings, new.settings)
    yield from _triggers(old.triggers, new.triggers)
    yield from _added("draft kind", old.draft_kinds, new.draft_kinds)
    yield from _publishes(old.publishes, new.publishes)
    yield from _budget(old.monthly_tokens, new.monthly_tokens)
    yield from _instructions("agent", old.agents, new.agents)
    yield from _instructions("skill", old.skills, new.skills)


def _allowed(connection: Connection) -> dict[str, str]:
    """What a connection allows by name or by glob, with its risk, the highest where it stands there twice."""
    found = {operation.name: str(operation.spec["risk"]) for operation in connection.operations}
    for glob, risk in expansion.globs(connection):
        found[glob] = expansion.highest((risk, found.get(glob, risk)))
    return found


def _gone(new: Connection, name: str, risk: str) -> Iterator[Change]:
    """A tool or a glob that is no longer listed. What others still let in may run with less asking than before."""
    what = "glob" if tool_glob.is_glob(name) else "tool"
    still = [pair for pair in expansion.globs(new) if tool_glob.meet(pair[0], name)]
    if not still:
        yield Change("narrowed", f"{new.id}: {what} {name} is gone")
        return
    others = ", ".join(f"{glob} ({other})" for glob, other in still)
    lowered = any(height(other) < height(risk) for _, other in still)
    told = f"{what} {name} ({risk}) is gone, but {others} still lets {'it' if what == 'tool' else 'such tools'} in"
    yield Change("widened" if lowered else "changed", f"{new.id}: {told}")


def _risk(where: str, kind: str, old: str, new: str) -> Iterator[Change]:
    if old == new:
        return
    if height(new) > height(old):
        yield Change("widened", f"{where}: its risk was raised from {old} to {new}")
    elif new == "read":
        yield Change("widened", f"{where}: its risk was lowered from {old} to read, so it runs without asking")
    else:
        # Of a named tool that is a right: it runs without an approved draft from now on.
        also = ", so it needs no approved draft any more" if kind == "tools" else ""
        yield Change("widened" if also else "changed", f"{where}: its risk was lowered from {old} to {new}{also}")


def _named(old: Connection, new: Connection) -> Iterator[Change]:
    for operation in new.operations:
        before = old.operation(operation.name)
        for what in ("kind", "description"):
            was, now = (before.spec.get(what) if before is not None else None), operation.spec.get(what)
            if before is not None and was != now:
                yield Change("changed", f"{new.id} {operation.name}: its {what} changed", was, now)


def _settings(old: Iterable[Setting], new: Iterable[Setting]) -> Iterator[Change]:
    before, after = {one.key: one for one in old}, {one.key: one for one in new}
    for key, setting in after.items():
        if key not in before:
            scopes = f" with the scopes {' '.join(setting.scopes)}" if setting.scopes else ""
            yield Change("widened", f"new setting {key} ({setting.type}){scopes}")
        else:
            yield from _setting(before[key], setting)
    yield from (Change("narrowed", f"setting {key} is gone") for key in before if key not in after)


def _setting(old: Setting, new: Setting) -> Iterator[Change]:
    where = f"setting {new.key}"
    yield from (Change("widened", f"{where}: new scope {one}") for one in new.scopes if one not in old.scopes)
    yield from (Change("narrowed", f"{where}: scope {one} is gone") for one in old.scopes if one not in new.scopes)
    if old.type != new.type:
        yield Change("widened", f"{where}: its type changed from {old.type} to {new.type}")
    if old.provider != new.provider:
        yield Change("widened", f"{where}: its provider changed", old.provider, new.provider)
    if old.sensitive and not new.sensitive:
        yield Change("widened", f"{where}: it is no longer sensitive, so a model may see it")
    if new.sensitive and not old.sensitive:
        yield Change("narrowed", f"{where}: it is sensitive now")


def _triggers(old: Iterable[Trigger], new: Iterable[Trigger]) -> Iterator[Change]:
    before, after = [one.words() for one in old], [one.words() for one in new]
    yield from (Change("widened", f"new trigger {words}") for words in after if words not in before)
    yield from (Change("narrowed", f"trigger {words} is gone") for words in before if words not in after)


def _publishes(old: Iterable[Publish], new: Iterable[Publish]) -> Iterator[Change]:
    before, after = {one.via: one for one in old}, {one.via: one for one in new}
    for via, publish in after.items():
        former = before.get(via)
        if former is None:
            yield Change("widened", f"new publish through {via}, approved by {publish.words()}")
        elif former != publish:
            fewer = publish.least < former.least or (former.role is not None and publish.role != former.role)
            told = f"publish through {via}: who approves changed"
            yield Change("widened" if fewer else "narrowed", told, former.words(), publish.words())
    yield from (Change("narrowed", f"publish through {via} is gone") for via in before if via not in after)


def _budget(old: int | None, new: int | None) -> Iterator[Change]:
    if old == new:
        return
    if new is None:
        yield Change("widened", f"the budget has no limit any more; it was {old:,} tokens a month")
    elif old is None:
        yield Change("narrowed", f"the budget has a limit now: {new:,} tokens a month")
    else:
        told = "raised" if new > old else "lowered"
        yield Change(
            "widened" if new > old else "narrowed", f"the budget was {told} from {old:,} to {new:,} tokens a month"
        )


def _instructions(noun: str, old: Iterable[Instructions], new: Iterable[Instructions]) -> Iterator[Change]:
    before, after = {one.path: one for one in old}, {one.path: one for one in new}
    for path, one in after.items():
        former = before.get(path)
        if former is None:
            yield Change("widened", f"new {noun} {one.name} ({path})")
            continue
        for what in ("name", "description", "text"):
            was, now = getattr(former, what), getattr(one, what)
            if was != now:
                yield Change("changed", f"{noun} {one.name} ({path}): its {what} changed", was, now)
    yield from (
        Change("narrowed", f"{noun} {one.name} ({path}) is gone") for path, one in before.items() if path not in after
    )


def _added(noun: str, old: Iterable[str], new: Iterable[str]) -> Iterator[Change]:
    before, after = dict.fromkeys(old), dict.fromkeys(new)
    yield from (Change("widened", f"new {noun} {one}") for one in after if one not in before)
    yield from (Change("narrowed", f"{noun} {one} is gone") for one in before if one not in after)
