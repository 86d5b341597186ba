"""The commands of `helm plugin` for those who write an extension: start one, check it, look a field up."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Final

import typer

from helm_cli import dialects
from helm_cli.broker import review as reviewing
from helm_cli.broker import warnings
from helm_cli.cli import OutputOption, approving, group, listing_format, one_of
from helm_cli.cli.here import here, note, tell
from helm_cli.cli.listing import write_json
from helm_cli.model.errors import HelmError
from helm_cli.model.review import Invalid
from helm_cli.view import faults, review_json

app = group("Review, approve and list extensions.")

PathArgument = Annotated[
    str, typer.Argument(metavar="PATH", help="The folder that holds the manifest, or the manifest.")
]
DialectOption = Annotated[
    str, typer.Option("--dialect", metavar="FILE", help=f"Of which manifest: {' or '.join(dialects.DIALECTS)}.")
]

_MANIFEST: Final = "manifest.json"
_FORMATS: Final = ("text", "github")


@app.command("validate")
def validate(
    path: PathArgument,
    output: OutputOption = "auto",
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="text, or github for a job's annotations.")
    ] = "text",
) -> int:
    """Say everything that is wrong with an extension, and what to look at twice.

    Nothing is approved, and nothing of the home is read.

    \b
    Examples:
      helm plugin validate ./tickets -o json
      helm plugin validate ./tickets --format github
    """
    place = here()
    listing_format(output)
    one_of("--format", form, _FORMATS)
    if form == "github" and output == "json":
        raise HelmError("usage", "-o json and --format github are two outputs; give one of them")
    folder = reviewing.folder_of(path)
    found = reviewing.validate(folder)
    if isinstance(found, Invalid):
        return approving.invalid(place, found, folder, "github" if form == "github" else output)
    cautions = warnings.of_author(found.extension, found.content)
    if output == "json":
        effective = dialects.effective(found.content)
        more = {} if effective is None else {"effective": effective}
        write_json(place, {**review_json.validation((), cautions), **more})
        return 0
    if form == "github":
        told = faults.annotations((), cautions, folder)
        place.streams.write("".join(f"{line}\n" for line in told))
    else:
        for line in faults.warnings(cautions, folder):
            tell(place.streams, f"warning: {line}")
    note(place.streams, f"{found.extension.id} is valid; its digest is {found.content.digest}")
    return 0


@app.command("new")
def new(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The folder to write; it must not hold anything.")],
    id_: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Its id; else made from the folder's name.")
    ] = None,
    dialect: DialectOption = _MANIFEST,
) -> int:
    """Write an extension to start from.

    \b
    Examples:
      helm plugin new ./ext/tickets-2 --id tickets
      helm plugin new ./marketing --id acme/marketing --dialect plugin.yaml
    """
    place = here()
    files = dialects.template(id_ or _id_of(path), one_of("--dialect", dialect, dialects.DIALECTS))
    try:
        os.makedirs(path, exist_ok=True)
        if os.listdir(path):
            raise HelmError("usage", f"{path} is not empty; name a folder that does not exist yet")
        _written(path, files)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise HelmError("usage", f"{path} cannot be written ({reason}); name another folder") from None
    *most, last = sorted(files)
    note(place.streams, f"{path} holds {', '.join(most)} and {last}; next: helm plugin review {path}")
    return 0


@app.command("schema")
def schema(dialect: DialectOption = _MANIFEST) -> int:
    """Print the JSON Schema of a manifest, the one that validates.

    \b
    Examples:
      helm plugin schema > manifest.schema.json
      helm plugin schema --dialect plugin.yaml
    """
    here().streams.write(_ended(dialects.schema_text(one_of("--dialect", dialect, dialects.DIALECTS))))
    return 0


@app.command("reference")
def reference(dialect: DialectOption = _MANIFEST) -> int:
    """Show every field of a manifest and what it may hold; in a pipe as Markdown.

    \b
    Examples:
      helm plugin reference | less
      helm plugin reference --dialect plugin.yaml
    """
    place = here()
    text = _ended(dialects.reference(one_of("--dialect", dialect, dialects.DIALECTS)))
    if not place.streams.out_terminal:
        place.streams.write(text)
        return 0
    from helm_cli.view import reference as page

    page.show(text, place.streams)
    return 0


def _written(path: str, files: Mapping[str, str]) -> None:
    """Write them all; where that cannot be, none of them is left, so that it can be begun again."""
    made = []
    try:
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(path, name)), exist_ok=True)
            with open(os.path.join(path, name), "x", encoding="utf-8", newline="\n") as file:
                made.append(name)
                file.write(text)
    except OSError:
        for name in made:
            os.unlink(os.path.join(path, name))
        for folder in sorted({os.path.dirname(name) for name in files} - {""}, reverse=True):
            with suppress(OSError):
                os.rmdir(os.path.join(path, folder))
        raise


def _id_of(path: str) -> str:
    """An id made from a folder's name. Raises HelmError "usage" where nothing of the name can stand in one."""
    name = os.path.basename(os.path.abspath(path))
    made = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:64].rstrip("-")
    if not made:
        raise HelmError("usage", f"no id can be made from the name {name}; give one with --id")
    return made


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
