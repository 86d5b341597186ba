"""How a planned HTTP call is sent to its service, and which envelope its answer becomes."""

from contextlib import suppress
from http import HTTPStatus
from typing import Final

from helm_cli import __version__
from helm_cli.drivers import Answer, Limits, http_retry, kept
from helm_cli.drivers.exchange import REDIRECTS, Reply, Sent, exchange
from helm_cli.drivers.http_library import httpx
from helm_cli.grammar import token
from helm_cli.model import jsontext
from helm_cli.model.envelope import success
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Service

LIMITS: Final = Limits(seconds=10.0, bytes=1024 * 1024)

_LOOK: Final = "; it is unknown whether the write was applied: look before you repeat it"


def run(plan: Plan, service: Service, secret: str | None, limits: Limits) -> Answer:
    """Sends exactly the method, URL and body of the request, and the token in the one header of the profile.

    The envelope has `status`, and as data the JSON of a 2xx answer, null for an empty one. HelmError with the codes
    of an http call (contract, HTTP; design, section 8): those that came of an answer have its `status` too,
    "http_error" its JSON as data and its Retry-After as `retry_after` in seconds. A write that was sent and did not
    get an answer that settles it has `"applied": "unknown"`.
    """
    sent = _sent(plan, service, secret)
    key = ("http", service.target_digest(), secret, plan.extension)
    try:
        reply = exchange(sent, limits, key, kept.label(service, plan.extension))
    except HelmError as error:
        raise _unanswered(error, plan.effect) from None
    return Answer(_envelope(reply, service, plan.effect, limits))


def prepare(plan: Plan, service: Service, secret: str | None, limits: Limits) -> None:
    """Makes the request ready to be sent, and sends nothing. HelmError as `run` would end without sending."""
    _sent(plan, service, secret)


def probe(service: Service, secret: str | None, limits: Limits) -> str:
    """What a GET of the base URL was answered; any status is an answer, but one that says that the token is wrong.

    HelmError as for `run`, "http_error" for 401, 403 and a fault of the server's own.
    """
    reply = exchange(Sent("GET", service.base_url, _headers(service, secret, has_body=False), None), limits)
    if reply.status in (401, 403) or reply.status >= 500:
        raise _http_error(reply, service, "read")
    return f"the service answered {_named(reply.status)}"


def _sent(plan: Plan, service: Service, secret: str | None) -> Sent:
    method, url, body = (plan.request.get(name) for name in ("method", "url", "body"))
    if not (isinstance(method, str) and isinstance(url, str) and (body is None or isinstance(body, str))):
        raise HelmError("internal", f"the request of {plan.operation} cannot be sent; report this")
    _check_url(plan, url, service)
    data = None if body is None else body.encode("ascii")
    return Sent(method, url, _headers(service, secret, has_body=data is not None), data)


def _check_url(plan: Plan, url: str, service: Service) -> None:
    """That httpx sends the URL as it was shown, and that it is under the base URL (contract, HTTP)."""
    try:
        kept = str(httpx.URL(url)) == url
    except httpx.InvalidURL:
        kept = False
    if not kept or not url.startswith(f"{service.base_url}/"):
        raise HelmError("refused", f"the URL of {plan.operation} cannot be sent as it stands; check its arguments")


def _headers(service: Service, secret: str | None, *, has_body: bool) -> dict[str, str]:
    headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"helm/{__version__}"}
    if has_body:
        headers["Content-Type"] = "application/json"
    if secret is not None:
        _check_secret(service, secret)
        headers[service.header] = f"Bearer {secret}" if service.format == "bearer" else secret
    return headers


def _check_secret(service: Service, secret: str) -> None:
    if token.fault(secret) is not None:
        name = service.name
        step = f"helm oauth connect {name}" if service.oauth2 else f"helm service edit {name} --ask-token"
        told = f"the token of {name} holds what no header can carry, such as a line end; enter it again with: {step}"
        raise HelmError("not_configured", told)


def _unanswered(error: HelmError, effect: Effect) -> HelmError:
    """The error of an exchange without an answer. That a read may have reached the service changes nothing."""
    if effect == "read":
        return HelmError(error.code, error.message)
    told = _LOOK if "applied" in error.members else "; nothing was sent"
    return HelmError(error.code, error.message + told, error.members)


def _envelope(reply: Reply, service: Service, effect: Effect, limits: Limits) -> dict[str, Json]:
    if reply.status in REDIRECTS:
        told = f"the service answered {_named(reply.status)}, and helm follows no redirect; check its base URL"
        raise _answered("redirect", told, reply, effect)
    if not 200 <= reply.status < 300:
        raise _http_error(reply, service, effect)
    if reply.cut:
        told = f"the answer of the service is over {limits.bytes:,} bytes; ask for less"
        raise _answered("too_large", told, reply, effect)
    try:
        return success(_json(reply), {"status": reply.status})
    except ValueError as error:
        raise _answered(
            "not_json", f"the answer of the service cannot be read as JSON: {error}", reply, effect
        ) from None


def _http_error(reply: Reply, service: Service, effect: Effect) -> HelmError:
    wait = http_retry.after(reply.headers)
    told = f"the service answered {_named(reply.status)}"
    if reply.status == 401:
        told += f"; check the sign-in or the token of {service.name}"
    elif wait is not None and _settled(reply, effect):
        told += f"; wait {wait} s before you ask again"
    error = _answered("http_error", told, reply, effect)
    if wait is not None:
        error.members["retry_after"] = wait
    with suppress(ValueError):
        error.outer["data"] = jsontext.repaired(_json(reply))
    return error


def _answered(code: str, told: str, reply: Reply, effect: Effect) -> HelmError:
    """An error that came of an answer."""
    outer: dict[str, Json] = {"status": reply.status, "data": None}
    if _settled(reply, effect):
        return HelmError(code, told, outer=outer)
    return HelmError(code, told + _LOOK, {"applied": "unknown"}, outer)


def _settled(reply: Reply, effect: Effect) -> bool:
    """Whether nothing was changed: a 4xx says of a write that it was not applied, as far as a service tells."""
    return effect == "read" or 400 <= reply.status < 500


def _json(reply: Reply) -> Json:
    """The JSON of a body, null for an empty one, whatever Content-Type says. ValueError with a clause on why not."""
    if reply.cut or reply.fault is not None:
        raise ValueError(f"its body {reply.fault or 'is too large'}")
    return jsontext.parse(reply.body.removeprefix(jsontext.BOM), mend=True) if reply.body else None


def _named(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
