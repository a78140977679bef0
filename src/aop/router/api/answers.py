"""What an accepted Invocation answers: its result, or a correlated error; both name it in two headers."""

from collections.abc import Sequence

import msgspec

from aop.contracts.errors import ErrorCode, code_entries
from aop.contracts.identity import Lineage
from aop.contracts.invocation import correlated_error
from aop.router.a2a.outcome import Outcome
from aop.serving.edge.response import JSON, Response

# Invocation Result v1. An id needs no escape, and the value is the Agent's own text, which was read as strict JSON.
_RESULT = b'{"schemaVersion":"1","invocationId":"%b","rootTaskId":"%b","traceId":"%b","status":"succeeded","result":%b}'
_encode = msgspec.json.Encoder().encode


def id_headers(lineage: Lineage) -> Sequence[tuple[bytes, bytes]]:
    return (
        (b"x-platform-invocation-id", lineage.invocation.encode("ascii")),
        (b"x-platform-root-task-id", lineage.root_task.encode("ascii")),
    )


def outcome_response(outcome: Outcome, lineage: Lineage) -> Response:
    headers = (JSON, *id_headers(lineage))
    if outcome.value is not None:
        ids = headers[1][1], headers[2][1], lineage.trace.encode("ascii")
        return Response(200, _RESULT % (*ids, outcome.value), headers)
    code, reason = outcome.terminal.error or ErrorCode.INTERNAL_ERROR, outcome.terminal.reason
    error = correlated_error(code, reason, lineage)
    return Response(code_entries()[code].status, _encode(error), headers, code, reason)
