"""`helm plugin settings`: what a plugin asks its team for, and the answers, of which the secret ones stay unseen."""

from typing import Annotated, Any, Final, NamedTuple

import typer

from helm_cli.broker import plugin
from helm_cli.broker import settings as broker
from helm_cli.broker.plugin import Team
from helm_cli.cli import OutputOption, PluginArgument, WorkspaceOption, entry, group, listing_format
from helm_cli.cli.entry import asked, can_ask, piped_secret, typed_secret
from helm_cli.cli.here import Here, here, note, tell
from helm_cli.cli.listing import show_rows
from helm_cli.model.errors import HelmError
from helm_cli.model.plugin import Setting
from helm_cli.view.streams import person_present

app = group("Review, approve and list extensions.")

_UNSEEN: Final = "(set, never shown)"
_MISSING: Final = "(missing)"


class Given(NamedTuple):
    """What the command line says of a value."""

    word: str | None
    option: str | None
    stdin: bool
    service: str | None

    def told(self) -> list[str]:
        """The ways in which a value was given."""
        ways = {
            "VALUE": self.word is not None,
            "--value": self.option is not None,
            "--stdin": self.stdin,
            "--service": self.service is not None,
        }
        return [way for way, used in ways.items() if used]


@app.command("settings")
def settings(
    id_: PluginArgument,
    action: Annotated[str | None, typer.Argument(metavar="[set|unset]", help="Else they are shown.")] = None,
    key: Annotated[str | None, typer.Argument(metavar="KEY", help="Which setting.")] = None,
    word: Annotated[str | None, typer.Argument(metavar="VALUE", help="A string's value.")] = None,
    value: Annotated[str | None, typer.Option("--value", metavar="VALUE", help="The same, for any text.")] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the value from standard input.")] = False,
    service: Annotated[
        str | None, typer.Option("--service", metavar="NAME", help="A connection's service profile.")
    ] = None,
    output: OutputOption = "auto",
    workspace: WorkspaceOption = None,
) -> int:
    """Show what a plugin asks its team for, fill one of it in, or take a value away.

    To fill one in needs a person at the terminal, or a home in which no person has ever answered one of helm's
    questions: a CI job's fresh one. A string that is not sensitive is told to the model of each run.

    A secret comes from standard input or is typed unseen, goes to the credential store and is never shown again. It is
    kept for the plugin's host: helm itself gives it to nobody. The same goes for a sensitive string. A connection goes
    by a service profile that you sign in to with helm oauth connect.

    \b
    Examples:
      helm plugin settings acme/marketing
      helm plugin settings acme/marketing set tone friendly
      helm plugin settings acme/marketing set api_key --stdin < key
      helm plugin settings acme/marketing set drive --service drive
    """
    place = here()
    listing_format(output)
    team = plugin.approved(place.stores, place.workspace(workspace), id_)
    given = Given(word, value, stdin, service)
    if action is None:
        _alone(given)
        return _show(place, team, output)
    if action not in ("set", "unset"):
        raise HelmError("usage", "settings are set or unset; see helm plugin settings --help")
    if key is None:
        raise HelmError("usage", f"{action} names the KEY of a setting; helm plugin settings {id_} lists them")
    return _unset(place, team, key, given) if action == "unset" else _set(place, team, key, given)


def _show(place: Here, team: Team, output: str) -> int:
    found = broker.asked(place.stores, team.approval.workspace, team.extension)
    if output == "json":
        rows: list[dict[str, Any]] = [
            {**one.setting._asdict(), "scopes": list(one.setting.scopes), "set": one.is_set, "value": one.value}
            for one in found
        ]
        show_rows(place, output, (), rows)
        return 0
    rows = [
        {
            "key": one.setting.key,
            "type": one.setting.type,
            "value": one.value if one.value is not None else _UNSEEN if one.is_set else _MISSING,
            "asks": ", ".join(one.setting.asks()),
        }
        for one in found
    ]
    empty = f"{team.extension.id} asks for no settings"
    show_rows(place, output, ("key", "type", "value", "asks"), rows, empty)
    return 0


def _unset(place: Here, team: Team, key: str, given: Given) -> int:
    _alone(given)
    approval = team.approval
    if not broker.empty(place.stores, approval.workspace, approval.extension, key):
        broker.declared(team.extension, key)
        note(place.streams, f"{key} of {approval.extension} is not set, so nothing was changed")
        return 0
    note(place.streams, f"{key} of {approval.extension} is no longer set")
    return 0


def _set(place: Here, team: Team, key: str, given: Given) -> int:
    setting = broker.declared(team.extension, key)
    if len(given.told()) > 1:
        raise HelmError("usage", f"{' and '.join(given.told())} exclude each other; give one of them")
    broker.check_allowed(place.stores, key, by_person=person_present(place.streams))
    workspace, id_ = team.approval.workspace, team.extension.id
    if setting.type == "connection":
        service = _service(place, setting, given)
        broker.fill_connection(place.stores, workspace, team.extension, setting, service)
        entry.kept(place)
        step = f"; sign in with: helm oauth connect {service}" if setting.provider == broker.OAUTH2 else ""
        note(place.streams, f"{key} of {id_} goes by the service profile {service}{step}")
        return 0
    filled = broker.fill_text(place.stores, workspace, team.extension, setting, _text(place, setting, given))
    entry.kept(place)
    kept = f", its value in the {filled.place}" if filled.place is not None else ""
    note(place.streams, f"{key} of {id_} is set{kept}")
    return 0


def _service(place: Here, setting: Setting, given: Given) -> str:
    if given.told() not in ([], ["--service"]):
        raise HelmError("usage", f"{setting.key} is a connection; give the name of a service profile with --service")
    return given.service or asked(place, can_ask(place), "--service", f"Service profile for {setting.key}")


def _text(place: Here, setting: Setting, given: Given) -> str:
    if given.service is not None:
        raise HelmError("usage", f"{setting.key} is a {setting.type}; --service goes with a connection")
    if given.stdin:
        return piped_secret(f"the value of {setting.key}", "--stdin")
    written = given.word if given.word is not None else given.option
    if written is None:
        return _typed(place, setting)
    if setting.type == "secret":
        raise HelmError(
            "usage",
            f"{setting.key} is a secret, and what is written on a command line is not; pipe it in with --stdin, or"
            " leave it out to be asked",
        )
    if setting.sensitive:
        told = f"{setting.key} is sensitive, and other programs can read a command line; give it with --stdin next time"
        tell(place.streams, told)
    return written


def _typed(place: Here, setting: Setting) -> str:
    asking = can_ask(place)
    if not setting.sensitive:
        return asked(place, asking, "VALUE", f"Value of {setting.key}")
    if not asking:
        raise HelmError("usage", "--stdin is missing; give it, or run this in a terminal to be asked")
    return typed_secret(place, f"Value of {setting.key}")


def _alone(given: Given) -> None:
    if given.told():
        raise HelmError("usage", f"{given.told()[0]} goes with set")
