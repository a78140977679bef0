"""JSON-RPC 2.0 and the parameters of A2A 0.3: requests are read strictly, and every refusal is a type with its code."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

import msgspec

from aop.base import json as strict_json

RequestId = str | int | None
T = TypeVar("T")
MODES: Final = ("application/json", "text/plain")
"""The media types of what goes in and what comes out."""
_ANY_MODE: Final = "*/*"
_EXCERPT_END: Final = 128
"""Characters of each end of a long problem."""


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


class PartNotSupported(RpcFault):
    code, text = -32005, "Incompatible content types: a message has text parts, or one data part"


class ExtendedCardMissing(RpcFault):
    code, text = -32007, "The Agent has no extended card"


REFUSED: Final[Mapping[str, type[RpcFault]]] = {
    "tasks/pushNotificationConfig/set": PushNotSupported,
    "tasks/pushNotificationConfig/get": PushNotSupported,
    "tasks/pushNotificationConfig/list": PushNotSupported,
    "tasks/pushNotificationConfig/delete": PushNotSupported,
    "agent/getAuthenticatedExtendedCard": ExtendedCardMissing,
}
"""The methods of A2A 0.3 that neither Agents nor the door offer."""


class RpcRequest(msgspec.Struct, frozen=True):
    jsonrpc: Literal["2.0"]
    method: str
    id: RequestId = None
    params: msgspec.Raw = msgspec.Raw(b"{}")


_decode_request = msgspec.json.Decoder(RpcRequest).decode


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
        if self.accepted_output_modes and not {*MODES, _ANY_MODE} & set(self.accepted_output_modes):
            raise OutputModeNotSupported


class MessageParams(msgspec.Struct, frozen=True):
    message: msgspec.Raw
    """As it was sent, because the history of the Task repeats it."""
    configuration: MessageConfiguration | None = None


class TaskParams(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    history_length: HistoryLength = None


def read_request(body: bytes) -> RpcRequest:
    """Strictly, so that a later reader of the parameters reads the same."""
    try:
        strict_json.parse(body, strict_json.AGENT_DEPTH)
    except strict_json.JsonRefused:
        raise NotJson from None
    return read_envelope(body)


def read_envelope(body: bytes) -> RpcRequest:
    """By its types alone. For a reader that passes values on to somebody who reads them strictly."""
    try:
        body.decode()  # all of it, because most members are read later or never
        return _decode_request(body)
    except msgspec.ValidationError as problem:
        raise _malformed(body, problem) from None
    except strict_json.NOT_READ:
        raise NotJson from None


def _malformed(body: bytes, problem: msgspec.ValidationError) -> MalformedRequest:
    """With the id of the request where it has one, so that the caller finds its request again."""
    try:
        value = msgspec.json.decode(body)
    except strict_json.NOT_READ:
        return MalformedRequest()
    if isinstance(value, list):
        return MalformedRequest("Batches are not supported")
    if not isinstance(value, dict):
        return MalformedRequest()
    request_id = value.get("id")
    if not isinstance(request_id, str | int | None) or isinstance(request_id, bool):
        return MalformedRequest("The id must be a string, an integer or null")
    return MalformedRequest(_excerpt(problem), request_id=request_id)


def read_params(params: msgspec.Raw, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(params, type=kind)
    except strict_json.NOT_READ as problem:
        raise InvalidParams(_excerpt(problem)) from None


def _excerpt(problem: Exception) -> str:
    """It may repeat a value of any length, and then says where that stands."""
    text = str(problem)
    return text if len(text) <= 2 * _EXCERPT_END else f"{text[:_EXCERPT_END]}…{text[-_EXCERPT_END:]}"


def rpc_request(request_id: RequestId, method: str, params: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def success(request_id: RequestId | float, result: bytes) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "result": msgspec.Raw(result)})


def failure(request_id: RequestId, fault: RpcFault, data: Any = msgspec.UNSET) -> bytes:
    problem = {"code": fault.code, "message": str(fault)} | ({} if data is msgspec.UNSET else {"data": data})
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "error": problem})
