"""JSON-RPC as MCP uses it: the messages of a client, read once, and the text of what it gets."""

from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import Annotated, Any, Final, Literal

import msgspec

from aop import __version__
from aop.base.json import NOT_READ

MODERN_VERSION: Final = "2026-07-28"
HANDSHAKE_VERSIONS: Final = ("2025-03-26", "2025-06-18", "2025-11-25")
"""Of the handshake the last one is offered; a client that asks for an older one of these gets it."""

SERVER_INFO: Final = {
    "name": "agent-operating-platform",
    "title": "Agent Operating Platform",
    "version": __version__,
}
INSTRUCTIONS: Final = (
    "Each tool is one Skill of an Agent that is installed in this Workspace. A call is one recorded Invocation; its"
    " trace id is in _meta and in every error. Repeat a call only when its error says that nothing was done."
)
CAPABILITIES: Final = {"tools": {"listChanged": True}}
SERVER_INFO_KEY: Final = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_KEY: Final = "io.modelcontextprotocol/subscriptionId"

MAX_ID: Final = 256
"""Characters of an id or a progress token: answers repeat them, a progress token with every chunk."""
Id = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] | Annotated[str, msgspec.Meta(max_length=MAX_ID)]
_UNSET: Final = msgspec.UNSET
encode: Final = msgspec.json.Encoder().encode


class Era(Enum):
    """A client that opened with `initialize`, or one whose every request says what it needs to be understood."""

    HANDSHAKE = "handshake"
    MODERN = "modern"


class Fault(IntEnum):
    PARSE = -32700
    REQUEST = -32600
    METHOD = -32601
    PARAMS = -32602
    INTERNAL = -32603
    HEADER = -32020
    VERSION = -32022


_HTTP_STATUS: Final[Mapping[Fault, int]] = {Fault.METHOD: 404, Fault.INTERNAL: 500}


class ProtocolFault(Exception):
    """The client gets a JSON-RPC error: what it sent is not a request that can be served."""

    def __init__(self, fault: Fault, text: str, data: object = None) -> None:
        super().__init__(text)
        self.fault = fault
        self.data = data

    def status(self, era: Era, request_id: Id | None) -> int:
        """Of HTTP. The handshake era answers whatever can be answered by id with 200."""
        if era is Era.HANDSHAKE and request_id is not None:
            return 200
        return _HTTP_STATUS.get(self.fault, 400)


class Meta(msgspec.Struct, frozen=True):
    progress_token: Id | msgspec.UnsetType = msgspec.field(default=_UNSET, name="progressToken")
    version: str | msgspec.UnsetType = msgspec.field(default=_UNSET, name="io.modelcontextprotocol/protocolVersion")
    capabilities: dict[str, msgspec.Raw] | msgspec.UnsetType = msgspec.field(
        default=_UNSET, name="io.modelcontextprotocol/clientCapabilities"
    )


class Filter(msgspec.Struct, frozen=True):
    tools_list_changed: bool = msgspec.field(default=False, name="toolsListChanged")


class Params(msgspec.Struct, frozen=True):
    """Those that the methods of the door read; others are passed over."""

    meta: Meta = msgspec.field(default=Meta(), name="_meta")
    name: str | msgspec.UnsetType = _UNSET
    arguments: msgspec.Raw | msgspec.UnsetType = _UNSET
    cursor: str | msgspec.UnsetType = _UNSET
    version: str | msgspec.UnsetType = msgspec.field(default=_UNSET, name="protocolVersion")
    notifications: Filter | msgspec.UnsetType = _UNSET
    request_id: Id | msgspec.UnsetType = msgspec.field(default=_UNSET, name="requestId")


class McpMessage(msgspec.Struct, frozen=True):
    """A request, or a notification when it has no id."""

    jsonrpc: Literal["2.0"]
    method: str
    id: Id | msgspec.UnsetType = _UNSET
    raw_params: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"{}"), name="params")


_NO_REQUEST: Final = (
    "The body must be one JSON-RPC request or notification; an id is a text of at most 256 characters or an integer of"
    " at most 64 bits"
)
_decode_message: Final = msgspec.json.Decoder(McpMessage).decode
_decode_params: Final = msgspec.json.Decoder(Params).decode


def read_message(body: bytes) -> McpMessage:
    try:
        body.decode()  # all of it, because most members are read later or never
        return _decode_message(body)
    except msgspec.ValidationError:
        raise ProtocolFault(Fault.REQUEST, _NO_REQUEST) from None
    except NOT_READ:
        raise ProtocolFault(Fault.PARSE, "Parse error") from None


def read_params(message: McpMessage) -> Params:
    try:
        return _decode_params(message.raw_params)
    except NOT_READ:
        raise ProtocolFault(Fault.PARAMS, f"The parameters are not those of {message.method[:64]}") from None


def success(request_id: Id, result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(request_id), result)


def failure(request_id: Id | None, fault: ProtocolFault) -> bytes:
    error: dict[str, object] = {"code": int(fault.fault), "message": str(fault)}
    if fault.data is not None:
        error["data"] = fault.data
    return encode({"jsonrpc": "2.0", "id": request_id, "error": error})


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    return encode({"jsonrpc": "2.0", "method": method, "params": params})


def of_era(era: Era, result: Mapping[str, Any]) -> bytes:
    """A result as that era has it: a modern one says that it is complete, and who made it."""
    if era is Era.HANDSHAKE:
        return encode(result)
    meta = {**result.get("_meta", {}), SERVER_INFO_KEY: SERVER_INFO}
    return encode({**result, "resultType": "complete", "_meta": meta})
