"""What a team's plugin declares beside its connections: instructions, settings, triggers, outputs and a budget."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

Risk = Literal["read", "write", "consequential"]
RISKS: Final[tuple[Risk, ...]] = ("read", "write", "consequential")
# The connection of the tools that a plugin names itself.
TOOLS: Final = "_tools"
# The fields of a manual trigger that declares none (contract, triggers).
USUAL_FORM: Final[Mapping[str, str]] = {"brief": "text"}
DRAFT_KINDS: Final = ("blog", "social", "email", "image", "action")


def height(risk: str) -> int:
    """Where a risk stands among RISKS: the higher, the more it may do. Raises ValueError for what is none."""
    heights: tuple[str, ...] = RISKS
    return heights.index(risk)


class Instructions(NamedTuple):
    """A text for a model: an agent's or a skill's file, its `path` relative to the plugin's folder."""

    path: str
    name: str
    description: str
    text: str


class Setting(NamedTuple):
    """A value that the team fills in; `provider` and `scopes` are a connection's. The effective `sensitive`."""

    key: str
    type: Literal["string", "secret", "connection"]
    provider: str | None
    scopes: tuple[str, ...]
    sensitive: bool

    def asks(self) -> tuple[str, ...]:
        """What there is to know of it beside its type, in words."""
        provider = f"provider {self.provider}" if self.provider is not None else ""
        scopes = f"scopes {' '.join(self.scopes)}" if self.scopes else ""
        return tuple(filter(None, (provider, scopes, "sensitive" if self.sensitive else "")))


class Trigger(NamedTuple):
    """What starts a run. `form` is a manual trigger's fields, each "text" or its choices; `cron` a schedule's."""

    on: Literal["manual", "schedule", "github.release"]
    form: Mapping[str, str | tuple[str, ...]]
    cron: str

    def words(self) -> str:
        """The trigger in one line, whole."""
        asks = (
            f"{name} ({asked if isinstance(asked, str) else ' | '.join(asked)})" for name, asked in self.form.items()
        )
        return ": ".join(filter(None, (self.on, self.cron or ", ".join(asks))))


class Publish(NamedTuple):
    """How an approved draft goes out: by the consequential tool `via`, after `least` different people said yes."""

    via: str
    role: str | None
    least: int

    def words(self) -> str:
        """Who approves a draft before it goes out."""
        people = "1 person" if self.least == 1 else f"{self.least} different people"
        role = f" of the role {self.role}" if self.role is not None else ""
        return f"{people}{role}, never the one who asked for it"


class Bound(NamedTuple):
    """Where the calls of a named tool go: what the user bound it to, valid for one approved content alone.

    `path` stands under the base URL of the service profile, perhaps with a query; `body` is the text of a JSON
    template, None for no body. Both may hold `{name}` placeholders.
    """

    tool: str
    service: str
    method: str
    path: str
    body: str | None


class Plugin(NamedTuple):
    """The sections of a plugin.yaml that are no connections. `monthly_tokens` is None where it has no own limit."""

    agents: tuple[Instructions, ...]
    skills: tuple[Instructions, ...]
    settings: tuple[Setting, ...]
    triggers: tuple[Trigger, ...]
    draft_kinds: tuple[str, ...]
    publishes: tuple[Publish, ...]
    monthly_tokens: int | None
