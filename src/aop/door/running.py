"""The calls that run in this door: a later request of the same caller can ask about one, or end it, in any worker."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import msgspec

from aop.serving.workers.worker_group import ANSWER_SECONDS, WorkerGroup

CallKey = tuple[bytes, str, str, int | str]
"""The digest of a bearer, a Workspace, and the two names that a protocol has for a call of theirs. Of a digest the time
of a comparison says nothing about the bearer."""
AnswerForCall = Callable[[bool], Awaitable[bytes]]
"""What a call says of itself; the argument says whether it is to end first."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[CallKey, bool]).decode


class DoorCalls:
    """Those of one protocol in this process; `question` is what all workers of the door are asked about theirs by."""

    def __init__(self, group: WorkerGroup, question: str) -> None:
        self._calls: dict[CallKey, AnswerForCall] = {}
        self._group = group
        self._question = question
        group.answers(question, self._answer)

    @contextmanager
    def held(self, key: CallKey | None, answer: AnswerForCall) -> Iterator[None]:
        """Inside, the call answers under its key. Of two calls with one key the first has it."""
        if key is None or key in self._calls:
            yield
            return
        self._calls[key] = answer
        try:
            yield
        finally:
            del self._calls[key]

    async def ask(self, key: CallKey, *, cancel: bool, seconds: float = ANSWER_SECONDS) -> bytes:
        """The call's answer; empty when it runs in no worker: it may have ended, or never begun."""
        answers = await self._group.ask_all(self._question, _encode((key, cancel)), seconds)
        return next(filter(None, answers), b"")

    async def _answer(self, body: bytes) -> bytes:
        key, cancel = _decode(body)
        answer = self._calls.get(key)
        return b"" if answer is None else await answer(cancel)
