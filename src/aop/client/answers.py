"""Reads answers exactly: the value of the operation, a Platform Error, or something the contract does not know."""

from typing import Final, TypeVar

import msgspec

from aop.client.call import json_of
from aop.client.errors import BrokenAnswer, PlatformError
from aop.client.request import OperationRequest
from aop.contracts.errors import code_entries, fits
from aop.contracts.platform_error import InvocationError
from aop.net.http import Answer, Headers, RepeatedHeader, StreamedAnswer

T = TypeVar("T")

_TRACE: Final = b"x-platform-trace-id"
_read_error = json_of(InvocationError)


def read(answer: Answer, request: OperationRequest[T], gateway: str) -> T:
    if answer.status not in request.statuses:
        raise refusal(answer, gateway)
    try:
        return request.call.read(answer)
    except (ValueError, msgspec.DecodeError, RepeatedHeader) as error:
        what = f"it is not the answer to {request.method} {request.target.partition('?')[0]}"
        raise broken(answer, what, gateway) from error


def refusal(answer: Answer, gateway: str) -> PlatformError | BrokenAnswer:
    """The platform's own error, if it is one: right status and reason for its code, one trace, both ids or none."""
    try:
        error = _read_error(answer)
        retry_after = answer.header(b"retry-after")
        sound = (
            code_entries()[error.code].status == answer.status
            and fits(error.code, error.reason)
            and trace_of(answer) == error.trace_id
            and (error.invocation_id is msgspec.UNSET) == (error.root_task_id is msgspec.UNSET)
        )
    except (ValueError, msgspec.DecodeError, RepeatedHeader):
        sound = False
    if not sound:
        return broken(answer, "it is not a Platform Error", gateway)
    return PlatformError.of(error, retry_after=int(retry_after) if retry_after and retry_after.isdigit() else None)


def broken(answer: Answer | StreamedAnswer, text: str, gateway: str) -> BrokenAnswer:
    return BrokenAnswer(
        f"the answer {answer.status} of {gateway} is not the Gateway's: {text}",
        status=answer.status,
        trace_id=trace_of(answer),
    )


def trace_of(answer: Answer | StreamedAnswer) -> str | None:
    return trace_in(answer.headers)


def trace_in(headers: Headers) -> str | None:
    """The trace that a header names; None when none or several do."""
    values = [value for name, value in headers if name == _TRACE]
    return values[0].decode("latin-1") if len(values) == 1 else None
