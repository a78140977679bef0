"""A2A as the Agent behind the front speaks it: requests are written in its version, responses become those of A2A 0.3.

Of a response as much is known as it takes to follow a Task; the Router judges the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, NamedTuple, Self, TypeVar

import msgspec

from aop.a2a.rpc import MODES, DataPart, FilePart, RequestId, TextPart, rpc_request
from aop.a2a.v0_3 import AgentResult
from aop.base import json as strict_json

T = TypeVar("T")


class Question(msgspec.Struct, gc=False):
    """A message on its way to the Agent, in A2A 0.3."""

    message_id: str
    parts: Sequence[DataPart | TextPart | FilePart]
    skill_id: str
    context_id: str | None = None

    def __repr__(self) -> str:
        return "Question()"


class AgentResponse(msgspec.Struct, gc=False):
    """One response. `text` is what the Router gets of it; `result` is None for an error and for what is unreadable."""

    text: bytes
    result: AgentResult | None = None
    refuses: bool = False
    """Whether it is a JSON-RPC error: then there is no Task to cancel."""
    is_last: bool = True
    """Whether the result ends the Task, or nothing after it can be read."""
    is_foreign: bool = False
    """Whether it is about another Task than that of its call."""

    @classmethod
    def of(cls, text: bytes, result: AgentResult) -> Self:
        return cls(text, result, is_last=result.ends)


class RpcAnswer(msgspec.Struct, Generic[T], frozen=True, gc=False):
    id: str | int | float | None
    result: T | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class MethodNames(NamedTuple):
    send: str
    stream: str
    get_task: str
    cancel_task: str


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder().decode
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_read: Final = msgspec.json.Decoder(RpcAnswer[AgentResult]).decode
_TO_ANOTHER: Final = b'{"jsonrpc":"2.0","id":null}'


def with_id_of_caller(text: bytes, own_id: str, request_id: RequestId) -> bytes:
    """A response to the front's own request as the response to its caller's. Of a response to another request nothing
    is passed on. What is no response stays as it is, so that the Router says what is wrong with it."""
    own = b'"%b"' % own_id.encode("ascii")
    if text.count(own) == 1:
        return text.replace(own, _encode(request_id))
    try:
        members = _members(text)
        if _decode(members["id"]) != own_id:
            return _TO_ANOTHER
        strict_json.parse(text, strict_json.AGENT_DEPTH)  # a repeated member would be lost
    except (*strict_json.NOT_READ, strict_json.JsonRefused, KeyError):
        return text
    return _encode(members | {"id": request_id})


class Dialect:
    """A2A 0.3: every response is passed on as it is, and read only to know the Task. A subclass is another version."""

    headers: ClassVar[Sequence[tuple[bytes, bytes]]] = ()
    _methods = MethodNames("message/send", "message/stream", "tasks/get", "tasks/cancel")
    _at_once: ClassVar[Mapping[str, Any]] = {"blocking": False}
    """The Task is named at once, so that it can be canceled; the front waits for its end."""

    def __init__(self, shared: Mapping[str, Any] = MappingProxyType({})) -> None:
        """`shared`: the parameters of every method."""
        self._shared = shared

    def send(self, request_id: RequestId, question: Question, *, streamed: bool) -> bytes:
        message: dict[str, Any] = {"messageId": question.message_id, "metadata": {"skillId": question.skill_id}}
        if question.context_id is not None:
            message["contextId"] = question.context_id
        configuration = {"acceptedOutputModes": MODES, **({} if streamed else self._at_once)}
        params = {"message": message | self._content(question), "configuration": configuration, **self._shared}
        return rpc_request(request_id, self._methods.stream if streamed else self._methods.send, params)

    def get_task(self, request_id: RequestId, task_id: str) -> bytes:
        return rpc_request(request_id, self._methods.get_task, {"id": task_id, "historyLength": 1, **self._shared})

    def cancel_task(self, request_id: RequestId, task_id: str) -> bytes:
        return rpc_request(request_id, self._methods.cancel_task, {"id": task_id, **self._shared})

    def read(self, text: bytes, request_id: RequestId) -> AgentResponse:
        """A response to a message method."""
        try:
            return self._response(text, request_id, _read(text), lambda result: AgentResponse.of(text, result))
        except (*strict_json.NOT_READ, strict_json.JsonRefused):
            return AgentResponse(text)

    def read_task(self, text: bytes, request_id: RequestId) -> AgentResponse:
        """A response to a question about a Task."""
        return self.read(text, request_id)

    def _response(
        self, text: bytes, request_id: RequestId, response: RpcAnswer[T], passed_on: Callable[[T], AgentResponse]
    ) -> AgentResponse:
        """`passed_on` is asked of a result that answers the request. JsonRefused when that is no strict JSON."""
        if response.id != request_id:
            return AgentResponse(text)
        if response.result is msgspec.UNSET:
            return AgentResponse(text, refuses=response.error is not msgspec.UNSET)
        strict_json.parse(text, strict_json.AGENT_DEPTH)  # a repeated member would be lost in what is written anew
        return passed_on(response.result)

    def _content(self, question: Question) -> dict[str, Any]:
        return {"kind": "message", "role": "user", "parts": question.parts}
