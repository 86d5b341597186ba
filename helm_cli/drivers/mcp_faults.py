"""What is said when an MCP server does not start, does not answer, or is cut off, and whether its tool may have run."""

from typing import Final

from helm_cli.drivers import Limits, mcp_results
from helm_cli.drivers.mcp_sdk import exceptions
from helm_cli.drivers.mcp_watch import Watch
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect

# What the SDK makes of the end of a conversation; servers answer with this code for reasons of their own.
_CLOSED: Final = (-32000, "Connection closed")
_REFUSED: Final = (401, 403)
# How the SDK begins what it says itself where an HTTP server answered no request, and with no error's status.
_SAID_BY_SDK: Final = (
    "Unexpected content type",
    "server answered a request with 202",
    "Failed to parse",
    "Redirect to",
    "SSE stream",
)


class Late(Exception):
    """The time was over before anything came."""


class Gone(Exception):
    """The conversation was over before it was asked anything."""


def leaf(error: BaseException) -> BaseException:
    """The first error of a group, of whatever depth: the SDK's come wrapped."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def hung_up(error: BaseException, watch: Watch) -> bool:
    """Whether a server that had started closed the conversation, and said nothing."""
    return _closed(error) and watch.fault is None and not _never(watch)


def unstarted(name: str, watch: Watch, error: BaseException, seconds: float) -> HelmError:
    """The error of a conversation that did not begin."""
    if isinstance(error, HelmError):
        return error
    server = f"the MCP server {name}"
    if isinstance(error, Late):
        return HelmError(
            "unavailable",
            f"{server} was not ready within {seconds:g} s{watch.last_words()};"
            f" if it needs more, raise it with: helm mcp edit {name} --start-seconds N",
        )
    return HelmError("unavailable", f"{server} {_why(name, watch, error, starting=True)}{watch.last_words()}")


def failed(name: str, tool: str, effect: Effect, watch: Watch, error: BaseException, limits: Limits) -> HelmError:
    """The error of a call, with whether its tool may have run (design, section 5)."""
    return _possibly(_cause(name, tool, watch, error, limits), effect, watch)


def _cause(name: str, tool: str, watch: Watch, error: BaseException, limits: Limits) -> HelmError:
    server = f"the MCP server {name}"
    if isinstance(error, HelmError):
        return error
    if isinstance(error, Late):
        return HelmError("timeout", f"{tool} took longer than {limits.seconds:g} s, so {server} was stopped")
    if isinstance(error, exceptions.MCPError) and answered(error, watch):
        return mcp_results.error(error.code, error.message, error.data, tool, watch, limits)
    code = "too_large" if watch.too_large else "unavailable"
    return HelmError(code, f"{server} {_why(name, watch, error, starting=False)}{watch.last_words()}")


def answered(error: exceptions.MCPError, watch: Watch) -> bool:
    """Whether an error is the server's own answer, and not what the SDK makes of none."""
    if _closed(error) or watch.fault is not None:
        return False
    if (refusal := watch.refusal) is not None:
        return refusal.error and not _unauthorized(watch) and not watch.forgotten()
    return not (watch.http and error.message.startswith(_SAID_BY_SDK))


def _why(name: str, watch: Watch, error: BaseException, *, starting: bool) -> str:
    """A clause that follows the server's name."""
    if watch.fault is not None:
        return f"{watch.fault}, so helm broke off"
    if watch.http and (watch.status or not starting):
        return _http(name, watch, error, starting=starting)
    if not isinstance(error, exceptions.MCPError | Gone):
        return "cannot be reached" if _unreached(error) else f"could not be understood ({type(error).__name__})"
    if (ending := watch.ending()) is not None:
        return ending + (" before it was ready" if starting and not _never(watch) else "")
    if isinstance(error, exceptions.MCPError) and not _closed(error):
        return f"refused to begin: {watch.safe(error.message)} ({error.code})"
    return "closed the connection"


def _http(name: str, watch: Watch, error: BaseException, *, starting: bool) -> str:
    last = next(reversed(watch.status.values()), 0)
    status = watch.status.get("initialize" if starting else "tools/call", last)
    if status in _REFUSED and watch.secret is None:
        return f"needs a token (HTTP status {status}); give it one with: helm mcp edit {name} --token-stdin"
    if status in _REFUSED:
        return f"refused the token (HTTP status {status}); check it, and enter it anew where it expired"
    if watch.forgotten():
        return f"does not know the session any more (HTTP status {status})"
    if 300 <= status < 400:
        return f"sends its callers elsewhere (HTTP status {status}), where helm does not follow with the token"
    if status >= 400:
        return f"answered with the HTTP status {status}"
    if _unreached(error) or watch.closed:
        return "cannot be reached any more"
    return "did not answer as an MCP server does"


def _unreached(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in ("httpx2", "httpcore2") or isinstance(error, OSError)


def _closed(error: BaseException) -> bool:
    return isinstance(error, exceptions.MCPError) and (error.code, error.message) == _CLOSED


def _never(watch: Watch) -> bool:
    return b"failed " in watch.reports


def _unauthorized(watch: Watch) -> bool:
    refusal = watch.refusal
    return refusal is not None and (refusal.status == 401 or (refusal.status == 403 and not refusal.own))


def _possibly(error: HelmError, effect: Effect, watch: Watch) -> HelmError:
    # Who is not let in starts no tool; that a session is unknown is believed where nothing depends on it.
    if not watch.sent or _unauthorized(watch) or (effect == "read" and watch.forgotten()):
        return error
    if effect == "write":
        told = f"{error.message}; it is unknown whether the write was applied: look before you repeat it"
        return HelmError(error.code, told, {**error.members, "applied": "unknown"}, error.outer)
    if error.code in ("timeout", "unavailable"):
        return HelmError(error.code, f"{error.message}; the tool may have run", error.members, error.outer)
    return error
