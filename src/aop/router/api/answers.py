"""What an accepted Invocation answers: its result, or a correlated error; both name it in two headers."""

from collections.abc import Sequence

import msgspec

from aop.contracts.errors import ErrorCode, code_entries
from aop.contracts.identity import Lineage
from aop.contracts.invocation import InvocationResult, correlated_error
from aop.router.a2a.outcome import Outcome
from aop.serving.response import JSON, Response

_encode = msgspec.json.Encoder().encode


def id_headers(lineage: Lineage) -> Sequence[tuple[bytes, bytes]]:
    return (
        (b"x-platform-invocation-id", lineage.invocation.encode("ascii")),
        (b"x-platform-root-task-id", lineage.root_task.encode("ascii")),
    )


def outcome_response(outcome: Outcome, lineage: Lineage) -> Response:
    headers = (JSON, *id_headers(lineage))
    if outcome.value is not None:
        result = InvocationResult(
            schema_version="1",
            invocation_id=lineage.invocation,
            root_task_id=lineage.root_task,
            trace_id=lineage.trace,
            status="succeeded",
            result=msgspec.Raw(outcome.value),
        )
        return Response(200, _encode(result), headers)
    code, reason = outcome.terminal.error or ErrorCode.INTERNAL_ERROR, outcome.terminal.reason
    error = correlated_error(code, reason, lineage)
    return Response(code_entries()[code].status, _encode(error), headers, code, reason)
