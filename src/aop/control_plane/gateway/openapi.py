"""`GET /openapi.json`: tells anyone what this surface offers, in one document that generators of clients read."""

import hashlib
from collections.abc import Sequence

from aop.base import assets
from aop.contracts.errors import Envelope
from aop.control_plane.gateway.access import GatewayAccess
from aop.serving.edge.request import Request, holds_copy
from aop.serving.edge.response import JSON, Response
from aop.serving.edge.routing import Route


def openapi_routes(access: GatewayAccess) -> Sequence[Route]:
    """Read once, when the unit starts: the document belongs to the version of the product."""
    content = (assets.folder("contracts") / "openapi" / "bundled" / "gateway.v1.json").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    headers = ((b"etag", f'"{digest}"'.encode("ascii")), (b"cache-control", b"no-cache"))
    whole = Response(200, content, (JSON, *headers), cacheable=True)
    unchanged = Response(304, headers=headers, cacheable=True)

    async def read(request: Request) -> Response:
        return unchanged if holds_copy(request, digest) else whole

    return [Route("GET", "/openapi.json", read, Envelope.CATALOG, slots=access.anonymous)]
