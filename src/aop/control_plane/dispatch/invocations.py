"""Invocation Dispatch: authorizes, mints the identities, hands over to the Router, and checks what comes back."""

import asyncio
from collections.abc import Sequence

import msgspec

from aop.base import json
from aop.base.ids import new_id
from aop.contracts.documents import document
from aop.contracts.errors import ErrorCode, Reason, Refusal, code_entries
from aop.contracts.invocation import InvocationRequest, InvocationResult, RouterDispatch, UserCaller
from aop.control_plane.dispatch.authorization import Authorization, Authorized, Wanted
from aop.control_plane.dispatch.router_client import FAILURES, RouterClient
from aop.net.http import Answer, ConnectFailed, Headers, HttpError
from aop.net.policy import NameNotResolved

GUARD_SECONDS = 15.0
"""What the Router may take beyond the longest deadline: the terminal write, its probe, the transfer."""

MAX_ERROR_BYTES = 64 * 1024
_NOT_FORWARDED = frozenset({ErrorCode.UNAUTHENTICATED, ErrorCode.FORBIDDEN, ErrorCode.NOT_FOUND, ErrorCode.CONFLICT})
_IDENTITY_HEADERS = frozenset({b"x-platform-trace-id", b"x-platform-invocation-id", b"x-platform-root-task-id"})
_encode = msgspec.json.Encoder().encode
_decode_result = msgspec.json.Decoder(InvocationResult).decode


class Identity(msgspec.Struct, frozen=True):
    """Names one Invocation; `correlated` once the Router has said that it was accepted."""

    invocation_id: str
    root_task_id: str
    trace_id: str
    correlated: bool = False


class RouterFailed(Refusal):
    """The Router did not answer properly; with ids when it had accepted before.

    Without them nobody knows whether it had; another reason, or None for an ordinary refusal, says that it had not.
    """

    code = ErrorCode.DEPENDENCY_ERROR

    def __init__(
        self, text: str, identity: Identity, before_acceptance: Reason | None = Reason.ACCEPTANCE_UNKNOWN
    ) -> None:
        super().__init__(text, reason=None if identity.correlated else before_acceptance)
        self.identity = identity


class Forwarded(msgspec.Struct, frozen=True):
    """A checked answer of the Router, passed on byte for byte."""

    status: int
    body: bytes
    code: ErrorCode | None
    reason: Reason | None = None


class Invocations:
    def __init__(
        self, authorization: Authorization, router: RouterClient, *, max_deadline_ms: int, max_result_bytes: int
    ) -> None:
        self._authorization = authorization
        self._router = router
        self._guard_seconds = max_deadline_ms / 1000 + GUARD_SECONDS
        self._max_result_bytes = max_result_bytes

    async def authorize(self, caller: str, workspace_id: str, wanted: InvocationRequest) -> Authorized:
        return await self._authorization.for_owner(caller, Wanted(workspace_id, wanted.agent_id, wanted.capability))

    async def run(
        self, caller: str, pin: Authorized, wanted: InvocationRequest, identity: Identity, trace_headers: Headers = ()
    ) -> Forwarded:
        """JSON mode: the whole answer, checked."""
        body = dispatch_body(caller, pin, wanted, identity)
        deadline = asyncio.get_running_loop().time() + self._guard_seconds
        try:
            answer = await self._router.dispatch(
                body, trace_headers, trace_id=identity.trace_id, deadline=deadline, max_body=self._max_result_bytes
            )
        except HttpError as failure:  # what broke off behind its head is still an answer about this Invocation
            seen = identity if failure.headers is None else seen_identity(failure.headers, identity)
            raise router_lost(failure, seen) from failure
        except FAILURES as failure:
            raise router_lost(failure, identity) from failure
        return _checked(answer, seen_identity(answer.headers, identity))


def router_lost(failure: Exception, identity: Identity) -> RouterFailed:
    """Only without a connection is it sure that the Router got nothing of the request."""
    unsent = isinstance(failure, ConnectFailed | NameNotResolved)
    reason = Reason.ROUTER_UNREACHABLE if unsent else Reason.ACCEPTANCE_UNKNOWN
    return RouterFailed(type(failure).__name__, identity, reason)


