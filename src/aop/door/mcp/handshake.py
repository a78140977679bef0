"""How a client and the door come to an understanding: the handshake, the discovery, and what every request must say."""

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from aop.door.gateway import DoorCaller
from aop.door.mcp.messages import (
    CAPABILITIES,
    HANDSHAKE_VERSIONS,
    INSTRUCTIONS,
    MAX_ID,
    MODERN_VERSION,
    SERVER_INFO,
    Era,
    Fault,
    Id,
    McpMessage,
    Params,
    ProtocolFault,
    encode,
    of_era,
    success,
)
from aop.door.request import DoorRequest
from aop.door.running import CallKey
from aop.net.accept import allows_event_stream
from aop.serving.edge.request import Request
from aop.serving.edge.response import JSON, Headers, Response

VERSION_HEADER: Final = b"mcp-protocol-version"
_METHOD_HEADER: Final = b"mcp-method"
_NAME_HEADER: Final = b"mcp-name"
_DISCOVERY_MS: Final = 3_600_000
_BASE64: Final = re.compile(rb"=\?base64\?(.*)\?=")


@dataclass(frozen=True, slots=True)
class McpRequest:
    """A request that was understood."""

    door: DoorRequest
    id: Id
    method: str
    params: Params
    era: Era
    session: bytes | None = None
    """Under which the client may cancel a call by a second message of HTTP."""
    admitted: bool = False
    """The Gateway has said before that this caller sees the Workspace."""

    async def admit(self) -> None:
        if not self.admitted:
            await self.door.caller.workspace()

    @property
    def key(self) -> CallKey | None:
        return call_key(self.door.caller, self.session, self.id)

    @property
    def takes_events(self) -> bool:
        return allows_event_stream(self.door.http.header_values(b"accept"))

    def answer(self, result: bytes, headers: Headers = ()) -> Response:
        return Response(200, success(self.id, result), (JSON, *headers))


def call_key(caller: DoorCaller, session: bytes | None, request_id: Id) -> CallKey | None:
    """A call without a session can only be cancelled by leaving: ids of requests are counted from 0 by every client,
    so they name nothing by themselves."""
    return None if session is None else (caller.bearer, caller.workspace_id, session.decode("latin-1"), request_id)


def era_of(params: Params, request: Request | None = None) -> Era:
    """What names no version, or one of the handshake, belongs to the handshake. On stdio there is no HTTP request."""
    header = None if request is None else request.single_header(VERSION_HEADER)
    known = header is None or header.decode("latin-1") in HANDSHAKE_VERSIONS
    return Era.HANDSHAKE if known and params.meta.version is msgspec.UNSET else Era.MODERN


def require_modern(message: McpMessage, params: Params, request: Request | None = None) -> None:
    """Over HTTP a modern request says twice what it is, in its body and in its headers, and both must agree."""
    meta = params.meta
    if meta.version is msgspec.UNSET or meta.capabilities is msgspec.UNSET:
        raise ProtocolFault(Fault.PARAMS, "_meta must name the protocol version and the client's capabilities")
    if request is not None:
        said = [(VERSION_HEADER, meta.version), (_METHOD_HEADER, message.method)]
        if message.method == "tools/call":
            said.append((_NAME_HEADER, "" if params.name is msgspec.UNSET else params.name))
        _require_headers(request, said)
    if meta.version != MODERN_VERSION:
        data = {"supported": [MODERN_VERSION], "requested": meta.version[:MAX_ID]}
        raise ProtocolFault(Fault.VERSION, "Unsupported protocol version", data)


def _require_headers(request: Request, said: Sequence[tuple[bytes, str]]) -> None:
    for header, text in said:
        value = request.single_header(header)
        if value is None or _header_text(value) != text:
            raise ProtocolFault(Fault.HEADER, f"The header {header.decode()} does not agree with the body")


def _header_text(value: bytes) -> str | None:
    wrapped = _BASE64.fullmatch(value)
    try:
        return value.decode("ascii") if wrapped is None else base64.b64decode(wrapped[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def initialized(params: Params) -> bytes:
    """The answer to `initialize`: the version that the client asks for, or the newest of the handshake."""
    if params.version is msgspec.UNSET:
        raise ProtocolFault(Fault.PARAMS, "initialize must name a protocol version")
    version = params.version if params.version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
    return encode(
        {
            "protocolVersion": version,
            "capabilities": CAPABILITIES,
            "serverInfo": SERVER_INFO,
            "instructions": INSTRUCTIONS,
        }
    )


def discovered() -> bytes:
    """The answer to `server/discover`."""
    return of_era(
        Era.MODERN,
        {
            "supportedVersions": [MODERN_VERSION],
            "capabilities": CAPABILITIES,
            "instructions": INSTRUCTIONS,
            "ttlMs": _DISCOVERY_MS,
            "cacheScope": "private",
        },
    )
