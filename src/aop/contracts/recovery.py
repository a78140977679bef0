"""Reader of the recovery table: who acts after an error, and how."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Literal

import msgspec

from aop.base import assets
from aop.contracts.errors import ErrorCode
from aop.contracts.wire import Wire


class RecoveryOwner(StrEnum):
    PROVIDER = "provider"
    WORKSPACE_OWNER = "workspace_owner"
    PLATFORM_OPERATOR = "platform_operator"
    CALLER = "caller"


class Situation(StrEnum):
    """A way in which a caller gets no usable answer, so that there is no code."""

    UNREACHABLE = "unreachable"
    ANSWER_LOST = "answer_lost"
    BROKEN_ANSWER = "broken_answer"
    STREAM_INTERRUPTED = "stream_interrupted"


@dataclass(frozen=True)
class Recovery:
    owner: RecoveryOwner
    action: str


class _AfterCode(Wire, frozen=True, kw_only=True):
    code: ErrorCode
    owner: RecoveryOwner
    action: str


class _AfterSituation(Wire, frozen=True, kw_only=True):
    situation: Situation
    owner: RecoveryOwner
    action: str


class _Table(Wire, frozen=True, kw_only=True):
    schema_version: Literal["1"]
    codes: tuple[_AfterCode, ...]
    situations: tuple[_AfterSituation, ...]


@cache
def recoveries() -> Mapping[ErrorCode | Situation, Recovery]:
    """The next action after every code and every situation."""
    file = assets.folder("contracts") / "platform-error" / "recovery.json"
    table = msgspec.json.decode(file.read_bytes(), type=_Table)
    rows: list[tuple[ErrorCode | Situation, Recovery]] = [
        *((row.code, Recovery(row.owner, row.action)) for row in table.codes),
        *((row.situation, Recovery(row.owner, row.action)) for row in table.situations),
    ]
    return dict(rows)
