"""Reads one JSON-RPC response of an Agent by the rules of contract 11.7; everything doubtful is a protocol error."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

import msgspec

from aop.base import json
from aop.contracts.a2a import ArtifactUpdate, Message, RpcError, RpcResponse, StatusUpdate, Task, TaskState
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.wire import Wire
from aop.router.a2a.outcome import AgentFault

Result = Message | Task | StatusUpdate | ArtifactUpdate
T = TypeVar("T", Message, Task, StatusUpdate, ArtifactUpdate)

_DECODE: Mapping[str, Callable[[bytes], Result]] = {
    "message": msgspec.json.Decoder(Message).decode,
    "task": msgspec.json.Decoder(Task).decode,
    "status-update": msgspec.json.Decoder(StatusUpdate).decode,
    "artifact-update": msgspec.json.Decoder(ArtifactUpdate).decode,
}
_REASON_OF_RPC_CODE = {-32601: Reason.RPC_METHOD_NOT_FOUND, -32009: Reason.RPC_VERSION_NOT_SUPPORTED}
_envelope = msgspec.json.Decoder(RpcResponse).decode
_message = msgspec.json.Decoder(Message).decode


class _MessageResponse(Wire, frozen=True, kw_only=True):
    """The answer that most Agents give, in one reading."""

    jsonrpc: Literal["2.0"]
    id: str
    result: Message


class _Kind(msgspec.Struct):
    kind: str


class _AnyStatus(msgspec.Struct):
    state: str


class _AnyTask(msgspec.Struct):
    status: _AnyStatus


_message_response = msgspec.json.Decoder(_MessageResponse).decode
_kind = msgspec.json.Decoder(_Kind).decode
_any_task = msgspec.json.Decoder(_AnyTask).decode


def protocol_error(reason: Reason) -> AgentFault:
    return AgentFault(ErrorCode.A2A_PROTOCOL_ERROR, reason)


def read_result(body: bytes, request_id: str, allowed: frozenset[str]) -> Result:
    """The result of one of the allowed kinds; a JSON-RPC error ends the Invocation as the Agent's own failure.

    No kind is allowed where only an error may stand in JSON: a result there has the wrong media type.
    """
    try:
        parsed = json.parse(body, json.AGENT_DEPTH)
    except json.JsonRefused:
        raise protocol_error(Reason.NOT_JSON) from None
    result = parsed.get("result") if isinstance(parsed, dict) else None
    kind = result.get("kind") if isinstance(result, dict) else None
    if kind == "message" and "message" in allowed:
        message = _whole_message(body, request_id)
        if message is not None:
            return message
    return read_strict_result(body, request_id, allowed, kind)


def _whole_message(body: bytes, request_id: str) -> Message | None:
    """None leaves it to the reading in steps, which says what is wrong."""
    try:
        response = _message_response(body)
    except msgspec.DecodeError:
        return None
    return response.result if response.id == request_id and _is_whole(response.result) else None


def read_strict_result(body: bytes, request_id: str, allowed: frozenset[str], kind: object = None) -> Result:
    """Likewise, for a text that is known to be strict JSON; the kind of its result where that is known too."""
    try:
        envelope = _envelope(body)
    except msgspec.DecodeError:
        raise protocol_error(Reason.RPC_ENVELOPE) from None
    if envelope.id != request_id or (envelope.result is msgspec.UNSET) == (envelope.error is msgspec.UNSET):
        raise protocol_error(Reason.RPC_ENVELOPE)
    if isinstance(envelope.error, RpcError):
        reason = _REASON_OF_RPC_CODE.get(envelope.error.code, Reason.RPC_ERROR)
        raise AgentFault(ErrorCode.AGENT_EXECUTION_FAILED, reason, leaves_task=False)
    if not allowed or not isinstance(envelope.result, msgspec.Raw):
        raise protocol_error(Reason.MEDIA_TYPE)
    return _typed(bytes(envelope.result), allowed, kind)


def read_status_message(raw: bytes) -> Message:
    """The message of a status whose parts become a value; nobody looks at any other."""
    try:
        message = _message(raw)
    except msgspec.DecodeError:
        raise protocol_error(Reason.MESSAGE_SHAPE) from None
    if not _is_whole(message):
        raise protocol_error(Reason.MESSAGE_SHAPE)
    return message


def _typed(raw: bytes, allowed: frozenset[str], kind: object) -> Result:
    try:
        kind = _kind(raw).kind if kind is None else kind
        if not isinstance(kind, str) or kind not in allowed:
            raise protocol_error(Reason.MESSAGE_SHAPE if "message" in allowed else Reason.TASK_SHAPE)
        result = _DECODE[kind](raw)
    except msgspec.DecodeError:
        raise protocol_error(_broken_rule(raw, kind, allowed)) from None
    _require_whole(result)
    return result


def _broken_rule(raw: bytes, kind: object, allowed: frozenset[str]) -> Reason:
    """Why a result could not be read. A state that nobody knows is told apart from a wrong shape."""
    if kind == "message" or (kind is None and "message" in allowed):
        return Reason.MESSAGE_SHAPE
    try:
        known = _any_task(raw).status.state in set(TaskState)
    except msgspec.DecodeError:
        known = True
    return Reason.TASK_SHAPE if known else Reason.TASK_STATE_UNKNOWN


def _require_whole(result: Result) -> None:
    """What the structs cannot say: no id is empty and a Message has parts."""
    if isinstance(result, Message):
        if not _is_whole(result):
            raise protocol_error(Reason.MESSAGE_SHAPE)
        return
    if isinstance(result, ArtifactUpdate):
        whole = bool(result.task_id and result.context_id and result.artifact.artifact_id)
    else:
        task_id, artifacts = (result.id, result.artifacts) if isinstance(result, Task) else (result.task_id, ())
        whole = bool(task_id and result.context_id)
        whole = whole and (artifacts is msgspec.UNSET or all(artifact.artifact_id for artifact in artifacts))
    if not whole:
        raise protocol_error(Reason.TASK_SHAPE)


def _is_whole(message: Message) -> bool:
    return bool(message.message_id and message.parts) and "" not in {message.task_id, message.context_id}
