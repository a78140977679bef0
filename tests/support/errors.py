"""What every error answer must be: fixed status and message, one trace, a body its envelope's schema accepts."""

from aop.contracts.documents import document
from aop.contracts.errors import ErrorCode, code_entries
from tests.support.units import Reply


def require_error(reply: Reply, status: int, code: str, envelope: str, *reasons: str | None) -> None:
    """`reasons` are those of which one must be given; None is to have none. Without any, all are right."""
    entry = code_entries()[ErrorCode(code)]
    assert (reply.status, reply.code, reply.json["message"]) == (status, code, entry.message), reply.body
    assert entry.status == status
    assert reply.header("content-type") == "application/json"
    assert reply.header("x-platform-trace-id") == reply.json["traceId"]
    assert not reasons or reply.json.get("reason") in reasons, reply.body
    assert document(f"platform-error/{envelope}").violations(reply.json) == ()
