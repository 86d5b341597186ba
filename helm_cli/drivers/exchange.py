"""One bounded HTTP exchange: a request, and an answer that is small enough, soon enough, or an error that is safe."""

from collections.abc import Hashable, Mapping
from typing import Final, NamedTuple

from helm_cli.drivers import Limits, deadline, http_body, http_faults, kept
from helm_cli.drivers.deadline import Abandoned, Deadline
from helm_cli.drivers.http_library import httpx
from helm_cli.drivers.http_line import Late, Line, open_line
from helm_cli.model.errors import HelmError

# The statuses that say where else to go, which nothing of helm's ever does.
REDIRECTS: Final = (301, 302, 303, 307, 308)


class Sent(NamedTuple):
    """A request: exactly this is sent, and Host and Content-Length with it. `body` is None for no body."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


class Reply(NamedTuple):
    """An answer with whatever status it has; names of `headers` are in lower case, several of one joined by ", ".

    `body` is decoded and whole, unless it could not be read, where it is empty: `cut` says that it is over
    `limits.bytes`, `fault` is a clause on what else is wrong with it ("is compressed in a way …"). Only an answer that
    says that something went wrong may also have broken off, or not been whole in time: its status tells enough.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool = False
    fault: str | None = None


def exchange(sent: Sent, limits: Limits, key: Hashable = None, label: str = "") -> Reply:
    """Sends a request once and reads its answer; `limits.seconds` are for all of it, the look-up of the host included.

    Redirects are not followed, cookies not kept, nothing is sent twice. A `key` that is not None keeps the
    connection for the next exchange with it where somebody asked for that (`kept`): whose target, secret and
    extension it is. Only a GET goes over a kept connection, for it alone may be asked again where the server had
    closed that. HelmError "unavailable", "timeout" or "not_configured"; it has the member `"applied": "unknown"`
    where the request may have been sent, and no word of the request in its message.
    """
    request = _request(sent)
    taken: list[Line] = []

    def whole(clock: Deadline) -> Reply:
        line = open_line(sent.url) if key is None else kept.take(key, lambda: open_line(sent.url), label=label)
        taken.append(line)
        done = False
        try:
            reply, done = _exchanged(line, request, limits, clock)
        finally:
            if done and key is not None and not clock.over():
                kept.give(key, line)
            else:
                line.close()
        return reply

    try:
        return deadline.run(whole, limits.seconds)
    except Abandoned as left:
        raise _late(taken[0] if taken else None, limits, sent=left.open_ended) from None


def _request(sent: Sent) -> "httpx.Request":
    for value in sent.headers.values():
        if not value.isascii() or not value.isprintable() or value != value.strip():
            raise HelmError(
                "not_configured", "a secret holds what no header can carry, such as a line end; enter it again"
            )
    # By bytes httpx sends the header's name as it stands.
    headers = [(name.encode("ascii"), value.encode("ascii")) for name, value in sent.headers.items()]
    try:
        return httpx.Request(sent.method, sent.url, headers=headers, content=sent.body)
    except httpx.InvalidURL:
        raise HelmError("not_configured", "the URL of the service cannot be sent; check its base URL") from None


def _exchanged(line: Line, request: "httpx.Request", limits: Limits, clock: Deadline) -> tuple[Reply, bool]:
    """The answer, and whether the line is as good as new."""
    try:
        response = _answered(line, request, clock)
        try:
            reply = _read(response, limits)
        finally:
            response.close()
    except (Late, http_body.Short, *http_faults.KNOWN) as error:
        raise _failed(error, line, limits, clock) from None
    if clock.over():
        # Its own end interrupted the connection, which a body without a length takes for its end.
        if _good(reply):
            raise _late(line, limits, sent=clock.committing)
        return (reply if reply.cut else reply._replace(body=b"", fault="was not whole in time")), False
    return reply, not (reply.cut or reply.fault) and line.clean()


def _good(reply: Reply) -> bool:
    return 200 <= reply.status < 300


def _failed(error: BaseException, line: Line, limits: Limits, clock: Deadline) -> HelmError:
    sent = clock.committing
    if clock.over() or isinstance(error, (Late, httpx.TimeoutException)):
        return _late(line, limits, sent=sent)
    if isinstance(error, http_body.Short):
        return http_faults.unavailable("the answer of the service broke off", sent=sent)
    if line.proxy is not None and not line.connected and not sent:
        return http_faults.unavailable(f"{line.proxy} names a proxy that does not answer; check or unset it", sent=sent)
    if isinstance(error, httpx.ProxyError):
        told = f"the proxy that {line.proxy} names did not connect helm to the service; check or unset it"
        return http_faults.unavailable(told, sent=sent)
    return http_faults.failed(error, sent=sent)


def _late(line: Line | None, limits: Limits, *, sent: bool) -> HelmError:
    if line is None or line.proxy is None or sent:
        return http_faults.timed_out(limits.seconds, sent=sent)
    told = f"the proxy that {line.proxy} names did not connect helm to the service within {limits.seconds:g} s"
    return HelmError("timeout", f"{told}; check or unset it")


def _answered(line: Line, request: "httpx.Request", clock: Deadline) -> "httpx.Response":
    if request.method != "GET":
        line.hang_up()
        return line.send(request, clock)
    try:
        return line.send(request, clock)
    except (httpx.NetworkError, httpx.RemoteProtocolError):
        if line.connected or line.answered or clock.over():
            raise
        line.hang_up()
        return line.send(request, clock)


def _read(response: "httpx.Response", limits: Limits) -> Reply:
    reply = Reply(response.status_code, {**response.headers}, b"")
    try:
        body = http_body.decoded(response.iter_raw(), reply.headers.get("content-encoding", ""), limits.bytes)
    except http_body.Over:
        return reply._replace(cut=True)
    except http_body.Unreadable as error:
        return reply._replace(fault=str(error))
    except (http_body.Short, httpx.HTTPError):
        if _good(reply):
            raise
        # What it says went wrong is worth more than that its text is not whole.
        return reply._replace(fault="broke off")
    return reply._replace(body=body)
