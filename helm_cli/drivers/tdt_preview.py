"""What TDT tells of a write before it is applied, and that this is the very write that the caller's hash stands for."""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from helm_cli.model.envelope import Envelope
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json, dump
from helm_cli.model.plan import Revision
from helm_cli.model.profile import Brain, Root
from helm_cli.model.tool import Tool

# Write tool -> the tool that tells of it, where the names do not: else `X_preview` tells of `X_apply`.
_TOLD_BY: Final = {
    "tdt_candidate_review": "tdt_candidate_review_status",
    "tdt_constitution_save": "tdt_constitution_read",
}
# The members of such an answer that a write's `expected_sha256` may be taken from.
_HASHES: Final = ("proposal_sha256", "journal_sha256", "revision", "sha256")
_STAMP: Final = "candidate_timestamp"
# What is shown as a text of its own; the other members are shown as JSON.
_TEXTS: Final = ("before", "after", "replacements", "markdown", *_HASHES)


def counterpart(tool: Tool, tools: Mapping[str, Tool]) -> Tool | None:
    """The tool that tells what a write bound to a hash would change; None for a write that is not."""
    if "expected_sha256" not in _properties(tool):
        return None
    name = _TOLD_BY.get(tool.name) or tool.name.removesuffix("_apply") + "_preview"
    found = tools.get(name)
    return found if found is not None and found.read_only is True else None


def arguments(tool: Tool, given: Mapping[str, Json]) -> dict[str, Json]:
    """Those of a write's arguments that the tool takes which tells of it, and room for the whole of its answer."""
    properties = _properties(tool)
    taken = {name: value for name, value in given.items() if name in properties}
    budget = properties.get("budget_bytes")
    if isinstance(budget, dict) and isinstance(budget.get("maximum"), int):
        taken["budget_bytes"] = budget["maximum"]
    return taken


def revisions(tool: str, given: Mapping[str, Json], envelope: Envelope, target: Brain) -> tuple[Revision, ...]:
    """What a person reads of the write, from TDT's answer.

    HelmError "refused" where TDT cannot tell, or tells of another write than `given["expected_sha256"]` stands for: it
    was changed, or is of another moment.
    """
    data: Any = envelope.get("data")
    if envelope.get("ok") is not True or not isinstance(data, dict):
        error: Any = envelope.get("error")
        said = f": {error['message']}" if isinstance(error, dict) and isinstance(error.get("message"), str) else ""
        raise HelmError("refused", f"TDT cannot tell what {tool} would change{said}; nothing was sent")
    shown = _of_that_moment(data, given)
    if shown is None:
        raise HelmError(
            "refused",
            f"{tool} is meant for another state than TDT's: the hash expected_sha256 is not that of what TDT would"
            " change now; ask for it again, and call with what it gives",
        )
    return (*_facts(shown, given), *_texts(shown, given, target))


def _of_that_moment(data: dict[str, Any], given: Mapping[str, Json]) -> dict[str, Any] | None:
    """The answer whose hash is the expected one. None where there is none."""
    expected, stamp, fresh = given.get("expected_sha256"), given.get(_STAMP), data.get(_STAMP)
    if isinstance(expected, str) and expected == next((data[name] for name in _HASHES if name in data), None):
        return data
    if not isinstance(stamp, str) or not isinstance(fresh, str) or not fresh:
        return None
    # TDT stamps each such answer with the time, so that none has the hash of another; with the stamp of the one that
    # the hash was taken from, it has.
    proposal = {name: value for name, value in data.items() if name != "proposal_sha256"}
    then = json.loads(dump(proposal).replace(dump(fresh)[1:-1], dump(stamp)[1:-1]))
    text = json.dumps(then, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return then if hashlib.sha256(text.encode()).hexdigest() == expected else None


def _facts(data: Mapping[str, Any], given: Mapping[str, Json]) -> Iterator[Revision]:
    facts = {name: value for name, value in data.items() if name not in _TEXTS and given.get(name) != value}
    if facts:
        lines = "".join(f"{name} = {dump(value)}\n" for name, value in facts.items())
        yield Revision("what TDT says of it", None, lines, told=True)


def _texts(data: Mapping[str, Any], given: Mapping[str, Json], target: Brain) -> Iterator[Revision]:
    replaced, before, after, markdown = (data.get(n) for n in ("replacements", "before", "after", "markdown"))
    if isinstance(replaced, dict):
        yield from (_replaced(path, text, target) for path, text in replaced.items())
    if isinstance(before, dict) and isinstance(after, dict):
        # A journal is of a transaction that was broken off; what is applied is its undoing.
        old, new = (after, before) if "journal_sha256" in data else (before, after)
        yield from (_written(path, old.get(path), new.get(path)) for path in sorted({*old, *new}))
    policy = given.get("markdown")
    if isinstance(policy, str):
        yield Revision("the constitution", markdown if isinstance(markdown, str) else None, policy)
    elif isinstance(markdown, str):
        yield Revision(f"{data.get('path', 'the note')} as it stands", None, markdown, told=True)


def _replaced(path: str, text: Json, target: Brain) -> Revision:
    """A file of the workspace, of which TDT tells only what is to come."""
    from helm_cli.drivers import files_read, files_walk

    try:
        with files_walk.root(Root("workspace", target.folder)) as tree:
            stands = str(files_read.one(tree, path)["text"])
    except HelmError as error:
        if error.code == "refused" and error.message.startswith("there is no file"):
            return _written(path, None, text)
        return _written(f"{path} (what stands there cannot be shown: {error.message})", "", text)
    return _written(path, stands, text)


def _written(path: str, old: Json, new: Json) -> Revision:
    gone = f"{path} (deleted)" if new is None else path
    return Revision(gone, None if old is None else _shown(old), "" if new is None else _shown(new))


def _shown(content: Json) -> str:
    if isinstance(content, dict) and isinstance(content.get("base64"), str):
        data = base64.b64decode(str(content["base64"]))
        return f"no text: {len(data)} bytes with the SHA-256 {hashlib.sha256(data).hexdigest()}"
    return content if isinstance(content, str) else dump(content)


def _properties(tool: Tool) -> dict[str, Json]:
    found = tool.input_schema.get("properties")
    return found if isinstance(found, dict) else {}
