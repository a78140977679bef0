"""The error vocabulary: codes, refusals and the fixed status and message of each code."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import msgspec

from aop.base import assets

MAX_VIOLATIONS = 20


class ErrorCode(StrEnum):
    VALIDATION_ERROR = "VALIDATION_ERROR"
    INVALID_ENDPOINT = "INVALID_ENDPOINT"
    WRONG_PROOF = "WRONG_PROOF"
    REDIRECT_NOT_ALLOWED = "REDIRECT_NOT_ALLOWED"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    CAPABILITY_NOT_ALLOWED = "CAPABILITY_NOT_ALLOWED"
    DISALLOWED_NETWORK = "DISALLOWED_NETWORK"
    NOT_FOUND = "NOT_FOUND"
    AGENT_NOT_INSTALLED = "AGENT_NOT_INSTALLED"
    NOT_ACCEPTABLE = "NOT_ACCEPTABLE"
    CONFLICT = "CONFLICT"
    CANCELED = "CANCELED"
    CHALLENGE_EXPIRED = "CHALLENGE_EXPIRED"
    CHALLENGE_REUSED = "CHALLENGE_REUSED"
    INSTALLATION_DISABLED = "INSTALLATION_DISABLED"
    AGENT_DISABLED = "AGENT_DISABLED"
    AGENT_RELEASE_UNPUBLISHED = "AGENT_RELEASE_UNPUBLISHED"
    AGENT_RELEASE_SUSPENDED = "AGENT_RELEASE_SUSPENDED"
    AGENT_RELEASE_REVOKED = "AGENT_RELEASE_REVOKED"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    AGENT_AUTH_UNSUPPORTED = "AGENT_AUTH_UNSUPPORTED"
    AGENT_RESPONSE_TOO_LARGE = "AGENT_RESPONSE_TOO_LARGE"
    AGENT_EXECUTION_FAILED = "AGENT_EXECUTION_FAILED"
    A2A_PROTOCOL_ERROR = "A2A_PROTOCOL_ERROR"
    ROUTE_NOT_FOUND = "ROUTE_NOT_FOUND"
    AGENT_UNAVAILABLE = "AGENT_UNAVAILABLE"
    ENDPOINT_UNAVAILABLE = "ENDPOINT_UNAVAILABLE"
    DEPENDENCY_ERROR = "DEPENDENCY_ERROR"
    OVERLOADED = "OVERLOADED"
    TIMEOUT = "TIMEOUT"


class Envelope(StrEnum):
    """The Platform Error document that applies to a surface."""

    CATALOG = "2"
    WORKSPACE = "3"
    INVOCATION = "4"


class Violation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a request breaks the contract and by which rule; never a value."""

    pointer: str
    rule: str


@dataclass(frozen=True)
class CodeEntry:
    code: ErrorCode
    status: int
    message: str
    envelopes: frozenset[Envelope]


@cache
def code_entries() -> Mapping[ErrorCode, CodeEntry]:
    document = json.loads((assets.folder("contracts") / "platform-error" / "codes.json").read_bytes())
    return {
        ErrorCode(entry["code"]): CodeEntry(
            ErrorCode(entry["code"]),
            entry["status"],
            entry["message"],
            frozenset(Envelope(version) for version in entry["envelopes"]),
        )
        for entry in document["codes"]
    }


class Refusal(Exception):
    """A rule said no. The text is for logs; the caller sees the fixed message of the code."""

    code: ErrorCode


class InvalidRequest(Refusal):
    """The request breaks the contract; carries at least one and at most twenty violations."""

    code = ErrorCode.VALIDATION_ERROR

    def __init__(self, *violations: Violation) -> None:
        super().__init__(", ".join(f"{item.pointer} {item.rule}" for item in violations[:MAX_VIOLATIONS]))
        self.violations = violations[:MAX_VIOLATIONS]


class Relayed(Refusal):
    """A peer's refusal, crossing this process as itself."""

    def __init__(self, code: ErrorCode, text: str = "") -> None:
        super().__init__(text or f"relayed {code}")
        self.code = code


class Unauthenticated(Refusal):
    code = ErrorCode.UNAUTHENTICATED


class Forbidden(Refusal):
    code = ErrorCode.FORBIDDEN


class NotFound(Refusal):
    code = ErrorCode.NOT_FOUND


class Conflict(Refusal):
    code = ErrorCode.CONFLICT


class PayloadTooLarge(Refusal):
    code = ErrorCode.PAYLOAD_TOO_LARGE


class NotAcceptable(Refusal):
    code = ErrorCode.NOT_ACCEPTABLE


class Overloaded(Refusal):
    code = ErrorCode.OVERLOADED


class DependencyFailed(Refusal):
    """Something the platform needs did not answer properly; never shown as absence or success."""

    code = ErrorCode.DEPENDENCY_ERROR
