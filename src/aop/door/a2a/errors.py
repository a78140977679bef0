"""Errors of the door in A2A: the JSON-RPC code of each, and the data that says what the platform knows of it."""

from collections.abc import Mapping
from typing import Any, Final

from aop.a2a.rpc import InvalidParams, RpcFault, TaskNotFound
from aop.contracts.errors import ErrorCode, Reason
from aop.door.faults import GatewayFault

ERROR_INFO: Final = "type.googleapis.com/google.rpc.ErrorInfo"
BAD_REQUEST: Final = "type.googleapis.com/google.rpc.BadRequest"
DOMAIN: Final = "a2a-protocol.org"


class BodyNotJson(RpcFault):
    code, text, status = -32005, "Incompatible content types: the body must be application/json", 415


class OperationNotSupported(RpcFault):
    code, text = -32004, "This operation is not supported"


class VersionNotSupported(RpcFault):
    code, text = -32009, "The A2A-Version must be 0.3 or 1.0"


class NotCompleted(RpcFault):
    """Something that is not the caller's made the call impossible, or its outcome is not known."""

    code, text = -32603, "Internal error"


REASONS: Final[Mapping[int, str]] = {
    -32700: "JSON_PARSE_ERROR",
    -32600: "INVALID_REQUEST",
    -32601: "METHOD_NOT_FOUND",
    -32602: "INVALID_PARAMS",
    -32603: "INTERNAL_ERROR",
    -32001: "TASK_NOT_FOUND",
    -32002: "TASK_NOT_CANCELABLE",
    -32003: "PUSH_NOTIFICATION_NOT_SUPPORTED",
    -32004: "UNSUPPORTED_OPERATION",
    -32005: "CONTENT_TYPE_NOT_SUPPORTED",
    -32007: "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    -32009: "VERSION_NOT_SUPPORTED",
}
"""The words of A2A 1.0 for its codes."""

_BY_HTTP: Final = frozenset({ErrorCode.UNAUTHENTICATED, ErrorCode.FORBIDDEN})
_WORKSPACE: Final = frozenset({Reason.WORKSPACE_UNKNOWN})

KINDS: Final[Mapping[ErrorCode, type[RpcFault]]] = {
    ErrorCode.VALIDATION_ERROR: InvalidParams,
    ErrorCode.PAYLOAD_TOO_LARGE: InvalidParams,
    ErrorCode.CAPABILITY_NOT_ALLOWED: InvalidParams,
    ErrorCode.NOT_FOUND: TaskNotFound,
    ErrorCode.AGENT_NOT_INSTALLED: OperationNotSupported,
    ErrorCode.INSTALLATION_DISABLED: OperationNotSupported,
    ErrorCode.AGENT_DISABLED: OperationNotSupported,
    ErrorCode.AGENT_RELEASE_UNPUBLISHED: OperationNotSupported,
    ErrorCode.AGENT_RELEASE_SUSPENDED: OperationNotSupported,
    ErrorCode.AGENT_RELEASE_REVOKED: OperationNotSupported,
    ErrorCode.AGENT_AUTH_UNSUPPORTED: OperationNotSupported,
    ErrorCode.ROUTE_NOT_FOUND: OperationNotSupported,
}
"""Every other code is -32603: nothing in the request was wrong."""


def is_answered_by_http(fault: GatewayFault) -> bool:
    """Whether the caller may not come in at all. It then gets the answer of the Gateway, and nothing of A2A."""
    return fault.code in _BY_HTTP or fault.reason in _WORKSPACE


def rpc_fault(fault: GatewayFault) -> RpcFault:
    return KINDS.get(fault.code, NotCompleted)(text_of(fault))


def text_of(fault: GatewayFault) -> str:
    """For people: what happened, where to read about it, and what to do next. Nothing of it comes from an Agent."""
    recovery, words = fault.recovery, [f"{fault.code}: {fault.message}"]
    if recovery.sentence is not None:
        words.append(f"{fault.reason}: {recovery.sentence}")
    if fault.trace_id is not None:
        words.append(f"Trace {fault.trace_id}.")
    return " ".join([*words, recovery.action])


def facts_of(fault: GatewayFault) -> dict[str, str]:
    """For programs: the same members with the same names as a Platform Error has, all of them texts."""
    members = {
        "code": fault.code,
        "reason": fault.reason,
        "traceId": fault.trace_id,
        "invocationId": fault.invocation_id,
        "action": fault.recovery.action,
    }
    return {name: str(value) for name, value in members.items() if value is not None}


def error_data(fault: RpcFault, facts: Mapping[str, str], violations: Any = ()) -> list[dict[str, Any]]:
    """The `data` of an error as A2A 1.0 defines it; in A2A 0.3 any value may stand there.

    Clients show the metadata of the first ErrorInfo, so there is only one.
    """
    info = {"@type": ERROR_INFO, "reason": REASONS[fault.code], "domain": DOMAIN, "metadata": dict(facts)}
    if not violations:
        return [info]
    fields = [{"field": item.pointer, "description": item.rule} for item in violations]
    return [info, {"@type": BAD_REQUEST, "fieldViolations": fields}]
