"""What an accepted Invocation answers: its result, or a correlated error; both name it in two headers."""

from collections.abc import Sequence

import msgspec

from aop.contracts.errors import ErrorCode, code_entries
from aop.contracts.invocation import InvocationResult, correlated_error
from aop.router.a2a.outcome import Outcome
from aop.serving.response import JSON, Response

_encode = msgspec.json.Encoder().encode


def id_headers(invocation_id: str, root_task_id: str) -> Sequence[tuple[bytes, bytes]]:
    return (
        (b"x-platform-invocation-id", invocation_id.encode("ascii")),
        (b"x-platform-root-task-id", root_task_id.encode("ascii")),
    )


def outcome_response(outcome: Outcome, invocation_id: str, root_task_id: str, trace_id: str) -> Response:
    headers = (JSON, *id_headers(invocation_id, root_task_id))
    if outcome.value is not None:
        result = InvocationResult(
            schema_version="1",
            invocation_id=invocation_id,
            root_task_id=root_task_id,
            trace_id=trace_id,
            status="succeeded",
            result=msgspec.Raw(outcome.value),
        )
        return Response(200, _encode(result), headers)
    code, reason = outcome.terminal.error or ErrorCode.INTERNAL_ERROR, outcome.terminal.reason
    error = correlated_error(code, reason, invocation_id=invocation_id, root_task_id=root_task_id, trace_id=trace_id)
    return Response(code_entries()[code].status, _encode(error), headers, code, reason)
