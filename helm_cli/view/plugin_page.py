"""How the sections that only a team's plugin has stand on the page of its review."""

from collections.abc import Iterable, Iterator
from typing import Final

from helm_cli.model.extension import Connection, Operation
from helm_cli.model.plugin import RISKS, Instructions, Plugin, Risk, Setting
from helm_cli.model.review import Review
from helm_cli.view.lines import Line, line
from helm_cli.view.text import shown

# Risk -> the heading of its tools.
TITLES: Final[dict[Risk, str]] = {
    "consequential": "Consequential tools",
    "write": "Write tools",
    "read": "Read tools",
}
CLOSED: Final = "a tool that is not listed here does not exist for this plugin"
_DEEP: Final = "      "
_PUBLISHES: Final = "runs only for an approved draft: helm draft publish"


def settings(plugin: Plugin) -> list[Line]:
    """What a team is asked to fill in."""
    told = [_setting(setting) for setting in plugin.settings]
    return _section("Settings", "what the team fills in", told)


def tools(review: Review) -> list[tuple[Risk, list[tuple[Connection, Operation]]]]:
    """The closed list of all that may be called, by risk, the highest first."""
    every = [
        (connection, operation) for connection in review.extension.connections for operation in connection.operations
    ]
    return [(risk, [pair for pair in every if pair[1].spec.get("risk") == risk]) for risk in reversed(RISKS)]


def globs(review: Review, connection: Connection) -> Iterator[Line]:
    """A line for each glob of a connection, and which tools of the server it lets in."""
    for glob, risk in connection.spec.get("globs", ()):
        names = [one.name for one in connection.operations if glob in one.spec.get("let_in_by", ())]
        if names:
            told = f"lets in {', '.join(names)}"
        elif review.listed(connection) is not None:
            told = "lets in no tool that is not listed by its name"
        else:
            told = "lets in nothing until its server was asked at a review"
        yield Line(f"{_DEEP}glob {shown(glob)} of risk {risk} {shown(told)}")


def of_server(connection: Connection, operation: Operation) -> list[str]:
    """Why a tool of an MCP server is on the list, where not by its name alone."""
    if "let_in_by" in operation.spec:
        return [f"let in by the glob {shown(', '.join(operation.spec['let_in_by']))}"]
    from helm_cli.grammar import tool_glob

    also = [pair for pair in connection.spec.get("globs", ()) if tool_glob.matches(pair[0], operation.name)]
    if not also:
        return []
    overlap = ", ".join(f"{glob} ({risk})" for glob, risk in also)
    return [f"also let in by {shown(overlap)}; the highest risk holds"]


def named(operation: Operation) -> Iterator[str]:
    """What a named tool is, and where its calls go."""
    spec = operation.spec
    if spec["description"]:
        yield shown(spec["description"])
    if spec["kind"] == "builtin":
        yield "builtin, which this helm does not have: every call is refused"
    elif "method" not in spec:
        yield "not bound to a service: every call is refused until it is (helm plugin bind)"
    else:
        yield f"bound to the service profile {shown(spec['service'])}"
    if spec["risk"] == "consequential":
        yield _PUBLISHES


def rest(plugin: Plugin, team_tokens: int | None) -> list[list[Line]]:
    """The sections below the tools: what starts a run, what comes of it, what it may use and what it is told.

    `team_tokens` is the limit that the team put in place of the plugin's own, 0 for none.
    """
    outputs = [_item("drafts", f"of the kinds {', '.join(plugin.draft_kinds)}")] if plugin.draft_kinds else []
    outputs += [_item(f"publish through {one.via}", f"approved by {one.words()}") for one in plugin.publishes]
    tokens = plugin.monthly_tokens
    limit = "no limit of its own" if tokens is None else f"{tokens:,} tokens a month"
    if team_tokens is not None:
        limit += f"; the team's limit holds instead: {f'{team_tokens:,} tokens' if team_tokens else 'none'}"
    return [
        _section("Triggers", "what starts a run", [_item(*_parted(one.words())) for one in plugin.triggers]),
        _section("Outputs", "what a run produces", outputs),
        [line(("Budget", "bold"), f": {limit}")],
        _section("Agents", "instructions for a model", _instructions(plugin.agents)),
        _section("Skills", "instructions for a model", _instructions(plugin.skills)),
    ]


def _section(title: str, what: str, told: list[Line]) -> list[Line]:
    if not told:
        return [line((title, "bold"), ": none")]
    return [line((title, "bold"), f": {len(told)}; {what}"), *told]


def _item(name: str, told: str) -> Line:
    return line("    ", (shown(name), "bold"), f": {shown(told)}" if told else "")


def _parted(words: str) -> tuple[str, str]:
    name, _, told = words.partition(": ")
    return name, told


def _setting(setting: Setting) -> Line:
    return _item(setting.key, ", ".join((setting.type, *setting.asks())))


def _instructions(texts: Iterable[Instructions]) -> list[Line]:
    return [_item(one.name, ", ".join(filter(None, (one.path, one.description)))) for one in texts]
