"""The error vocabulary: codes, the reasons that may stand with them, refusals, and what is fixed for each code."""

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


class Reason(StrEnum):
    """The closed list of words that say more than a code; `reasons.json` has the sentence and the next step of each."""

    NAME_NOT_RESOLVED = "name_not_resolved"
    CONNECT_FAILED = "connect_failed"
    TLS_FAILED = "tls_failed"
    TRANSFER_BROKEN = "transfer_broken"
    HTTP_REDIRECT = "http_redirect"
    HTTP_AUTH = "http_auth"
    HTTP_CLIENT_ERROR = "http_client_error"
    HTTP_SERVER_ERROR = "http_server_error"
    HTTP_OTHER_SUCCESS = "http_other_success"
    ADDRESS_REFUSED = "address_refused"
    STREAMING_NOT_DECLARED = "streaming_not_declared"
    TASK_FAILED = "task_failed"
    TASK_REJECTED = "task_rejected"
    INPUT_REQUIRED = "input_required"
    AUTH_REQUIRED = "auth_required"
    RPC_ERROR = "rpc_error"
    RPC_METHOD_NOT_FOUND = "rpc_method_not_found"
    RPC_VERSION_NOT_SUPPORTED = "rpc_version_not_supported"
    MEDIA_TYPE = "media_type"
    NOT_JSON = "not_json"
    RPC_ENVELOPE = "rpc_envelope"
    MESSAGE_SHAPE = "message_shape"
    TASK_SHAPE = "task_shape"
    TASK_CHANGED = "task_changed"
    TASK_STATE_UNKNOWN = "task_state_unknown"
    STREAM_ORDER = "stream_order"
    ARTIFACT_ORDER = "artifact_order"
    ARTIFACT_REPLACED = "artifact_replaced"
    STREAM_ENDED_EARLY = "stream_ended_early"
    OUTPUT_SCHEMA = "output_schema"
    HEAD_SIZE = "head_size"
    BODY_SIZE = "body_size"
    EVENT_SIZE = "event_size"
    FRAME_SIZE = "frame_size"
    SCHEMA_WORK = "schema_work"
    INPUT_SIZE = "input_size"
    ACCEPTANCE_UNKNOWN = "acceptance_unknown"
    ROUTER_UNREACHABLE = "router_unreachable"
    STORE_UNAVAILABLE = "store_unavailable"
    OUTCOME_UNKNOWN = "outcome_unknown"
    ROUTER_RESTARTED = "router_restarted"
    CONTROL_PLANE_UNREACHABLE = "control_plane_unreachable"
    ALREADY_INSTALLED = "already_installed"
    ALREADY_EXISTS = "already_exists"
    STATE_CHANGED = "state_changed"
    PARENT_NOT_RUNNING = "parent_not_running"
    NOT_NUMBERED_YET = "not_numbered_yet"
    INSTALLATION_STATE = "installation_state"
    CALLER_IS_OWNER = "caller_is_owner"
    CALLER_LIMIT = "caller_limit"
    CARD_STATE = "card_state"
    BINDING_VERIFIED = "binding_verified"
    BINDING_FAILED = "binding_failed"
    BINDING_NOT_VERIFIED = "binding_not_verified"
    BINDING_EVIDENCE_CHANGED = "binding_evidence_changed"
    RELEASE_STATE = "release_state"
    AGENT_OF_OTHER_PROVIDER = "agent_of_other_provider"
    TOKEN_LIMIT = "token_limit"  # noqa: S105  a word, no secret
    TOKEN_OF_OPENID_PROVIDER = "token_of_openid_provider"  # noqa: S105  a word, no secret
    WORKSPACE_UNKNOWN = "workspace_unknown"
    AGENT_UNKNOWN = "agent_unknown"
    VERSION_UNKNOWN = "version_unknown"
    VERSION_RANGE_EMPTY = "version_range_empty"
    PROVIDER_UNKNOWN = "provider_unknown"
    BINDING_UNKNOWN = "binding_unknown"
    CHALLENGE_UNKNOWN = "challenge_unknown"
    RELEASE_UNKNOWN = "release_unknown"
    INSTALLATION_UNKNOWN = "installation_unknown"
    CALLER_UNKNOWN = "caller_unknown"
    INVOCATION_UNKNOWN = "invocation_unknown"
    TRACE_UNKNOWN = "trace_unknown"
    TOKEN_UNKNOWN = "token_unknown"  # noqa: S105  a word, no secret
    ARCHIVED = "archived"
    NOT_INSTALLED = "not_installed"
    SKILL_UNKNOWN = "skill_unknown"
    PERMISSION_NOT_ACCEPTED = "permission_not_accepted"
    NOT_OWNER = "not_owner"
    NOT_CALLER = "not_caller"
    DEPTH_LIMIT = "depth_limit"
    FAN_OUT_LIMIT = "fan_out_limit"
    SIGN_IN_CODE = "sign_in_code"


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


@cache
def reason_pairs() -> frozenset[tuple[ErrorCode, Reason]]:
    """Which reason may stand with which code."""
    document = json.loads((assets.folder("contracts") / "platform-error" / "reasons.json").read_bytes())
    return frozenset(
        (ErrorCode(code), Reason(entry["reason"])) for entry in document["reasons"] for code in entry["codes"]
    )


def fits(code: ErrorCode, reason: Reason | msgspec.UnsetType | None) -> bool:
    """Whether the reason, if there is one, may stand with the code."""
    return not reason or (code, reason) in reason_pairs()


def require_fitting(code: ErrorCode, reason: Reason | None) -> None:
    if not fits(code, reason):
        raise ValueError(f"{reason} is no reason of {code}")


class Refusal(Exception):
    """A rule said no. The text is for logs; the caller sees the fixed message of the code, and the reason if any."""

    code: ErrorCode
    reason: Reason | None = None
    violations: tuple[Violation, ...] = ()

    def __init__(self, text: str = "", *, reason: Reason | None = None) -> None:
        super().__init__(text)
        if reason is not None:
            require_fitting(self.code, reason)
            self.reason = reason


class InvalidRequest(Refusal):
    """The request breaks the contract; carries at least one and at most twenty violations."""

    code = ErrorCode.VALIDATION_ERROR

    def __init__(self, *violations: Violation) -> None:
        super().__init__(", ".join(f"{item.pointer} {item.rule}" for item in violations[:MAX_VIOLATIONS]))
        self.violations = violations[:MAX_VIOLATIONS]


class Relayed(Refusal):
    """A peer's refusal, crossing this process as itself."""

    def __init__(self, code: ErrorCode, text: str = "", *, reason: Reason | None = None) -> None:
        self.code = code
        super().__init__(text or f"relayed {code}", reason=reason)


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
