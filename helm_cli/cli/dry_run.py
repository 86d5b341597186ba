"""`helm call --dry-run`: what would be sent, without where to, unless a person is there to see it."""

from typing import Final

from helm_cli.broker import call
from helm_cli.broker.request import Request
from helm_cli.cli.answer import report
from helm_cli.cli.here import Here
from helm_cli.model.envelope import JSON, success
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Brain, Database, Root, Server, Service, Target
from helm_cli.view import plan as plan_view
from helm_cli.view.streams import person_present

# What the place that a call goes to is called, where a person may see it.
_PLACES: Final[dict[type, str]] = {
    Database: "database",
    Service: "base url",
    Server: "server",
    Root: "folder",
    Brain: "TDT workspace",
}


def show(place: Here, request: Request, output: str) -> int:
    """Print the plan of a request and send nothing. Raises HelmError "usage", and what `call.describe` raises."""
    if output not in ("auto", "json", "pretty", "data"):
        raise HelmError("usage", "a plan is shown as auto, json, pretty or data")
    prepared = call.describe(place.stores, request)
    plan = prepared.plan
    on_terminal = output == "auto" and place.streams.out_terminal
    context = {"workspace": request.workspace.path}
    if on_terminal and person_present(place.streams):
        context[_PLACES[type(prepared.target)]] = prepared.target.where()
    else:
        plan = _without_base(plan, prepared.target)
    if on_terminal:
        place.streams.write("\n".join(("", *plan_view.plan_text(plan, context), "")) + "\n")
        return 0
    shown: dict[str, Json] = {
        "kind": plan.kind,
        "effect": plan.effect,
        "extension": plan.extension,
        "connection": plan.connection,
        "operation": plan.operation,
        "profile": plan.profile,
        "request": plan.request,
    }
    return report(place, success(shown), JSON, "json" if output == "auto" else output)


def _without_base(plan: Plan, target: Target) -> Plan:
    """The plan as others than a person may see it: of a URL that is sent, what is added to the base URL."""
    url = plan.request.get("url")
    if not isinstance(target, Service) or not isinstance(url, str):
        return plan
    return plan._replace(request={**plan.request, "url": url.removeprefix(target.base_url)})
