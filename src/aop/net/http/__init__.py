"""The HTTP client: one exchange is one request sent at most once, one exactly framed answer, one deadline."""

from aop.net.headers import Headers
from aop.net.http.client import AnswerStream, HttpClient, StreamedAnswer
from aop.net.http.connect_problems import is_untrusted, why_failed
from aop.net.http.connection import Connection, TakePiece
from aop.net.http.message import (
    Answer,
    AnswerTooLarge,
    ConnectFailed,
    HttpError,
    HttpTimeout,
    RepeatedHeader,
    Target,
    TransferBroken,
    completed,
    request_head,
    with_body,
    with_headers,
)

__all__ = [
    "Answer",
    "AnswerStream",
    "AnswerTooLarge",
    "ConnectFailed",
    "Connection",
    "Headers",
    "HttpClient",
    "HttpError",
    "HttpTimeout",
    "RepeatedHeader",
    "StreamedAnswer",
    "TakePiece",
    "Target",
    "TransferBroken",
    "completed",
    "is_untrusted",
    "request_head",
    "why_failed",
    "with_body",
    "with_headers",
]