def _checked(answer: Answer, identity: Identity) -> Forwarded:
    if answer.status != 200 and len(answer.body) > MAX_ERROR_BYTES:
        raise RouterFailed("larger than allowed", identity)
    if _media_type(answer.headers) != b"application/json":
        raise RouterFailed("media type", identity)
    if answer.status != 200:
        return forwarded_error(answer.status, answer.body, identity)
    try:
        result = _decode_result(answer.body)
    except msgspec.DecodeError:
        raise RouterFailed("shape", identity) from None
    named = (result.invocation_id, result.root_task_id, result.trace_id)
    if not identity.correlated or named != (identity.invocation_id, identity.root_task_id, identity.trace_id):
        raise RouterFailed("another invocation", identity)
    return Forwarded(200, answer.body, None)


def new_identity(trace_id: str) -> Identity:
    return Identity(new_id("inv"), new_id("task"), trace_id)


def dispatch_body(caller: str, pin: Authorized, wanted: InvocationRequest, identity: Identity) -> bytes:
    """`input` is the caller's own bytes, spliced in."""
    return _encode(
        RouterDispatch(
            invocation_id=identity.invocation_id,
            root_task_id=identity.root_task_id,
            trace_id=identity.trace_id,
            workspace_id=pin.workspace_id,
            target_agent_id=pin.agent_id,
            capability=wanted.capability,
            caller=UserCaller(type="user", id=caller),
            agent_card_version=pin.version,
            agent_release_id=pin.release_id,
            agent_card_digest=pin.card_digest,
            input=wanted.input,
            stream=wanted.stream,
        )
    )


def seen_identity(headers: Headers, identity: Identity) -> Identity:
    """The answer must bear our trace; with both id headers it says that the Invocation was accepted."""
    told = [field for field in headers if field[0] in _IDENTITY_HEADERS]
    trace = (b"x-platform-trace-id", identity.trace_id.encode("ascii"))
    if trace not in told:
        raise RouterFailed("another trace", identity)
    if len(told) == 1:
        return identity
    accepted = {
        trace,
        (b"x-platform-invocation-id", identity.invocation_id.encode("ascii")),
        (b"x-platform-root-task-id", identity.root_task_id.encode("ascii")),
    }
    if len(told) != 3 or set(told) != accepted:
        raise RouterFailed("another invocation", identity)
    return Identity(identity.invocation_id, identity.root_task_id, identity.trace_id, correlated=True)


def forwarded_error(status: int, body: bytes, identity: Identity) -> Forwarded:
    """Only an error with its own status, message and reason, our trace, and the form of its phase passes on."""
    try:
        error = json.parse(body, json.UNIT_DEPTH)
    except json.JsonRefused:
        raise RouterFailed("error body", identity) from None
    if not isinstance(error, dict) or not document("platform-error/4").is_valid(error):
        raise RouterFailed("error shape", identity)
    code = ErrorCode(error["code"])
    entry = code_entries()[code]
    expected = {"message": entry.message, "traceId": identity.trace_id}
    if identity.correlated:
        expected |= {"invocationId": identity.invocation_id, "rootTaskId": identity.root_task_id}
    agrees = entry.status == status and ("invocationId" in error) == identity.correlated
    if not agrees or any(error.get(name) != value for name, value in expected.items()):
        raise RouterFailed(f"error {code}", identity)
    if code in _NOT_FORWARDED:
        raise RouterFailed(f"refused {code}", identity, None)
    if code is ErrorCode.VALIDATION_ERROR and not _all_under_input(error.get("violations", ())):
        raise RouterFailed("violations of the dispatch itself", identity, None)
    return Forwarded(status, body, code, Reason(error["reason"]) if "reason" in error else None)


def _all_under_input(violations: Sequence[dict[str, str]]) -> bool:
    return bool(violations) and all(f"{item['pointer']}/".startswith("/input/") for item in violations)


def _media_type(headers: Headers) -> bytes:
    values = [value for name, value in headers if name == b"content-type"]
    return values[0].partition(b";")[0].strip().lower() if len(values) == 1 else b""
