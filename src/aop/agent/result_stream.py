"""The rules of a result stream (Stream Event v2), checked event by event."""

from typing import Final

import msgspec

from aop.base import json as strict_json
from aop.contracts.errors import ErrorCode
from aop.contracts.invocation import STATUS_OF_STREAM_EVENT, StreamEvent, StreamEventType

_OWN_CODES: Final = {StreamEventType.CANCELED: ErrorCode.CANCELED, StreamEventType.TIMED_OUT: ErrorCode.TIMEOUT}
_FAILURES: Final = frozenset({StreamEventType.FAILED, *_OWN_CODES})

_decoder = msgspec.json.Decoder(StreamEvent)


class StreamBroken(Exception):
    """An event that may not stand where it stands; `rule` as in the conformance vectors."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


class ResultStream:
    """What has been read of one stream. After the terminal `ended` is true, and nothing more may come."""

    def __init__(self) -> None:
        self.ended = False
        self._sequence = 0
        self._chunks = 0
        self._ids: tuple[str, str, str] | None = None

    def read(self, line: bytes) -> StreamEvent:
        event = _event(line)
        if self.ended:
            raise StreamBroken("after_terminal")
        if self._ids is None and event.type is not StreamEventType.ACCEPTED:
            raise StreamBroken("accepted_first")
        if event.sequence != self._sequence:
            raise StreamBroken("sequence")
        _require_shape(event)
        self._require_ids(event)
        if event.type is StreamEventType.CHUNK:
            if event.chunk_index != self._chunks:
                raise StreamBroken("chunk_index")
            self._chunks += 1
        self._sequence += 1
        self.ended = event.type is StreamEventType.COMPLETED or event.type in _FAILURES
        return event

    def _require_ids(self, event: StreamEvent) -> None:
        ids = (event.invocation_id, event.root_task_id, event.trace_id)
        if self._ids is None:
            self._ids = ids
        if ids != self._ids:
            raise StreamBroken("ids")
        error = event.error
        if error is not msgspec.UNSET and (error.invocation_id, error.root_task_id, error.trace_id) != ids:
            raise StreamBroken("error_ids")


def _event(line: bytes) -> StreamEvent:
    try:
        strict_json.parse(line, strict_json.UNIT_DEPTH)
        return _decoder.decode(line)
    except (msgspec.DecodeError, strict_json.JsonRefused):
        raise StreamBroken("schema") from None


def _require_shape(event: StreamEvent) -> None:
    is_chunk, has_failed = event.type is StreamEventType.CHUNK, event.type in _FAILURES
    error = event.error
    if (
        event.status is not STATUS_OF_STREAM_EVENT[event.type]
        or (event.type is StreamEventType.ACCEPTED) != (event.sequence == 0)
        or is_chunk != (event.chunk is not msgspec.UNSET)
        or is_chunk != (event.chunk_index is not msgspec.UNSET)
        or has_failed != (error is not msgspec.UNSET)
    ):
        raise StreamBroken("schema")
    if error is not msgspec.UNSET:
        own = _OWN_CODES.get(event.type)
        if error.code is not own if own is not None else error.code in _OWN_CODES.values():
            raise StreamBroken("schema")
