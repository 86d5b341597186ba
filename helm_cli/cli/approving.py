"""How a review is shown and decided at this terminal: by the person, by a pin, or not at all."""

import re
from typing import Final

from helm_cli.broker import approve, confirm, ledger
from helm_cli.cli.here import Here, answered, note, tell
from helm_cli.cli.listing import write_json
from helm_cli.model.envelope import failure
from helm_cli.model.errors import EXIT, HelmError
from helm_cli.model.review import Invalid, Review
from helm_cli.store.confirmations import Pending
from helm_cli.view import faults, question, review_json
from helm_cli.view import review as view
from helm_cli.view.lines import drawn

APPROVE: Final = "Approve"
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


def show(place: Here, found: Review, output: str, error: HelmError | None = None, *, whole: bool = True) -> int:
    """Print a review, and why it did not end well on standard error too; the exit status.

    Not `whole`, it is for whoever wants that status: only a program is given the review.
    """
    if output == "json":
        write_json(place, {**review_json.reviewed(found), "error": failure(error)["error"] if error else None})
    elif whole:
        place.streams.write(view.page(found, place.streams))
    if error is None:
        return 0
    tell(place.streams, error.message)
    return error.exit_status


def invalid(place: Here, found: Invalid, folder: str, output: str) -> int:
    """Print everything that makes a folder no extension, as seen from where the person named it; the exit status."""
    if output == "json":
        write_json(place, review_json.validation(found.faults, ()))
    elif output == "github":
        told = faults.annotations(found.faults, (), folder)
        place.streams.write("".join(f"{line}\n" for line in told))
    else:
        lines = faults.lines(found.faults, folder)
        place.streams.write("".join(f"{drawn(line, color=place.streams.color)}\n" for line in lines))
    number = "1 fault" if len(found.faults) == 1 else f"{len(found.faults)} faults"
    tell(place.streams, f"{found.folder} holds no valid extension: {number}")
    return EXIT["invalid_manifest"]


def as_it_stands(place: Here, found: Review, output: str, *, whole: bool) -> int:
    """Print a review without asking: 0 where this exact content is approved and enabled, else 17. `whole` as above."""
    if found.standing:
        show(place, found, output, whole=whole)
        note(place.streams, f"{found.extension.id} is approved as it stands; nothing to do")
        return 0
    message = f"{found.extension.id} is not approved as it stands; review it in a terminal, or pin it with --approve"
    return show(place, found, output, HelmError("not_approved", message), whole=whole)


def check_digest(digest: str) -> None:
    """Raises HelmError "usage" for what can be no digest of a review."""
    if not DIGEST.fullmatch(digest):
        raise HelmError("usage", "--approve takes the digest that a review shows: sha256: and 64 hexadecimal digits")


def pin(place: Here, found: Review, digest: str, output: str) -> int:
    """Print a review, and approve it for a caller who knows its digest, where that needs no person."""
    try:
        approve.by_pin(place.stores, found, digest, ledger.caller())
    except HelmError as error:
        if error.code not in ("not_approved", "confirmation_required", "refused"):
            raise
        return show(place, found, output, error)
    show(place, _standing(found) if output == "json" else found, output)
    _tell(place, found)
    return 0


def decide(place: Here, found: Review, output: str) -> int:
    """Show a review to the person at the terminal, ask, and approve it on a yes."""
    ask(place, APPROVE, found, None)
    approve.by_person(place.stores, found)
    if output == "json":
        show(place, _standing(found), output)
    _tell(place, found)
    return 0


def decide_pending(place: Here, pending: Pending) -> int:
    """The same for an approval that was asked for where no person was."""
    found = approve.pending_review(place.stores, pending, ask=True)
    try:
        ask(place, APPROVE, found, pending.expires)
    except HelmError as error:
        # Another terminal may have been quicker: then that is what there is to say.
        if error.code == "declined":
            answer = confirm.decline(place.stores, pending.id, None)
            raise error if answer.code == "declined" else answer from None
        raise
    approve.approve_pending(place.stores, pending, found)
    _tell(place, found)
    return 0


def ask(place: Here, verb: str, found: Review, expires: float | None) -> None:
    """Return when the person said yes to what they were shown. Raises HelmError "declined" where they did not,
    and "confirmation_required" where nobody answered before `expires`, in seconds since 1970.
    """
    id_ = found.extension.id
    # The title of the question takes the place of the page's own, its first line.
    answer = question.ask(f"{verb} extension {id_}", view.lines(found)[1:], verb, expires, view.summary(found))
    if answer == "expired":
        raise HelmError("confirmation_required", f"nobody answered about {id_} in time; ask again")
    answered(place)
    if answer == "hasty":
        raise HelmError("declined", f"{question.HASTY}, so nothing changed for {id_}; ask again")
    if answer != "confirmed":
        raise HelmError("declined", f"declined; nothing changed for {id_}")


def _standing(found: Review) -> Review:
    """The review as it reads once it is approved."""
    return found._replace(
        status="approved",
        enabled=True,
        approved_folder=found.folder,
        approved_digest=found.digest,
        changes=(),
        files=(),
    )


def _tell(place: Here, found: Review) -> None:
    note(place.streams, f"{found.extension.id} is approved and enabled for the workspace {found.workspace}")
