"""The HTTP client: one exchange is one request sent at most once, one exactly framed answer, one deadline."""

from aop.net.header_syntax import Headers
from aop.net.http.client import HttpClient
from aop.net.http.dialing import certified_context
from aop.net.http.errors import (
    AnswerTooLarge,
    ConnectFailed,
    DeadlinePassed,
    HttpError,
    RepeatedHeader,
    TransferBroken,
)
from aop.net.http.message import Answer, Target
from aop.net.http.stream import AnswerStream, StreamedAnswer

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
