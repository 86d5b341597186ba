"""Things to keep, for tests of the store."""

from pathlib import Path
from typing import Final

from helm_cli.model.content import Content
from helm_cli.model.draft import Draft, Sending
from helm_cli.model.plan import Binding
from helm_cli.store.approvals import Approval, Stamp, Stamps
from helm_cli.store.runs import Run

NOW: Final = 1_800_000_000.0
BINDING: Final = Binding("/w", "e", "sha256:c", "app", "close", "target", "request")

AT: Final = "2026-07-01T12:00:00.000000+00:00"
DRAFT: Final = Draft("", "acme/marketing", "blog", "Version 2", "It is out.\n", "abcdefgh", AT, -1, "")
SENDING: Final = Sending(0, "sending", "send_newsletter", "sha256:" + "0" * 64, AT)
RUN: Final = Run("abcdefgh", "/w", "a/b", "sha256:c", "manual", {"brief": "é\n"}, NOW, "a test", 0)


def content(number: int, size: int = 10_000) -> Content:
    """A content of its own, of which one file is the same in all."""
    return Content(
        {"manifest.json": b"{}" * 2_000, "number": str(number).encode(), "data": bytes([number % 256]) * size}
    )


def approval(content: Content, workspace: str = "/w", extension: str = "e", folder: str = "/w/e") -> Approval:
    return Approval(workspace, extension, folder, content.digest, True, NOW, "person")


def stamps(content: Content) -> Stamps:
    return tuple(Stamp(path, len(data), 17, 2**63 + 5) for path, data in content.files.items())


def at(folder: Path) -> Path:
    """Where a test leaves a note beside a home."""
    return folder.parent / "note"
