"""What a check sends to an Agent and demands of its answers."""

from typing import Any

import msgspec

from aop.agent.guard import REJECTIONS
from aop.base.ids import new_id
from aop.contracts.card import Skill
from aop.net.http import Answer


class CheckFailed(Exception):
    """What the Agent did wrong, for its author to read."""


def require(holds: bool, problem: str) -> None:
    if not holds:
        raise CheckFailed(problem)


def require_rejection(answer: Answer, status: int) -> None:
    require(answer.status == status, f"status {answer.status} instead of {status}")
    require(answer.body == REJECTIONS[status], "the body is not the fixed rejection")
    require(answer.headers_named(b"cache-control") == [b"no-store"], "no `Cache-Control: no-store`")
    wanted = [b"Bearer"] if status == 401 else []
    require(answer.headers_named(b"www-authenticate") == wanted, "`WWW-Authenticate: Bearer` belongs to 401 alone")
    require_media_type(answer.headers_named(b"content-type"), b"application/json")


def require_media_type(values: list[bytes], wanted: bytes) -> None:
    found = [value.partition(b";")[0].strip().lower() for value in values]
    require(found == [wanted], f"the media type is not {wanted.decode()}")


def query(task_id: str) -> dict[str, Any]:
    return {"id": task_id, "historyLength": 1}


def message(part: bytes) -> dict[str, Any]:
    return {"message": {"kind": "message", "messageId": new_id("inv"), "role": "user", "parts": [msgspec.Raw(part)]}}


def data_part(given: bytes) -> bytes:
    return b'{"kind":"data","data":%b}' % given


def example(skill: Skill) -> bytes | None:
    examples = msgspec.json.decode(skill.input_schema, type=dict[str, Any]).get("examples")
    return msgspec.json.encode(examples[0]) if isinstance(examples, list) and examples else None
