"""Reads one JSON-RPC response of an Agent by the rules of contract 11.7; everything doubtful is a protocol error."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from aop.base import json
from aop.contracts.a2a import ArtifactUpdate, Message, RpcResponse, StatusUpdate, Task
from aop.contracts.errors import ErrorCode
from aop.router.a2a.outcome import AgentFault

Result = Message | Task | StatusUpdate | ArtifactUpdate
T = TypeVar("T", Message, Task, StatusUpdate, ArtifactUpdate)

_DECODE: Mapping[str, Callable[[bytes], Result]] = {
    "message": msgspec.json.Decoder(Message).decode,
    "task": msgspec.json.Decoder(Task).decode,
    "status-update": msgspec.json.Decoder(StatusUpdate).decode,
    "artifact-update": msgspec.json.Decoder(ArtifactUpdate).decode,
}
_envelope = msgspec.json.Decoder(RpcResponse).decode


class _Kind(msgspec.Struct):
    kind: str


_kind = msgspec.json.Decoder(_Kind).decode


def protocol_error() -> AgentFault:
    return AgentFault(ErrorCode.A2A_PROTOCOL_ERROR)


def read_result(body: bytes, request_id: str, allowed: frozenset[str]) -> Result:
    """The result of one of the allowed kinds; a JSON-RPC error ends the Invocation as the Agent's own failure."""
    try:
        parsed = json.parse(body, json.AGENT_DEPTH)
    except json.JsonRefused:
        raise protocol_error() from None
    result = parsed.get("result") if isinstance(parsed, dict) else None
    kind = result.get("kind") if isinstance(result, dict) else None
    return read_strict_result(body, request_id, allowed, kind)


def read_strict_result(body: bytes, request_id: str, allowed: frozenset[str], kind: object = None) -> Result:
    """Likewise, for a text that is known to be strict JSON; the kind of its result where that is known too."""
    try:
        envelope = _envelope(body)
    except msgspec.DecodeError:
        raise protocol_error() from None
    if envelope.id != request_id or (envelope.result is msgspec.UNSET) == (envelope.error is msgspec.UNSET):
        raise protocol_error()
    if not isinstance(envelope.result, msgspec.Raw):
        raise AgentFault(ErrorCode.AGENT_EXECUTION_FAILED, leaves_task=False)
    return _typed(bytes(envelope.result), allowed, kind)


def _typed(raw: bytes, allowed: frozenset[str], kind: object) -> Result:
    try:
        kind = _kind(raw).kind if kind is None else kind
        if not isinstance(kind, str) or kind not in allowed:
            raise protocol_error()
        result = _DECODE[kind](raw)
    except msgspec.DecodeError:
        raise protocol_error() from None
    _require_whole(result)
    return result


def _require_whole(result: Result) -> None:
    """What the structs cannot say: no id is empty and a Message has parts."""
    if isinstance(result, Message):
        whole = _is_whole(result)
    elif isinstance(result, ArtifactUpdate):
        whole = bool(result.task_id and result.context_id and result.artifact.artifact_id)
    else:
        task_id, artifacts = (result.id, result.artifacts) if isinstance(result, Task) else (result.task_id, ())
        said = result.status.message
        whole = bool(task_id and result.context_id) and (said is msgspec.UNSET or _is_whole(said))
        whole = whole and (artifacts is msgspec.UNSET or all(artifact.artifact_id for artifact in artifacts))
    if not whole:
        raise protocol_error()


def _is_whole(message: Message) -> bool:
    return bool(message.message_id and message.parts) and "" not in {message.task_id, message.context_id}
