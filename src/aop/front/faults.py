"""What can go wrong at the Agent behind the front, each with the way in which the Router learns of it."""

from typing import Final

from aop.net.http import AnswerTooLarge, HttpError, HttpTimeout, TransferBroken

OK: Final = 200


class UpstreamFault(Exception):
    """The Agent gave no answer that can be passed on. The text goes to the log and repeats nothing of the Agent."""

    leaves_task = True
    """Whether a Task that it had named may still run."""


class UpstreamUnavailable(UpstreamFault):
    """It was not reached, its answer broke off, or the status says no. The front answers 502."""

    status = 502
    leaves_task = False


class UpstreamSilent(UpstreamUnavailable):
    """The time of the call is over. The front answers 504; its caller has left long since."""

    status = 504
    leaves_task = True


class UpstreamTooLarge(UpstreamFault):
    """It sent more than its Card allows. The Router ends with the same: it reads of more bytes than it takes."""


class UpstreamUnreadable(UpstreamFault):
    """It sent something that is not the protocol. The front passes it on, and the Router judges it."""

    def __init__(self, text: str, body: bytes = b"", media_type: bytes = b"application/json") -> None:
        super().__init__(text)
        self.body = body
        self.media_type = media_type


def fault_of(error: HttpError) -> UpstreamFault:
    if isinstance(error, HttpTimeout):
        return UpstreamSilent("no answer in time")
    if isinstance(error, AnswerTooLarge) and error.status in {None, OK}:
        # The status decides first: a large error page is an unavailable Agent, not a large answer.
        return UpstreamTooLarge("the answer is larger than the Card allows")
    broken = isinstance(error, TransferBroken)
    return UpstreamUnavailable("the transfer broke off" if broken else type(error).__name__)
