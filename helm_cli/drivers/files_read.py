"""How files become text: whole, to the byte, or not at all."""

import hashlib
import os
from collections.abc import Iterable
from time import monotonic
from typing import Final

from helm_cli.drivers import Limits, files_walk
from helm_cli.drivers.files_walk import Tree
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json

# Of one file (contract, Files).
MOST_BYTES: Final = 256 * 1024


def one(tree: Tree, path: str) -> dict[str, Json]:
    """`{"path", "text", "sha256"}`. Raises HelmError "refused", "too_large", "not_text" and "unavailable"."""
    with files_walk.folder(tree, path) as (folder, name):
        opened = files_walk.regular(folder, name, path)
        try:
            data = files_walk.content(opened, MOST_BYTES)
        except OSError as error:
            raise files_walk.fault(path, error) from None
        finally:
            os.close(opened)
    return {"path": path, "text": text(path, data), "sha256": sha256(data)}


def many(tree: Tree, paths: Iterable[str], limits: Limits) -> Json:
    """`{"files": [{"path", "text", "sha256"} or {"path", "error"}, …], "truncated"}`, in the order asked for.

    Truncated at the first file with which the texts would be over `limits.bytes` (contract, Files). Raises HelmError
    "timeout".
    """
    files: list[Json] = []
    left = limits.bytes
    ends = monotonic() + limits.seconds
    for path in paths:
        if monotonic() > ends:
            raise HelmError("timeout", f"reading took longer than {limits.seconds:g} s; ask for fewer files at once")
        try:
            file = one(tree, path)
        except HelmError as error:
            files.append({"path": path, "error": {"code": error.code, "message": error.message}})
            continue
        left -= len(str(file["text"]).encode())
        if left < 0:
            return {"files": files, "truncated": True}
        files.append(file)
    return {"files": files, "truncated": False}


def text(path: str, data: bytes) -> str:
    """The text of a file's bytes, each of them kept. Raises HelmError "too_large" and "not_text"."""
    if len(data) > MOST_BYTES:
        raise HelmError("too_large", f"{path} has more than {MOST_BYTES} bytes, the most of a file that can be used")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise HelmError(
            "not_text", f"{path} is not UTF-8 at byte {error.start}, so it cannot be given as text"
        ) from None


def sha256(data: bytes) -> str:
    """The SHA-256 of bytes in lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()
