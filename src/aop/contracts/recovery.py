"""Readers of the recovery table and the list of reasons: what an error means, who acts after it, and how."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Literal

import msgspec

from aop.base import assets
from aop.contracts.errors import ErrorCode, Reason
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
    """`sentence` says what happened, where there is a reason; owner and action are then those of the reason."""

    owner: RecoveryOwner
    action: str
    sentence: str | None = None


class _NextAction(Wire, frozen=True, kw_only=True):
    owner: RecoveryOwner
    action: str


class _AfterCode(_NextAction, frozen=True, kw_only=True):
    code: ErrorCode


class _AfterSituation(_NextAction, frozen=True, kw_only=True):
    situation: Situation


class _AfterReason(_NextAction, frozen=True, kw_only=True):
    reason: Reason
    codes: tuple[ErrorCode, ...]
    sentence: str


class _Reasons(Wire, frozen=True, kw_only=True):
    schema_version: Literal["1"]
    reasons: tuple[_AfterReason, ...]


class _Table(Wire, frozen=True, kw_only=True):
    schema_version: Literal["1"]
    codes: tuple[_AfterCode, ...]
    situations: tuple[_AfterSituation, ...]


@cache
def recoveries() -> Mapping[ErrorCode | Situation, Recovery]:
    """The next action after every code and every situation."""
    table = msgspec.json.decode(_document("recovery.json"), type=_Table)
    rows: list[tuple[ErrorCode | Situation, Recovery]] = [
        *((row.code, Recovery(row.owner, row.action)) for row in table.codes),
        *((row.situation, Recovery(row.owner, row.action)) for row in table.situations),
    ]
    return dict(rows)


def recovery_of(code: ErrorCode, reason: Reason | None) -> Recovery:
    """The next action after an error: of its reason where there is one, else of its code."""
    return recoveries()[code] if reason is None else _reason_recoveries()[code, reason]


@cache
def _reason_recoveries() -> Mapping[tuple[ErrorCode, Reason], Recovery]:
    table = msgspec.json.decode(_document("reasons.json"), type=_Reasons)
    return {
        (code, row.reason): Recovery(row.owner, row.action, row.sentence) for row in table.reasons for code in row.codes
    }


def _document(name: str) -> bytes:
    return (assets.folder("contracts") / "platform-error" / name).read_bytes()
