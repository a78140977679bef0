"""Plain HTTP: each Skill is a route that takes the input as JSON and answers with the result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

import msgspec

from aop.a2a.v0_3 import TaskState
from aop.a2a.versions import A2AVersion
from aop.a2a.writing import FORMS, TaskView, encoded_part
from aop.base.json import NOT_READ
from aop.front.faults import UpstreamUnavailable, UpstreamUnreadable
from aop.front.upstream import JSON, Upstream, UpstreamRequest, media_type_of, whole_body
from aop.serving.unit.held import HeldBytes

ACCEPT: Final = b"application/json, text/plain;q=0.9"
_TEXT: Final = b"text/"
_JSON_SUFFIX: Final = b"+json"


@dataclass(frozen=True)
class HttpRoutes:
    """Paths by Skill, below the address of the service."""

    paths: Mapping[str, str]

    async def task(self, upstream: Upstream, request: UpstreamRequest, held: HeldBytes) -> tuple[str, bytes]:
        """The state and the Task that the answer is. From status 400 on it failed; that body is not read."""
        answer = await upstream.open(request)
        try:
            if answer.status >= 400:
                return TaskState.FAILED, _task(TaskState.FAILED)
            if not 200 <= answer.status < 300:
                raise UpstreamUnavailable(f"status {answer.status}")
            media_type = media_type_of(answer)
            body = await whole_body(answer, held)
        finally:
            # No connection is kept: answers have no ids, so one that comes twice would be that of the next call.
            answer.close()
        return TaskState.COMPLETED, _task(TaskState.COMPLETED, *([_part(body, media_type)] if body else []))


def _part(body: bytes, media_type: bytes) -> bytes:
    try:
        if media_type == JSON or media_type.endswith(_JSON_SUFFIX):
            # Exactly one JSON value, so that nothing of it can become a member of the Task around it.
            return b'{"kind":"data","data":%b}' % bytes(msgspec.json.decode(body, type=msgspec.Raw))
        if media_type.startswith(_TEXT):
            return encoded_part(body.decode("utf-8"))
    except NOT_READ:
        raise UpstreamUnreadable("the body is not what its media type says", body) from None
    raise UpstreamUnreadable("another media type", media_type=media_type or b"application/octet-stream")


def _task(state: TaskState, *parts: bytes) -> bytes:
    return FORMS[A2AVersion.V0_3].document(TaskView(uuid4().hex, uuid4().hex, state), parts)
