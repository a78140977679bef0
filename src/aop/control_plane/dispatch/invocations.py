"""The dispatch of an Invocation: what is sent to the Router, and the check of what comes back."""

import asyncio
from collections.abc import Sequence

import msgspec

from aop.base import json
from aop.base.ids import new_id
from aop.contracts.documents import document
from aop.contracts.errors import ErrorCode, Reason, Refusal, code_entries
from aop.contracts.identity import Lineage
from aop.contracts.invocation import InvocationRequest, InvocationResult, RouterDispatch, UserCaller
from aop.control_plane.dispatch.router_client import FAILURES, RouterClient
from aop.control_plane.workspace.installation_states import Permit
from aop.net.headers import HeaderMap
from aop.net.http import Answer, ConnectFailed, Headers, HttpError
from aop.net.policy import NameNotResolved

GUARD_SECONDS = 15.0
"""What the Router may take beyond the longest deadline: the terminal write, its probe, the transfer."""

MAX_ERROR_BYTES = 64 * 1024
_NOT_FORWARDED = frozenset({ErrorCode.UNAUTHENTICATED, ErrorCode.FORBIDDEN, ErrorCode.NOT_FOUND, ErrorCode.CONFLICT})
_TRACE, _INVOCATION, _ROOT_TASK = b"x-platform-trace-id", b"x-platform-invocation-id", b"x-platform-root-task-id"
_encode = msgspec.json.Encoder().encode
_decode_result = msgspec.json.Decoder(InvocationResult).decode


class Dispatch(msgspec.Struct, frozen=True):
    """One Invocation on its way to the Router; `correlated` once the Router has said that it was accepted."""

    lineage: Lineage
    correlated: bool = False


class RouterFailed(Refusal):
    """The Router gave no proper answer. With `correlated` ids the Invocation had been accepted and may have run.

    Without them `before_acceptance` applies: by default it is unknown; another reason, or None, says that it was not.
    """

    code = ErrorCode.DEPENDENCY_ERROR

    def __init__(
        self, text: str, dispatch: Dispatch, before_acceptance: Reason | None = Reason.ACCEPTANCE_UNKNOWN
    ) -> None:
        super().__init__(text, reason=Reason.OUTCOME_UNKNOWN if dispatch.correlated else before_acceptance)
        self.dispatch = dispatch


class RouterAnswer(msgspec.Struct, frozen=True):
    """A checked answer of the Router, passed on byte for byte."""

    status: int
    body: bytes
    code: ErrorCode | None
    reason: Reason | None = None


class Dispatches:
    def __init__(self, router: RouterClient, *, max_deadline_ms: int, max_result_bytes: int) -> None:
        self._router = router
        self._guard_seconds = max_deadline_ms / 1000 + GUARD_SECONDS
        self._max_result_bytes = max_result_bytes

    async def send(self, body: bytes, dispatch: Dispatch, trace_headers: Headers = ()) -> RouterAnswer:
        """JSON mode: the whole answer, checked."""
        deadline = asyncio.get_running_loop().time() + self._guard_seconds
        try:
            answer = await self._router.dispatch(
                body, trace_headers, trace_id=dispatch.lineage.trace, deadline=deadline, max_body=self._max_result_bytes
            )
        except HttpError as failure:  # what broke off after its head is still an answer about this Invocation
            seen = dispatch if failure.headers is None else seen_by_router(HeaderMap(failure.headers), dispatch)
            raise router_lost(failure, seen) from failure
        except FAILURES as failure:
            raise router_lost(failure, dispatch) from failure
        headers = HeaderMap(answer.headers)
        return _checked(answer, headers, seen_by_router(headers, dispatch))


def router_lost(failure: Exception, dispatch: Dispatch) -> RouterFailed:
    """Only if there was no connection is it certain that the Router received nothing."""
    unsent = isinstance(failure, ConnectFailed | NameNotResolved)
    reason = Reason.ROUTER_UNREACHABLE if unsent else Reason.ACCEPTANCE_UNKNOWN
    return RouterFailed(type(failure).__name__, dispatch, reason)


