"""Cross-origin requests: which are refused, and what browsers are granted; by default exact origins on the Gateway."""

from collections.abc import Collection
from dataclasses import dataclass

from aop.serving.edge.request import Request
from aop.serving.edge.response import Headers, Response

_PREFLIGHT: Headers = (
    (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE, OPTIONS"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, Accept, If-None-Match"),
    (b"access-control-max-age", b"600"),
)
_EXPOSED = (
    b"access-control-expose-headers",
    b"x-platform-trace-id, x-platform-publication-status, ETag, Retry-After, Location",
)


@dataclass(frozen=True)
class CrossOrigin:
    origins: Collection[str] = ()
    prefix: bytes | tuple[bytes, ...] = (b"/v1/", b"/openapi.json")
    """Where origins are granted anything."""
    preflight_headers: Headers = _PREFLIGHT

    def require(self, request: Request) -> None:
        """The first check of every request; refuses nothing unless a unit says otherwise."""

    def grant(self, request: Request) -> Headers:
        """What to add to an answer; nothing unless the Origin is exactly a configured one."""
        origin = self._granted_origin(request)
        return () if origin is None else ((b"vary", b"Origin"), (b"access-control-allow-origin", origin), _EXPOSED)

    def preflight(self, request: Request) -> Response | None:
        """The answer to a preflight, given before authentication; None when this is not one we grant."""
        is_preflight = request.method == "OPTIONS" and request.header_values(b"access-control-request-method")
        return Response(204, headers=self.preflight_headers) if is_preflight and self._granted_origin(request) else None

    def _granted_origin(self, request: Request) -> bytes | None:
        if not self.origins or not request.scope["raw_path"].startswith(self.prefix):
            return None
        origin = request.single_header(b"origin")
        return origin if origin is not None and origin.decode("latin-1") in self.origins else None
