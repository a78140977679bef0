"""The HTTP client: one exchange is one request sent at most once, one exactly framed answer, one deadline."""

from aop.base.header_syntax import Headers
from aop.base.http.client import HttpClient
from aop.base.http.dialing import certified_context
from aop.base.http.errors import (
    AnswerTooLarge,
    ConnectFailed,
    DeadlinePassed,
    HttpError,
    RepeatedHeader,
    TransferBroken,
)
from aop.base.http.message import Answer, Target
from aop.base.http.stream import AnswerStream, StreamedAnswer

__all__ = [
    "Answer",
    "AnswerStream",
    "AnswerTooLarge",
    "ConnectFailed",
    "DeadlinePassed",
    "Headers",
    "HttpClient",
    "HttpError",
    "RepeatedHeader",
    "StreamedAnswer",
    "Target",
    "TransferBroken",
    "certified_context",
]
