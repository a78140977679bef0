"""What a call of a tool comes to: a result with structured content, or an error that says what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from aop.contracts.errors import ErrorCode
from aop.contracts.invocation import InvocationResult
from aop.door.faults import GatewayFault
from aop.door.mcp.messages import SERVER_INFO, SERVER_INFO_KEY, Era, encode, of_era
from aop.door.mcp.schemas import CHUNKS, RESULT

TRACE_ID: Final = "aop/traceId"
INVOCATION_ID: Final = "aop/invocationId"
ERROR: Final = "aop/error"

REFUSED: Final = frozenset({ErrorCode.UNAUTHENTICATED, ErrorCode.FORBIDDEN, ErrorCode.NOT_FOUND})
"""Said before acceptance, these say that the caller may not use the Workspace, or that there is none."""

_MEMBERS: Final = {Era.HANDSHAKE: b"", Era.MODERN: b',"resultType":"complete"'}
_META: Final = {Era.HANDSHAKE: b"", Era.MODERN: b',"%b":%b' % (SERVER_INFO_KEY.encode(), encode(SERVER_INFO))}
_LF, _CR = 0x0A, 0x0D
_QUOTE: Final = b'"'


@dataclass(frozen=True, slots=True)
class ToolResult:
    structured: bytes
    """`{result}` or `{chunks}` as JSON text of one line."""
    trace_id: str
    invocation_id: str
    words: bytes | None = None
    """What the chunks of a stream say together, as a JSON text, when all of them are texts."""

    def text(self, era: Era) -> bytes:
        content = encode(self.structured.decode()) if self.words is None else self.words
        return (
            b'{"content":[{"type":"text","text":%b}],"structuredContent":%b,"isError":false%b,'
            b'"_meta":{"%b":"%b","%b":"%b"%b}}'
        ) % (
            content,
            self.structured,
            _MEMBERS[era],
            INVOCATION_ID.encode(),
            self.invocation_id.encode(),
            TRACE_ID.encode(),
            self.trace_id.encode(),
            _META[era],
        )


@dataclass(frozen=True, slots=True)
class ToolProblem:
    """`said` is for the model and its user, `meta` for programs."""

    said: str
    meta: dict[str, Any] = field(default_factory=dict)

    def text(self, era: Era) -> bytes:
        content = [{"type": "text", "text": self.said}]
        return of_era(era, {"content": content, "isError": True, "_meta": self.meta})


ToolEnd = ToolResult | ToolProblem


def result_of(result: InvocationResult) -> ToolResult:
    value = bytes(result.result)
    if _LF in value or _CR in value:  # between tokens only: inside a text of JSON they are escaped
        value = value.replace(b"\n", b" ").replace(b"\r", b" ")
    return ToolResult(b'{"%b":%b}' % (RESULT.encode(), value), result.trace_id, result.invocation_id)


def result_of_chunks(chunks: Sequence[bytes], trace_id: str, invocation_id: str) -> ToolResult:
    """One chunk is the whole result; of none or several each keeps its place."""
    structured = (
        b'{"%b":%b}' % (RESULT.encode(), chunks[0])
        if len(chunks) == 1
        else b'{"%b":[%b]}' % (CHUNKS.encode(), b",".join(chunks))
    )
    is_text = chunks and all(chunk.startswith(_QUOTE) for chunk in chunks)
    words = b'"%b"' % b"".join(chunk[1:-1] for chunk in chunks) if is_text else None
    return ToolResult(structured, trace_id, invocation_id, words)


def problem_of(fault: GatewayFault, trace_id: str | None = None) -> ToolProblem:
    """Code, reason, what was wrong where, next step and Trace. `trace_id` is that of the request at the door."""
    reason = "" if fault.reason is None else f" ({fault.reason})"
    lines = [f"{fault.code}{reason}: {fault.message}", fault.recovery.sentence or ""]
    lines += [f"- {one.pointer or 'body'}: {one.rule}" for one in fault.violations]
    lines.append(f"Next step, for the {fault.recovery.owner.replace('_', ' ')}: {fault.recovery.action}")
    trace = fault.trace_id or trace_id
    error: dict[str, Any] = {"code": fault.code, "message": fault.message, "nextStep": fault.recovery.action}
    if fault.reason is not None:
        error["reason"] = fault.reason
    if fault.violations:
        error["violations"] = [msgspec.to_builtins(one) for one in fault.violations]
    meta: dict[str, Any] = {ERROR: error}
    for name, label, value in ((TRACE_ID, "Trace", trace), (INVOCATION_ID, "Invocation", fault.invocation_id)):
        if value:
            lines.append(f"{label}: {value}")
            meta[name] = value
    return ToolProblem("\n".join(line for line in lines if line), meta)