def _checked(answer: Answer, headers: HeaderMap, dispatch: Dispatch) -> RouterAnswer:
    if answer.status != 200 and len(answer.body) > MAX_ERROR_BYTES:
        raise RouterFailed("larger than allowed", dispatch)
    if not _is_json(headers.single(b"content-type")):
        raise RouterFailed("media type", dispatch)
    if answer.status != 200:
        return router_error(answer.status, answer.body, dispatch)
    try:
        result = _decode_result(answer.body)
    except msgspec.DecodeError:
        raise RouterFailed("shape", dispatch) from None
    named = Lineage(result.invocation_id, result.root_task_id, result.trace_id)
    if not dispatch.correlated or named != dispatch.lineage:
        raise RouterFailed("another invocation", dispatch)
    return RouterAnswer(200, answer.body, None)


def new_dispatch(trace_id: str) -> Dispatch:
    """Of a new root Invocation."""
    return Dispatch(Lineage(new_id("inv"), new_id("task"), trace_id))


def dispatch_body(caller: str, authorized: Permit, request: InvocationRequest, lineage: Lineage) -> bytes:
    """`input` is the caller's own bytes, spliced in."""
    pin = authorized.pin
    return _encode(
        RouterDispatch(
            invocation_id=lineage.invocation,
            root_task_id=lineage.root_task,
            trace_id=lineage.trace,
            workspace_id=pin.workspace,
            target_agent_id=pin.agent,
            agent_card_version=pin.version,
            agent_release_id=pin.release,
            agent_card_digest=pin.card_digest,
            authorization_digest=authorized.document.digest,
            capability=request.capability,
            caller=UserCaller(type="user", id=caller),
            input=request.input,
            stream=request.stream,
        )
    )


def seen_by_router(headers: HeaderMap, dispatch: Dispatch) -> Dispatch:
    """The answer must bear our trace; with both id headers it says that the Invocation was accepted."""
    lineage = dispatch.lineage
    if headers.single(_TRACE) != lineage.trace.encode("ascii"):
        raise RouterFailed("another trace", dispatch)
    if _INVOCATION not in headers.by_name and _ROOT_TASK not in headers.by_name:
        return dispatch
    invocation, root_task = lineage.invocation.encode("ascii"), lineage.root_task.encode("ascii")
    if headers.single(_INVOCATION) != invocation or headers.single(_ROOT_TASK) != root_task:
        raise RouterFailed("another invocation", dispatch)
    return Dispatch(lineage, correlated=True)


def router_error(status: int, body: bytes, dispatch: Dispatch) -> RouterAnswer:
    """Passes on an error whose status, message, reason, trace and ids are as the contract says; refuses any other."""
    try:
        error = json.parse(body, json.UNIT_DEPTH)
    except json.JsonRefused:
        raise RouterFailed("error body", dispatch) from None
    if not isinstance(error, dict) or not document("platform-error/4").is_valid(error):
        raise RouterFailed("error shape", dispatch)
    code = ErrorCode(error["code"])
    entry = code_entries()[code]
    expected = {"message": entry.message, "traceId": dispatch.lineage.trace}
    if dispatch.correlated:
        expected |= {"invocationId": dispatch.lineage.invocation, "rootTaskId": dispatch.lineage.root_task}
    agrees = entry.status == status and ("invocationId" in error) == dispatch.correlated
    if not agrees or any(error.get(name) != value for name, value in expected.items()):
        raise RouterFailed(f"error {code}", dispatch)
    if code in _NOT_FORWARDED:
        raise RouterFailed(f"refused {code}", dispatch, None)
    if code is ErrorCode.VALIDATION_ERROR and not _all_under_input(error.get("violations", ())):
        raise RouterFailed("violations of the dispatch itself", dispatch, None)
    return RouterAnswer(status, body, code, Reason(error["reason"]) if "reason" in error else None)


def _all_under_input(violations: Sequence[dict[str, str]]) -> bool:
    return bool(violations) and all(f"{item['pointer']}/".startswith("/input/") for item in violations)


def _is_json(content_type: bytes | None) -> bool:
    if content_type is None:
        return False
    return content_type == b"application/json" or content_type.partition(b";")[0].strip().lower() == b"application/json"
