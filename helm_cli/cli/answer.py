"""How a call's answer reaches whoever called: its text, its failure's one line, its exit status."""

from helm_cli.cli.here import Here, tell
from helm_cli.model.envelope import JSON, Envelope, exit_status
from helm_cli.model.errors import HelmError
from helm_cli.view import result


def report(place: Here, envelope: Envelope, shape: str | None, output: str) -> int:
    """Print a call's answer as its format says, its failure on standard error too, and give the exit status."""
    known = output if output in result.FORMATS else "auto"
    place.streams.write(result.render(envelope, shape or JSON, known, place.streams))
    error = envelope.get("error")
    if isinstance(error, dict):
        tell(place.streams, str(error.get("message", "the call failed")))
    return exit_status(envelope)


def check_known(output: str) -> None:
    """Raises HelmError "usage" for what is no format at all."""
    if output not in result.FORMATS:
        raise HelmError("usage", f"there is no format {output}; take one of {', '.join(result.FORMATS)}")
