"""What an Agent's answer must be before its body counts, and which fault it is when it is not."""

from aop.a2a.answers import AgentFault, require_media_type, require_plain
from aop.contracts.errors import ErrorCode, Reason
from aop.net.http import AnswerTooLarge, ConnectFailed, HttpError, StreamedAnswer

_REASON_OF_STATUS_CLASS = {
    2: Reason.HTTP_OTHER_SUCCESS,
    3: Reason.HTTP_REDIRECT,
    4: Reason.HTTP_CLIENT_ERROR,
    5: Reason.HTTP_SERVER_ERROR,
}
"""The reader of answers lets no other class through."""


def http_fault(failure: HttpError) -> AgentFault:
    """The status decides first: a large error page is an unavailable Agent, not a large answer."""
    if isinstance(failure, AnswerTooLarge):
        if failure.status is None:
            return AgentFault(ErrorCode.AGENT_RESPONSE_TOO_LARGE, Reason.HEAD_SIZE)
        if failure.status == 200:
            return AgentFault(ErrorCode.AGENT_RESPONSE_TOO_LARGE, Reason.BODY_SIZE)
        return _unavailable(_reason_of_status(failure.status))
    if isinstance(failure, ConnectFailed):
        return _unavailable(Reason.TLS_FAILED if failure.phase == "tls" else Reason.CONNECT_FAILED)
    return _unavailable(Reason.TRANSFER_BROKEN)


def _unavailable(reason: Reason) -> AgentFault:
    return AgentFault(ErrorCode.AGENT_UNAVAILABLE, reason, leaves_task=False)


def _reason_of_status(status: int) -> Reason:
    return Reason.HTTP_AUTH if status in {401, 403} else _REASON_OF_STATUS_CLASS[status // 100]


def require_ok(status: int) -> None:
    if status != 200:
        raise _unavailable(_reason_of_status(status))


def require_json(answer: StreamedAnswer) -> None:
    require_ok(answer.status)
    named = dict(answer.headers)
    has_plain_type = named.get(b"content-type") == b"application/json" and b"content-encoding" not in named
    if has_plain_type and len(named) == len(answer.headers):  # no name came twice, as nearly always
        return
    require_plain(answer.headers_named(b"content-encoding"))
    require_media_type(answer.headers_named(b"content-type"), b"application/json")
