"""What --verbose says of a call and of a profile: whose, where to by name, with which secret; never what is in them."""

from contextlib import suppress

from helm_cli.broker.request import Request
from helm_cli.cli.here import Here, detail
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Profile, Target


def of_call(place: Here, request: Request) -> None:
    """Which extension and which profile a call rests on, before it is made. What is wrong with it, the call tells."""
    if place.streams.voice != "verbose":
        return
    from helm_cli.broker import declared, targets

    with suppress(HelmError):
        found = declared.find(place.stores, request.workspace, request.connection, request.extension)
        approval, extension, connection = found
        detail(place.streams, f"the extension is {extension.id}, approved as {approval.digest}")
        of_profile(place, targets.find(place.stores, request.workspace, connection, request.arguments))


def of_profile(place: Here, target: Target) -> None:
    """A profile by its name, and where its secret is. A folder and TDT have neither."""
    if not isinstance(target, Profile):
        return
    kept = f"its secret in the {target.credential}" if target.credential else "without a secret"
    detail(place.streams, f"the {target.group} profile is {target.name}, {kept}")
