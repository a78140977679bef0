"""Query parameters of the lists of Invocations and Traces, which the Gateway and the Router share."""

from typing import Final

from aop.base.clock import from_text
from aop.base.ids import is_trace_id
from aop.base.settings import identifier
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import RECORDED_CODES, InvocationOrder, InvocationStatus
from aop.serving.edge.paging import PAGE_QUERY
from aop.serving.edge.query import QueryRules, boolean


def _trace(text: str) -> str:
    if not is_trace_id(text):
        raise ValueError("not a Trace")
    return text


def _recorded_code(text: str) -> ErrorCode:
    code = ErrorCode(text)
    if code not in RECORDED_CODES:
        raise ValueError("not a code that an Invocation ends with")
    return code


TRACES_QUERY: Final[QueryRules] = {
    **PAGE_QUERY,
    "status": InvocationStatus,
    "agentId": identifier,
    "capability": identifier,
    "callerId": identifier,
    "traceId": _trace,
    "errorCode": _recorded_code,
    "reason": Reason,
    "since": from_text,
    "until": from_text,
    "order": InvocationOrder,
}
INVOCATIONS_QUERY: Final[QueryRules] = {**TRACES_QUERY, "root": boolean}
TRACE_QUERY: Final[QueryRules] = {"cursor": PAGE_QUERY["cursor"]}
EVENTS_QUERY: Final[QueryRules] = {"after": PAGE_QUERY["cursor"], "limit": PAGE_QUERY["limit"]}
