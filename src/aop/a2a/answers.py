"""Reads one JSON-RPC response of an Agent (contract 11.7): what is doubtful is a protocol error, which says why."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import msgspec
from msgspec import UNSET

from aop.a2a.v0_3 import ArtifactUpdate, Message, RpcError, RpcResponse, StatusUpdate, Task, TaskState
from aop.base import json
from aop.contracts.errors import ErrorCode, Reason, require_fitting
from aop.contracts.wire import Wire

Result = Message | Task | StatusUpdate | ArtifactUpdate

TASK: Final = frozenset({"task"})
MESSAGE_OR_TASK: Final = frozenset({"message", "task"})
STREAM_KINDS: Final = frozenset({"message", "task", "status-update", "artifact-update"})
_REASON_OF_RPC_CODE = {-32601: Reason.RPC_METHOD_NOT_FOUND, -32009: Reason.RPC_VERSION_NOT_SUPPORTED}


class AgentFault(Exception):
    """The Agent, or the way to it, did not give a usable answer; the Invocation ends `failed` with its code and reason.

    `leaves_task` says whether a Task the Router knows of may still be running and should be stopped. The text
    is for the author of the Agent alone, because it may repeat what the Agent wrote.
    """

    rpc_code: int | None = None
    """Of the JSON-RPC error with which the Agent answered."""

    def __init__(
        self, code: ErrorCode, reason: Reason | None = None, *, leaves_task: bool = True, problem: str = ""
    ) -> None:
        super().__init__(problem or code)
        require_fitting(code, reason)
        self.code = code
        self.reason = reason
        self.leaves_task = leaves_task


def protocol_error(reason: Reason, problem: str = "") -> AgentFault:
    return AgentFault(ErrorCode.A2A_PROTOCOL_ERROR, reason, problem=problem)


def is_media_type(values: Sequence[bytes], expected: bytes) -> bool:
    return len(values) == 1 and values[0].partition(b";")[0].strip().lower() == expected


def require_media_type(values: Sequence[bytes], expected: bytes) -> None:
    if not is_media_type(values, expected):
        raise protocol_error(Reason.MEDIA_TYPE, f"the media type is not {expected.decode()}")


def require_plain(encodings: Sequence[bytes]) -> None:
    """An encoded answer is not decoded."""
    if any(encoding.strip().lower() != b"identity" for encoding in encodings):
        raise protocol_error(Reason.MEDIA_TYPE, "the answer has a Content-Encoding")


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


_DECODE: Mapping[str, Callable[[bytes], Result]] = {
    "message": msgspec.json.Decoder(Message).decode,
    "task": msgspec.json.Decoder(Task).decode,
    "status-update": msgspec.json.Decoder(StatusUpdate).decode,
    "artifact-update": msgspec.json.Decoder(ArtifactUpdate).decode,
}
_envelope = msgspec.json.Decoder(RpcResponse).decode
_message = msgspec.json.Decoder(Message).decode
_message_response = msgspec.json.Decoder(_MessageResponse).decode
_kind = msgspec.json.Decoder(_Kind).decode
_any_task = msgspec.json.Decoder(_AnyTask).decode


def read_result(body: bytes, request_id: str, allowed: frozenset[str]) -> Result:
    """The result of one of the allowed kinds; a JSON-RPC error ends the Invocation as the Agent's own failure.

    No kind is allowed where only an error may stand in JSON: a result there has the wrong media type.
    """
    parsed = parse_strict(body)
    result = parsed.get("result") if isinstance(parsed, dict) else None
    kind = result.get("kind") if isinstance(result, dict) else None
    if kind == "message" and "message" in allowed:
        message = _whole_message(body, request_id)
        if message is not None:
            return message
    return read_strict_result(body, request_id, allowed, kind)


def parse_strict(body: bytes) -> object:
    try:
        return json.parse(body, json.AGENT_DEPTH)
    except json.JsonRefused as refused:
        raise protocol_error(Reason.NOT_JSON, f"not strict JSON: {refused.rule}") from None


def _whole_message(body: bytes, request_id: str) -> Message | None:
    """None leaves it to the reading in steps, which says what is wrong."""
    try:
        response = _message_response(body)
    except msgspec.DecodeError:
        return None
    return response.result if response.id == request_id and _is_whole(response.result) else None


def read_strict_result(body: bytes, request_id: str, allowed: frozenset[str], kind: object = None) -> Result:
    """Likewise, for a text that is known to be strict JSON; the kind of its result where that is known too."""
    raw = read_response(body, request_id)
    if not allowed:
        raise protocol_error(Reason.MEDIA_TYPE, "a result where only an error may be")
    return read_kind(raw, allowed, kind)


def read_response(body: bytes, request_id: str) -> bytes:
    """The result in a JSON-RPC response, which is strict JSON."""
    try:
        envelope = _envelope(body)
    except msgspec.DecodeError as problem:
        raise protocol_error(Reason.RPC_ENVELOPE, f"not a JSON-RPC response: {problem}") from None
    result, error = envelope.result, envelope.error
    if envelope.id != request_id:
        raise protocol_error(Reason.RPC_ENVELOPE, "the id of the response is not that of the request")
    if (result is UNSET) == (error is UNSET):
        raise protocol_error(Reason.RPC_ENVELOPE, "a response has exactly one of result and error")
    if isinstance(error, RpcError):
        reason = _REASON_OF_RPC_CODE.get(error.code, Reason.RPC_ERROR)
        text = f"answered with JSON-RPC error {error.code}"
        fault = AgentFault(ErrorCode.AGENT_EXECUTION_FAILED, reason, leaves_task=False, problem=text)
        fault.rpc_code = error.code
        raise fault
    return b"" if result is UNSET else bytes(result)


def read_kind(raw: bytes, allowed: frozenset[str], kind: object = None) -> Result:
    """A result of one of the allowed kinds. That no id is empty and a Message has parts the structs cannot say."""
    try:
        kind = _kind(raw).kind if kind is None else kind
        if not isinstance(kind, str) or kind not in allowed:
            reason = Reason.MESSAGE_SHAPE if "message" in allowed else Reason.TASK_SHAPE
            if kind == "artifact-update" and "message" in allowed:
                reason = Reason.ARTIFACT_REPLACED  # as the front says it, which could not make an answer of the stream
            raise protocol_error(reason, f"the kind of the result is not one of {', '.join(sorted(allowed))}")
        result = _DECODE[kind](raw)
    except msgspec.DecodeError as problem:
        reason = _broken_rule(raw, kind, allowed)
        raise protocol_error(reason, f"not an A2A object of the profile: {problem}") from None
    if isinstance(result, Message):
        whole = _is_whole(result)
    elif isinstance(result, ArtifactUpdate):
        whole = bool(result.task_id and result.context_id and result.artifact.artifact_id)
    else:
        task_id, artifacts = (result.id, result.artifacts) if isinstance(result, Task) else (result.task_id, UNSET)
        whole = bool(task_id and result.context_id)
        whole = whole and (artifacts is UNSET or all(artifact.artifact_id for artifact in artifacts))
    if not whole:
        reason = Reason.MESSAGE_SHAPE if kind == "message" else Reason.TASK_SHAPE
        raise protocol_error(reason, f"a {kind} with an empty id, or without parts")
    return result


def read_status_message(raw: bytes) -> Message:
    """The message of a status whose parts become a value; no other one is read."""
    try:
        message = _message(raw)
    except msgspec.DecodeError as problem:
        raise protocol_error(Reason.MESSAGE_SHAPE, f"the message of a status is none: {problem}") from None
    if not _is_whole(message):
        raise protocol_error(Reason.MESSAGE_SHAPE, "the message of a status has an empty id, or no parts")
    return message


def _broken_rule(raw: bytes, kind: object, allowed: frozenset[str]) -> Reason:
    """Why a result could not be read. An unknown state has another reason than a wrong shape."""
    if kind == "message" or (kind is None and "message" in allowed):
        return Reason.MESSAGE_SHAPE
    try:
        known = _any_task(raw).status.state in set(TaskState)
    except msgspec.DecodeError:
        known = True
    return Reason.TASK_SHAPE if known else Reason.TASK_STATE_UNKNOWN


def _is_whole(message: Message) -> bool:
    return bool(message.message_id and message.parts) and "" not in {message.task_id, message.context_id}
