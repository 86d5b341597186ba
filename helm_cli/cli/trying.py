"""How it is told what came of trying a profile: for people in a line, for programs as JSON."""

from collections.abc import Callable

from helm_cli.broker import probe
from helm_cli.cli import telling
from helm_cli.cli.here import Here, tell
from helm_cli.cli.listing import write_json
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Profile
from helm_cli.view.text import shown


def report(place: Here, group: str, name: str, output: str, load: Callable[[], Profile]) -> int:
    """Try the profile of this name and group, which `load` gives, and say what answered; the exit status.

    With `-o json` it is `{"name", "ok", "answer", "error"}`, also where nothing did; else that is a HelmError.
    """
    try:
        profile = load()
        telling.of_profile(place, profile)
        answer = probe.probe(place.stores, profile)
    except HelmError as error:
        if output != "json" and error.code == "unavailable":
            step = f"helm {group} show {name}"
            more = "" if step in error.message else f"; {step} shows where that is"
            named = error.message if name in error.message else f"{name}: {error.message}"
            raise HelmError(error.code, f"{named}{more}", error.members, error.outer) from None
        if output != "json":
            raise
        told = {"code": error.code, "message": error.message}
        write_json(place, {"name": name, "ok": False, "answer": None, "error": told})
        tell(place.streams, error.message)
        return error.exit_status
    if output == "json":
        write_json(place, {"name": name, "ok": True, "answer": answer, "error": None})
    else:
        place.streams.write(f"{name}: {shown(answer)}\n")
    return 0
