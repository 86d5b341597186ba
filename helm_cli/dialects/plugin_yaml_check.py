"""Everything that is wrong with a plugin.yaml and the files it names, each at its line and column."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, Final

from helm_cli.dialects import (
    coding,
    plugin_yaml_files,
    plugin_yaml_rules,
    plugin_yaml_schema,
    yaml_document,
)
from helm_cli.dialects.faults import MOST, Numeral, Trouble, dotted, noun, one_of, quoted
from helm_cli.dialects.yaml_document import Document, SourceFault
from helm_cli.grammar import glob
from helm_cli.model.content import Content
from helm_cli.model.extension import Fault

_FILE: Final = "plugin.yaml"
# Fields that the Kubernetes package manager's plugin.yaml has, and those that only a team's plugin has.
_KUBERNETES: Final = (
    *("usage", "command", "platformCommand", "hooks", "platformHooks", "ignoreFlags", "useTunnel", "downloaders"),
    *("apiVersion", "runtime", "runtimeConfig", "sourceURL"),
)
_OURS: Final = ("agents", "skills", "settings", "tools", "triggers", "outputs", "budget")


def faults(content: Content, schema: str) -> tuple[Fault, ...]:
    """Every fault, sorted by file and place; where there are 500 or more, the first that were found."""
    data = content.files[_FILE]
    if len(data) > plugin_yaml_files.MOST_BYTES:
        told = f"the file has {len(data):,} bytes; at most {plugin_yaml_files.MOST_BYTES:,} are read"
        return (_fault(SourceFault(1, 1, (), told)),)
    if (coded := coding.fault(data)) is not None:
        line, column, message = coded
        return (_fault(SourceFault(line, column, (), message)),)
    document = yaml_document.read(data.decode("utf-8"))
    if document.broken:
        return tuple(sorted(map(_fault, document.faults)))
    if isinstance(document.value, dict) and (foreign := _kubernetes(document)):
        return (foreign,)
    found = islice(chain(_manifest(document, content, schema), _instructions(document.value, content)), MOST)
    return tuple(sorted({*map(_fault, document.faults), *found}))


def _kubernetes(document: Document) -> Fault | None:
    named = [name for name in document.value if name in _KUBERNETES]
    if not named or any(name in document.value for name in _OURS):
        return None
    has = one_of([quoted(name) for name in named]).replace(" or ", " and ")
    told = (
        f"this is a plugin of Helm, the package manager of Kubernetes, which has {has}: another program of the same"
        " name reads it; `helm plugin reference --dialect plugin.yaml` shows what this one reads"
    )
    return _fault(SourceFault(*document.places[(named[0],)].key, (named[0],), told))


def _manifest(document: Document, content: Content, schema: str) -> Iterator[Fault]:
    if document.value is None and not document.faults:
        yield _fault(SourceFault(*document.places[()].value, (), "the file is empty; a plugin.yaml is a mapping"))
        return
    found = chain(
        plugin_yaml_schema.troubles(schema, document.value),
        plugin_yaml_rules.troubles(document.value, content, lambda path: document.places[path].value[0]),
    )
    for trouble in found:
        if trouble.path not in document.holes:
            yield _placed(document, trouble)


def _placed(document: Document, trouble: Trouble) -> Fault:
    place = document.places[trouble.path]
    line, column = place.key if trouble.at_key else place.value
    return _fault(SourceFault(line, column, trouble.path, trouble.message))


def _instructions(top: Any, content: Content) -> Iterator[Fault]:
    sections = (("agents", plugin_yaml_files.AGENTS, _agent), ("skills", plugin_yaml_files.SKILLS, _skill))
    for section, default, check in sections:
        declared = top.get(section, default) if isinstance(top, dict) else ()
        globs = [one for one in declared if isinstance(one, str)] if isinstance(declared, list | tuple) else []
        try:
            paths = plugin_yaml_files.matched(content, [one for one in globs if glob.fault(one) is None])
        except ValueError:
            # It is a fault of the section already.
            continue
        for path in paths:
            found = plugin_yaml_files.parted(content.files[path])
            if isinstance(found, SourceFault):
                yield _fault(found, path)
            else:
                yield from (_fault(fault, path) for fault in check(found))


def _agent(found: plugin_yaml_files.Parted) -> Iterator[SourceFault]:
    yield from _front(found, ())
    if not found.body:
        yield SourceFault(
            found.closing, 1, (), "the agent has no instructions below its front matter; write them there"
        )


def _skill(found: plugin_yaml_files.Parted) -> Iterator[SourceFault]:
    yield from _front(found, ("name", "description"))


def _front(found: plugin_yaml_files.Parted, required: Iterable[str]) -> Iterator[SourceFault]:
    """What is wrong with front matter."""
    front = found.front
    yield from front.faults
    if front.broken:
        return
    fields = {} if front.value is None else front.value
    if not isinstance(fields, dict):
        line, column = front.places[()].value
        yield SourceFault(line, column, (), f"the front matter must be a mapping, not {noun(fields)}")
        return
    for name in required:
        if name not in fields and () not in front.holes:
            yield SourceFault(1, 1, (), f"the front matter lacks the required field {quoted(name)}")
    for name in ("name", "description"):
        if name in fields and (name,) not in front.holes:
            yield from _word(found, name, fields[name], required)


def _word(found: plugin_yaml_files.Parted, name: str, value: Any, required: Iterable[str]) -> Iterator[SourceFault]:
    line, column = found.front.places[(name,)].value
    if not isinstance(value, str):
        hint = plugin_yaml_schema.quoting(value) if isinstance(value, bool | int | Numeral) else ""
        yield SourceFault(line, column, (name,), f"{quoted(name)} must be text, not {noun(value)}{hint}")
    elif not value.strip() and (name == "name" or name in required):
        yield SourceFault(line, column, (name,), f"{quoted(name)} must not be empty")


def _fault(fault: SourceFault, file: str = _FILE) -> Fault:
    return Fault(file, fault.line, fault.column, dotted(fault.path), fault.message)
