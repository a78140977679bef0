"""The protocols of the door as their benchmark speaks them: where a call goes, how it is written, what it may cost."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aop.door.mcp.names import tool_names
from aop.net.http import Headers
from benchmarks._stream_platform import AGENT, CAPABILITY

Body = Mapping[str, Any]


@dataclass(frozen=True)
class DoorProtocol:
    name: str
    path: str
    headers: Headers
    body: Callable[[object, bool], Body]
    """Made of the input, and whether the answer is to be a stream."""
    limit_micros: float


def _old(content: object, stream: bool) -> Body:
    part = {"kind": "data", "data": content}
    message = {"kind": "message", "messageId": "m-1", "role": "user", "parts": [part]}
    return _rpc("message/stream" if stream else "message/send", message)


def _new(content: object, stream: bool) -> Body:
    message = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"data": content}]}
    return _rpc("SendStreamingMessage" if stream else "SendMessage", message)


def _rpc(method: str, message: Body) -> Body:
    params = {"message": {**message, "metadata": {"skillId": CAPABILITY}}}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _tool_call(content: object, stream: bool) -> Body:
    """A call that asks for progress is a stream."""
    params = {"name": _TOOL, "arguments": content, **({"_meta": {"progressToken": 1}} if stream else {})}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


_TOOL = tool_names([(AGENT, CAPABILITY)])[AGENT, CAPABILITY]
_A2A = "/a2a/{workspace}/{agent}"
_BOTH = ((b"accept", b"application/json, text/event-stream"), (b"mcp-protocol-version", b"2025-11-25"))
PROTOCOLS = (
    DoorProtocol("A2A 0.3", _A2A, (), _old, 400.0),
    DoorProtocol("A2A 1.0", _A2A, ((b"a2a-version", b"1.0"),), _new, 400.0),
    DoorProtocol("MCP", "/mcp/{workspace}", _BOTH, _tool_call, 600.0),
)
