"""What a person reads before a plugin's tool is bound: everything that its calls will send, and who may send it."""

import json
from collections.abc import Iterator

from helm_cli.model.extension import Extension, Operation
from helm_cli.model.plugin import Bound
from helm_cli.model.profile import Service
from helm_cli.view.plugin_json import plain
from helm_cli.view.text import shown, shown_lines

_RISKS = {
    "read": "read: it runs without asking",
    "write": "write: each call is shown and confirmed by a person before it is sent",
    "consequential": "consequential: it runs only for an approved draft, once a person confirmed it",
}


def lines(
    extension: Extension, workspace: str, operation: Operation, service: Service, former: Bound | None
) -> list[str]:
    """The page of a binding, line by line: `operation` is the tool as it would be bound, `former` what was bound."""
    return list(_lines(extension, workspace, operation, service, former))


def _lines(
    extension: Extension, workspace: str, operation: Operation, service: Service, former: Bound | None
) -> Iterator[str]:
    spec = operation.spec
    signs = {"oauth2": "the access token of its sign-in", "token": "its token", "none": "no token"}[service.sign_in]
    yield from (
        f"  {label:<11}{shown(value)}"
        for label, value in {
            "extension": extension.id,
            "workspace": workspace,
            "tool": operation.name,
            "says": spec.get("description") or "",
            "risk": _RISKS[spec["risk"]],
            "service": f"{service.name}, with {signs}",
            "method": spec["method"],
            "url": service.base_url + spec["path"],
        }.items()
        if value
    )
    yield from (f"  {'query':<11}{shown(name)} = {shown(value)}" for name, value in spec["query"].items())
    if "body" in spec:
        yield "  body"
        text = shown_lines(json.dumps(plain(spec["body"]), ensure_ascii=False, indent=2))
        yield from (f"    {part}" for part in text.split("\n"))
    yield f"  {'fills in':<11}{shown(', '.join(operation.params or ()) or 'nothing')}"
    if former is not None:
        yield f"  {'replaces':<11}{shown(f'{former.method} {former.path} of the service profile {former.service}')}"
