"""Serves the Console: every address of it answers the page, every built file itself, nothing else exists."""

from aop.console.settings import ConsoleSettings
from aop.console.site import ConsoleNotBuilt, File, Headers, Site, built_folder, read_site, security_headers
from aop.net.asgi import Message, Receive, Scope, Send
from aop.serving.any_server import DISCONNECTED, on_any_server
from aop.serving.health import Readiness
from aop.serving.metrics import UnitMetrics
from aop.serving.request_log import UnitLog
from aop.serving.unit import CannotStart, Unit

UNIT = "console"
_HEALTH = b'{"status":"ok"}'


class ConsoleApplication:
    """A plain ASGI application: no state, no session, no request of its own to anybody."""

    def __init__(self, site: Site, secure: Headers) -> None:
        self._site = site
        self._secure = secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if DISCONNECTED not in scope:
            await on_any_server(self, scope, receive, send)
            return
        status, headers, body = self._answer(scope)
        length = (b"content-length", str(len(body)).encode())
        if scope["method"] == "HEAD":
            body = b""
        start: Message = {"type": "http.response.start", "status": status, "headers": [*headers, length]}
        await send(start)
        await send({"type": "http.response.body", "body": body})

    def _answer(self, scope: Scope) -> tuple[int, Headers, bytes]:
        if scope["aop.ambiguity"] is not None:
            return 400, ((b"cache-control", b"no-store"), *self._secure), b""
        if scope["method"] not in {"GET", "HEAD"}:
            return 405, ((b"allow", b"GET, HEAD"), *self._secure), b""
        path = scope["path"]
        if path in {"/livez", "/readyz"}:
            return 200, ((b"content-type", b"application/json"), (b"cache-control", b"no-store")), _HEALTH
        found = self._site.find(path)
        if found is None:
            return 404, ((b"cache-control", b"no-store"), *self._secure), b""
        return _file_answer(found, dict(scope["headers"]))


def _file_answer(file: File, request_headers: dict[bytes, bytes]) -> tuple[int, Headers, bytes]:
    if request_headers.get(b"if-none-match") == file.etag:
        return 304, file.headers, b""
    if file.compressed is not None and _takes_gzip(request_headers.get(b"accept-encoding", b"")):
        return 200, (*file.headers, (b"content-encoding", b"gzip")), file.compressed
    return 200, file.headers, file.content


def _takes_gzip(accepted: bytes) -> bool:
    codings = [coding.replace(b" ", b"").lower() for coding in accepted.split(b",")]
    return any(coding == b"gzip" or (coding.startswith(b"gzip;q=") and coding != b"gzip;q=0") for coding in codings)


async def build(settings: ConsoleSettings) -> Unit:
    folder = built_folder()
    if folder is None:
        raise CannotStart("the Console is not built: in a source checkout run `./dev console build`")
    try:
        site = read_site(folder, settings)
    except ConsoleNotBuilt as problem:
        raise CannotStart(str(problem)) from None
    log = UnitLog(UNIT, settings.log_level)
    metrics = UnitMetrics(UNIT)
    readiness = Readiness({}, log, metrics)
    return Unit(ConsoleApplication(site, security_headers(settings)), readiness, (), log, metrics, _nothing)


async def _nothing() -> None:
    """Nothing is open."""
