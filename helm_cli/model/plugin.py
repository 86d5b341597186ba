"""What a team's plugin declares beside its connections: instructions, settings, triggers, outputs and a budget."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

Risk = Literal["read", "write", "consequential"]
RISKS: Final[tuple[Risk, ...]] = ("read", "write", "consequential")
DRAFT_KINDS: Final = ("blog", "social", "email", "image", "action")


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


class Trigger(NamedTuple):
    """What starts a run. `form` is a manual trigger's fields, each "text" or its choices; `cron` a schedule's."""

    on: Literal["manual", "schedule", "github.release"]
    form: Mapping[str, str | tuple[str, ...]]
    cron: str


class Publish(NamedTuple):
    """How an approved draft goes out: by the consequential tool `via`, after `least` different people said yes."""

    via: str
    role: str | None
    least: int


class Plugin(NamedTuple):
    """The sections of a plugin.yaml that are no connections. `monthly_tokens` is None where it has no own limit."""

    agents: tuple[Instructions, ...]
    skills: tuple[Instructions, ...]
    settings: tuple[Setting, ...]
    triggers: tuple[Trigger, ...]
    draft_kinds: tuple[str, ...]
    publishes: tuple[Publish, ...]
    monthly_tokens: int | None
