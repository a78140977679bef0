"""A2A as the Agent behind the front speaks it: how requests are written and responses are read, for each version."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from aop.a2a.rpc import MODES, DataPart, FilePart, RequestId, TextPart
from aop.base import json as strict_json
from aop.front.reading import Seen, SeenResult
from aop.net.http import Headers


class Question(msgspec.Struct, gc=False):
    """A message on its way to the Agent, in A2A 0.3."""

    message_id: str
    parts: Sequence[DataPart | TextPart | FilePart]
    skill_id: str
    context_id: str | None = None

    def __repr__(self) -> str:
        return "Question()"


class Dialect(Protocol):
    """`read` takes a response to a message method, `read_task` one to a question about a Task."""

    headers: Headers

    def send(self, request_id: RequestId, question: Question, *, streamed: bool) -> bytes: ...

    def get_task(self, request_id: RequestId, task_id: str) -> bytes: ...

    def cancel_task(self, request_id: RequestId, task_id: str) -> bytes: ...

    def read(self, text: bytes, request_id: RequestId) -> Seen: ...

    def read_task(self, text: bytes, request_id: RequestId) -> Seen: ...


def rpc(request_id: RequestId, method: str, params: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder().decode
_TO_ANOTHER: Final = b'{"jsonrpc":"2.0","id":null}'
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


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
    except (msgspec.DecodeError, strict_json.JsonRefused, UnicodeError, RecursionError, KeyError):
        return text
    return _encode(members | {"id": request_id})


class _Response(msgspec.Struct, frozen=True, gc=False):
    id: str | int | float | None
    result: SeenResult | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_read = msgspec.json.Decoder(_Response).decode


class SameDialect:
    """A2A 0.3: every response is passed on as it is, and read only to know the Task."""

    headers: Headers = ()

    def send(self, request_id: RequestId, question: Question, *, streamed: bool) -> bytes:
        message: dict[str, Any] = {
            "kind": "message",
            "messageId": question.message_id,
            "role": "user",
            "metadata": {"skillId": question.skill_id},
            "parts": question.parts,
        }
        if question.context_id is not None:
            message["contextId"] = question.context_id
        configuration: dict[str, Any] = {"acceptedOutputModes": MODES}
        if not streamed:
            # The Task is named at once, so that it can be canceled; the front waits for its end.
            configuration["blocking"] = False
        method = "message/stream" if streamed else "message/send"
        return rpc(request_id, method, {"message": message, "configuration": configuration})

    def get_task(self, request_id: RequestId, task_id: str) -> bytes:
        return rpc(request_id, "tasks/get", {"id": task_id, "historyLength": 1})

    def cancel_task(self, request_id: RequestId, task_id: str) -> bytes:
        return rpc(request_id, "tasks/cancel", {"id": task_id})

    def read(self, text: bytes, request_id: RequestId) -> Seen:
        try:
            response = _read(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return Seen(text)
        if response.id != request_id:
            return Seen(text)
        if response.result is msgspec.UNSET:
            return Seen(text, refuses=response.error is not msgspec.UNSET)
        return Seen.of(text, response.result)

    read_task = read
