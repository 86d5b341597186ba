"""`helm plugin check`: which declared operations the profiles as they are would fail, before anybody calls them."""

from helm_cli.broker import check as broker
from helm_cli.broker import content, declared
from helm_cli.broker.workspace import Workspace
from helm_cli.cli.here import Here, tell
from helm_cli.cli.listing import show_rows, write_json
from helm_cli.model.errors import EXIT
from helm_cli.store.approvals import Approval


def check(place: Here, approval: Approval, output: str) -> int:
    """Print what was found about each operation of an approved extension; the exit status of the first failure."""
    id_ = approval.extension
    if not content.matches(place.stores, approval):
        tell(place.streams, f"the folder of {id_} changed since it was approved; this is about what was approved")
    workspace = Workspace(approval.workspace, "where it was approved")
    findings = broker.check(place.stores, workspace, declared.extension(place.stores, approval))
    wrong = broker.failed(findings)
    if output == "json":
        write_json(
            place,
            {
                "id": id_,
                "digest": approval.digest,
                "ok": not wrong,
                "operations": [finding._asdict() for finding in findings],
            },
        )
    else:
        columns = ("connection", "operation", "effect", "result", "message")
        show_rows(place, output, columns, [finding._asdict() for finding in findings])
    if not wrong:
        return 0
    number = len(findings)
    tell(place.streams, f"{len(wrong)} of {number} {'operation' if number == 1 else 'operations'} of {id_} would fail")
    return EXIT[wrong[0].result]
