"""JSON request bodies: media type, size, receipt deadline, strict JSON, then the document's schema, in that order.

A long body is read in a schema process: strict JSON of a megabyte can take 0.3 s, and no request may hold up the loop.
"""

import asyncio
from collections.abc import Mapping
from typing import cast

import msgspec

from aop.base import json
from aop.cards.checks import IN_LOOP_BYTES
from aop.cards.jobs import Checked, ReadBody
from aop.cards.workers import SchemaWorkers
from aop.contracts.documents import Document
from aop.contracts.errors import InvalidRequest, Overloaded, PayloadTooLarge, Reason, Refusal, Violation
from aop.serving.edge.request import Request

RECEIPT_SECONDS = 30.0
READING_SECONDS = 30.0
"""How long a long body may wait to be read."""


class CallerLeft(Refusal):
    """The caller went away before anything was begun for it; there is no one left to answer."""

    code = InvalidRequest.code


class JsonBody(msgspec.Struct, frozen=True):
    """The exact bytes, and the value they hold as the schema checks see it: UNSET when they were read elsewhere."""

    raw: bytes
    value: object = msgspec.UNSET

    def member(self, name: str) -> object:
        return msgspec.UNSET if self.value is msgspec.UNSET else cast("Mapping[str, object]", self.value)[name]


async def read_json(request: Request, document: Document, limit: int) -> JsonBody:
    return await checked_json(request, document, await receive_json(request, limit))


async def receive_json(request: Request, limit: int) -> bytes:
    """A body that says it is JSON; nothing of it is checked yet."""
    require_json_type(request)
    return await read_bytes(request, limit)


async def checked_json(request: Request, document: Document, raw: bytes) -> JsonBody:
    if request.workers is not None and len(raw) > IN_LOOP_BYTES:
        await _require_elsewhere(request.workers, document, raw)
        return JsonBody(raw)
    return JsonBody(raw, checked_value(document, raw))


def checked_value(document: Document, raw: bytes) -> object:
    """The value of a body of at most IN_LOOP_BYTES."""
    try:
        value = json.parse(raw)
    except json.JsonRefused as refused:
        raise InvalidRequest(Violation(document.declared_pointer(refused.pointer), refused.rule)) from None
    violations = document.violations(value)
    if violations:
        raise InvalidRequest(*violations)
    return value


async def _require_elsewhere(workers: SchemaWorkers, document: Document, raw: bytes) -> None:
    try:
        async with asyncio.timeout(READING_SECONDS):
            checked = await workers.run(ReadBody(document.name, raw), len(raw))
    except TimeoutError:
        raise Overloaded("bodies that wait to be read") from None
    if not isinstance(checked, Checked):
        raise PayloadTooLarge("the reading of the body", reason=Reason.SCHEMA_WORK)
    if not checked.is_valid:
        raise InvalidRequest(*checked.violations)


def require_json_type(request: Request) -> None:
    media_type = request.single_header(b"content-type") or b""
    if media_type != b"application/json":  # as most write it
        media_type = media_type.partition(b";")[0].strip().lower()
    encodings = request.header_values(b"content-encoding")
    if media_type != b"application/json" or any(value.strip().lower() != b"identity" for value in encodings):
        raise InvalidRequest(Violation("", "content_type"))


async def read_bytes(request: Request, limit: int) -> bytes:
    """The whole body; more than the limit, or a body that takes too long, is refused."""
    declared = request.single_header(b"content-length")
    if declared is not None and int(declared) > limit:
        raise PayloadTooLarge("declared length", reason=Reason.BODY_SIZE)
    whole = request.server.whole_body()
    if whole is None:
        return await _receive_in_time(request, limit)
    if len(whole) > limit:
        raise PayloadTooLarge("received bytes", reason=Reason.BODY_SIZE)
    return whole


async def _receive_in_time(request: Request, limit: int) -> bytes:
    try:
        async with asyncio.timeout(RECEIPT_SECONDS):
            return await _receive(request, limit)
    except TimeoutError:
        request.close_connection = True
        raise InvalidRequest(Violation("", "body_timeout")) from None


async def _receive(request: Request, limit: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise CallerLeft("while the body was arriving")
        piece = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise PayloadTooLarge("received bytes", reason=Reason.BODY_SIZE)
        pieces.append(piece)
        if not message.get("more_body", False):
            return b"".join(pieces)
