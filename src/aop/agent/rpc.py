"""JSON-RPC 2.0 and the parameters of A2A 0.3: requests are read strictly, and every refusal is a type with its code."""

from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

import msgspec

from aop.agent.card import INPUT_MODES
from aop.base import json as strict_json

RequestId = str | int | None
T = TypeVar("T")
_ANY_MODE: Final = "*/*"


class RpcFault(Exception):
    """A call that is refused. The text goes to the caller; `status` is that of the HTTP answer."""

    code: ClassVar[int]
    text: ClassVar[str]
    status: ClassVar[int] = 200

    def __init__(self, detail: str | None = None, *, request_id: RequestId = None) -> None:
        super().__init__(detail or self.text)
        self.request_id = request_id


class NotJson(RpcFault):
    code, text = -32700, "The body is not strict JSON"


class MalformedRequest(RpcFault):
    code, text = -32600, "The body is not a JSON-RPC 2.0 request"


class UnsupportedMediaType(RpcFault):
    code, text, status = -32600, "The body must be application/json", 415


class MethodNotFound(RpcFault):
    code, text = -32601, "Method not found"


class InvalidParams(RpcFault):
    code, text = -32602, "The parameters are not right"


class TooManyTasks(RpcFault):
    code, text, status = -32603, "The Agent works on as many Tasks as it can", 503


class TaskNotFound(RpcFault):
    code, text = -32001, "Task not found"


class TaskNotCancelable(RpcFault):
    code, text = -32002, "Task cannot be canceled"


class PushNotSupported(RpcFault):
    code, text = -32003, "Push notifications are not supported"


class StreamingNotSupported(RpcFault):
    code, text = -32004, "The Agent does not stream"


class OutputModeNotSupported(RpcFault):
    code, text = -32005, "The Agent answers with application/json or text/plain"


class ExtendedCardMissing(RpcFault):
    code, text = -32007, "The Agent has no extended card"


class RpcRequest(msgspec.Struct, frozen=True):
    jsonrpc: Literal["2.0"]
    method: str
    id: RequestId = None
    params: msgspec.Raw = msgspec.Raw(b"{}")


class ReceivedPart(msgspec.Struct, frozen=True, tag_field="kind"):
    """A part of a message, of one of the kinds that A2A has."""


class DataPart(ReceivedPart, frozen=True, tag="data"):
    data: msgspec.Raw


class TextPart(ReceivedPart, frozen=True, tag="text"):
    text: str


class FilePart(ReceivedPart, frozen=True, tag="file"):
    file: dict[str, Any]


class UserMessage(msgspec.Struct, frozen=True, rename="camel"):
    kind: Literal["message"]
    message_id: Annotated[str, msgspec.Meta(min_length=1)]
    role: Literal["user"]
    parts: Annotated[tuple[DataPart | TextPart | FilePart, ...], msgspec.Meta(min_length=1)]
    task_id: str | None = None
    context_id: Annotated[str, msgspec.Meta(min_length=1, max_length=256)] | None = None

    def input(self, *, takes_text: bool) -> bytes | None:
        """The input of the Skill as JSON: the first data part, or the first text part for a Skill that takes a text."""
        for part in self.parts:
            if isinstance(part, DataPart):
                return bytes(part.data)
            if takes_text and isinstance(part, TextPart):
                return msgspec.json.encode(part.text)
        return None


HistoryLength = Annotated[int, msgspec.Meta(ge=0)] | None


class MessageConfiguration(msgspec.Struct, frozen=True, rename="camel"):
    blocking: bool = False
    history_length: HistoryLength = None
    accepted_output_modes: tuple[str, ...] | None = None
    push_notification_config: dict[str, Any] | None = None

    def require_supported(self) -> None:
        if self.push_notification_config is not None:
            raise PushNotSupported
        if self.accepted_output_modes and not {*INPUT_MODES, _ANY_MODE} & set(self.accepted_output_modes):
            raise OutputModeNotSupported


class MessageParams(msgspec.Struct, frozen=True):
    message: msgspec.Raw
    """As it was sent, because the history of the Task repeats it."""
    configuration: MessageConfiguration | None = None


class TaskParams(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    history_length: HistoryLength = None


def read_request(body: bytes) -> RpcRequest:
    try:
        value = strict_json.parse(body, strict_json.AGENT_DEPTH)
    except strict_json.JsonRefused:
        raise NotJson from None
    if isinstance(value, list):
        raise MalformedRequest("Batches are not supported")
    if not isinstance(value, dict):
        raise MalformedRequest
    request_id = value.get("id")
    if not isinstance(request_id, str | int | None) or isinstance(request_id, bool):
        raise MalformedRequest("The id must be a string, an integer or null")
    try:
        return msgspec.json.decode(body, type=RpcRequest)
    except msgspec.DecodeError as problem:
        raise MalformedRequest(str(problem), request_id=request_id) from None


def read_params(params: msgspec.Raw, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(params, type=kind)
    except msgspec.DecodeError as problem:
        raise InvalidParams(str(problem)) from None


def success(request_id: RequestId, result: bytes) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "result": msgspec.Raw(result)})


def failure(request_id: RequestId, fault: RpcFault) -> bytes:
    problem = {"code": fault.code, "message": str(fault)}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "error": problem})
