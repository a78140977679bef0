"""What can go wrong with one HTTP exchange, as one family of types."""

from typing import Literal

Phase = Literal["connect", "tls"]


class HttpError(Exception):
    """The exchange gave no usable answer; `headers` are there when it broke off behind the head of one."""

    headers: tuple[tuple[bytes, bytes], ...] | None = None


class ConnectFailed(HttpError):
    """No connection came about; no byte of the request was sent."""

    def __init__(self, phase: Phase, reason: str) -> None:
        super().__init__(f"{phase}: {reason}")
        self.phase = phase


class TransferBroken(HttpError):
    """The peer closed, reset or did not speak HTTP after the request had begun to be sent."""


class AnswerTooLarge(HttpError):
    """The head or the body of the answer passed its limit; `status` is None when the head did."""

    def __init__(self, part: str, status: int | None = None) -> None:
        super().__init__(part)
        self.status = status


class DeadlinePassed(HttpError, TimeoutError):
    """The caller's deadline came before the end of the answer."""


class RepeatedHeader(HttpError):
    """A header that was asked for as a single value came more than once."""
