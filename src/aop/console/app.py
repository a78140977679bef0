"""Serves the Console: every address of it answers the page, every built file itself, nothing else exists."""

from aop.console.preview import PATH as SHARE_PATH
from aop.console.preview import Previews
from aop.console.settings import ConsoleSettings
from aop.console.site import ConsoleNotBuilt, File, Headers, Site, built_folder, read_site
from aop.net.asgi import Message, Receive, Scope, Send
from aop.net.own_server import own_server
from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.request_log import UnitLog
from aop.serving.unit.health import Readiness
from aop.serving.unit.unit import Unit
from aop.serving.unit.unit_settings import CannotStart

UNIT = "console"
_HEALTH = b'{"status":"ok"}'


class ConsoleApplication:
    """A plain ASGI application: no state, no session. All it asks of anybody is the preview of a share link."""

    def __init__(self, site: Site, previews: Previews) -> None:
        self._site = site
        self._previews = previews

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, headers, body = await self._answer(scope)
        length = (b"content-length", str(len(body)).encode())
        if scope["method"] == "HEAD":
            body = b""
        start: Message = {"type": "http.response.start", "status": status, "headers": [*headers, length]}
        await send(start)
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope) -> tuple[int, Headers, bytes]:
        secure = self._site.secure
        if own_server(scope).ambiguity is not None:
            return 400, ((b"cache-control", b"no-store"), *secure), b""
        if scope["method"] not in {"GET", "HEAD"}:
            return 405, ((b"allow", b"GET, HEAD"), *secure), b""
        path = scope["path"]
        if path in {"/livez", "/readyz"}:
            return 200, ((b"content-type", b"application/json"), (b"cache-control", b"no-store")), _HEALTH
        found = await self._shared(path) or self._site.find(path)
        if found is None:
            return 404, ((b"cache-control", b"no-store"), *secure), b""
        return _file_answer(found, dict(scope["headers"]))

    async def _shared(self, path: str) -> File | None:
        """The page of a share link with its preview; nothing where there is none, and the plain page is the answer."""
        named = SHARE_PATH.fullmatch(path)
        preview = None if named is None else await self._previews.of(named[1])
        return None if preview is None else self._site.previewed(preview.tags())


def _file_answer(file: File, request_headers: dict[bytes, bytes]) -> tuple[int, Headers, bytes]:
    if request_headers.get(b"if-none-match") == file.etag:
        return 304, file.headers, b""
    accepted = _accepted(request_headers.get(b"accept-encoding", b""))
    for coding, body in file.compressed.items():
        if coding in accepted:
            return 200, (*file.headers, (b"content-encoding", coding)), body
    return 200, file.headers, file.content


def _accepted(header: bytes) -> frozenset[bytes]:
    """The content codings with a weight above 0; only those that are named count."""
    codings = [coding.replace(b" ", b"").lower().partition(b";q=") for coding in header.split(b",")]
    return frozenset(name for name, _, weight in codings if weight.strip(b"0.") or not weight)


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
    previews = Previews(settings.api_base_url, settings.public_agent_origin)
    return Unit(ConsoleApplication(site, previews), readiness, (), log, metrics, previews.close)
