"""Which Host and Origin a request may name: a page elsewhere must not reach the door through a reader's browser.

A browser that was made to resolve a foreign name to the door's address (DNS rebinding) still sends that name as Host.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from aop.contracts.errors import Forbidden
from aop.serving.edge.cors import CrossOrigin
from aop.serving.edge.request import Request
from aop.serving.edge.response import Headers

# Probes ask by the address of a machine or of a container; what they get says nothing about anybody.
_OPEN: Final = frozenset({b"/livez", b"/readyz", b"/metrics"})
_GRANTS: Final[Headers] = (
    (b"access-control-allow-methods", b"GET, POST, DELETE, OPTIONS"),
    (
        b"access-control-allow-headers",
        b"Authorization, Content-Type, Accept, A2A-Version, A2A-Extensions,"
        b" MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name",
    ),
    (b"access-control-max-age", b"600"),
)


@dataclass(frozen=True)
class DoorOrigins(CrossOrigin):
    prefix: bytes = b"/"
    preflight_headers: Headers = _GRANTS
    hosts: Collection[str] = ()
    _hosts: frozenset[bytes] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hosts", frozenset(host.encode("ascii") for host in self.hosts))

    def require(self, request: Request) -> None:
        if request.scope["raw_path"] in _OPEN:
            return
        host = request.single_header(b"host")
        if host is None or host.lower() not in self._hosts:
            raise Forbidden("the Host is none of this door")
        for origin in request.header_values(b"origin"):
            if origin.decode("latin-1") not in self.origins:
                raise Forbidden("the Origin may not use this door")
