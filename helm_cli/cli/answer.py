"""How a call's answer reaches whoever called: its text, its failure's one line, its exit status."""

from helm_cli.cli import one_of
from helm_cli.cli.here import Here, note, tell
from helm_cli.model.envelope import JSON, Envelope, exit_status
from helm_cli.model.errors import HelmError
from helm_cli.view import result, streams


def report(
    place: Here, envelope: Envelope, shape: str | None, output: str, *, wrote: bool = False, operation: str = ""
) -> int:
    """Print a call's answer as its format says, its failure on standard error too, and give the exit status.

    An answer that cannot be printed does not undo the call, and must not have a write repeated (`wrote`).
    `operation` is what was called.
    """
    known = output if output in result.FORMATS else "auto"
    if isinstance(envelope.get("error"), dict):
        envelope = _unsaid(envelope)
    text = result.render(envelope, shape or JSON, known, place.streams)
    status, error = exit_status(envelope), envelope.get("error")
    lost: HelmError | None = None
    try:
        place.streams.write(text, _stands(wrote) if status == 0 else "")
    except HelmError as unwritten:
        lost = unwritten
    if isinstance(error, dict):
        tell(place.streams, str(error.get("message", "the call failed")))
    if "api_version" in envelope:
        _remark(place, operation, envelope)
    if lost is not None:
        tell(place.streams, lost.message)
        return status or lost.exit_status
    return status


def _unsaid(envelope: Envelope) -> Envelope:
    """A failure whose message repeats no password of the command line's own."""
    error = envelope["error"]
    message = error.get("message") if isinstance(error, dict) else None
    if not isinstance(error, dict) or not isinstance(message, str):
        return envelope
    return {**envelope, "error": {**error, "message": streams.unsaid(message)}}


def _remark(place: Here, operation: str, envelope: Envelope) -> None:
    """What TDT's envelope says beside its data and its error, for people."""
    from helm_cli.kinds import tdt

    for remark in tdt.remarks(operation, envelope):
        note(place.streams, remark)


def _stands(wrote: bool) -> str:
    return "the write was applied" if wrote else "nothing was changed, so repeat the call"


def check_known(output: str) -> None:
    """Raises HelmError "usage" for what is no format at all."""
    one_of("-o", output, result.FORMATS)
