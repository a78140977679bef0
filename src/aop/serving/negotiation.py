"""Agreement of the Accept header with the result mode of an invocation."""

from aop.contracts.errors import NotAcceptable
from aop.net.accept import allows_event_stream, allows_json
from aop.serving.request import Request


def require_agreement(request: Request, *, stream: bool) -> None:
    values = request.header_values(b"accept")
    if not (allows_event_stream(values) if stream else allows_json(values)):
        raise NotAcceptable("the mode and the Accept header disagree")
