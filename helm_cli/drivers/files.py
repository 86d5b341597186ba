"""What becomes of a planned files call: a listing, texts, or one file with another text in it."""

import os
from typing import Final, cast

from helm_cli.drivers import Limits, files_walk
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Plan, Revision
from helm_cli.model.profile import Root

# `seconds` for a listing or a reading, `rows` of its files, `bytes` of all the texts of one call (contract, Files).
LIMITS: Final = Limits(seconds=30.0, rows=1000, bytes=2 * 1024 * 1024)


def run(plan: Plan, target: Root, secret: str | None, limits: Limits) -> Json:
    """`{"files", "truncated"}` of a list, `{"path", "text", "sha256"}` of a read, or `{"files", "truncated"}` of many,
    `{"path", "sha256"}` of a write (contract, Files).

    HelmError "refused" (missing, a link, no regular file, not allowed), "too_large", "not_text", "conflict",
    "timeout" and "unavailable".
    """
    request = plan.request
    with files_walk.root(target) as tree:
        if plan.operation == "list":
            from helm_cli.drivers import files_list

            return files_list.listing(tree, cast(list[str], request["paths"]), limits)
        if plan.operation == "write":
            from helm_cli.drivers import files_write

            path, expected, text = _write(plan)
            return {"path": path, "sha256": files_write.replace(tree, path, expected, text)}
        from helm_cli.drivers import files_read

        if "path" in request:
            return files_read.one(tree, str(request["path"]))
        return files_read.many(tree, cast(list[str], request["paths"]), limits)


def prepare(plan: Plan, target: Root, secret: str | None, limits: Limits) -> None:
    """Looks whether a read or a write would work, and whether the root is there for a list. HelmError as for `run`."""
    if plan.effect == "write":
        preview(plan, target, secret, limits)
    elif plan.operation == "read":
        run(plan, target, secret, limits)
    else:
        probe(target, secret, limits)


def preview(plan: Plan, target: Root, secret: str | None, limits: Limits) -> tuple[Revision, ...]:
    """The text that stands in the file, and the one that is to come. HelmError as for `run`, "conflict" above all."""
    from helm_cli.drivers import files_write

    path, expected, text = _write(plan)
    with files_walk.root(target) as tree:
        return (Revision(path, files_write.current(tree, path, expected), text),)


def probe(target: Root, secret: str | None, limits: Limits) -> str:
    """That the folder is there and can be read."""
    with files_walk.root(target) as tree:
        try:
            os.close(files_walk.listed(tree.opened))
        except OSError:
            raise HelmError("refused", "the folder cannot be read: permission denied") from None
    return "a folder that can be read"


def _write(plan: Plan) -> tuple[str, str, str]:
    request = plan.request
    return str(request["path"]), str(request["expected_sha256"]), str(request["text"])
