"""Stream mode: message/stream, each event read by the rules, each chunk checked and delivered as it comes."""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

from aop.a2a import requests
from aop.a2a.answers import STREAM_KINDS, AgentFault, Result, read_result
from aop.a2a.judge import StreamRules, TrackedTask
from aop.a2a.repetition import Repetition, Run
from aop.cards.checks import IN_LOOP_BYTES
from aop.contracts.errors import ErrorCode, Reason
from aop.net.sse import EventParser, EventTooLarge
from aop.router.a2a.agent import AgentConversation

UNREAD = object()
Waiting = Coroutine[Any, Any, None]
DeliverChunks = Callable[[Sequence[bytes], Sequence[object]], Waiting | None]
"""Called with chunks that came together and their values, or UNREAD. If it returns something to wait for, that is
awaited before the next chunk."""
_UNREAD = (UNREAD,)


async def stream_chunks(
    conversation: AgentConversation,
    message: bytes,
    delegation: bytes,
    task: TrackedTask,
    deadline: float,
    deliver: DeliverChunks,
) -> bool:
    """Returns with the Agent's terminal event, or with the clean end of a stream of Messages; awaits nothing later.

    True when the Agent sent more after its terminal event, which is ignored.
    """
    request_id, body = conversation.message(requests.stream, message)
    rules = StreamRules(task)
    reading = _Reading(conversation, request_id, rules, deliver)
    try:
        if await conversation.stream(body, request_id, deadline, delegation, reading.take, reading.catch_up):
            return reading.has_more()
    except EventTooLarge:
        raise AgentFault(ErrorCode.AGENT_RESPONSE_TOO_LARGE, Reason.EVENT_SIZE) from None
    finally:
        reading.close()
    rules.end()
    return False


class _Reading:
    """Reads and delivers what came as far as that goes at once; `catch_up` waits and goes on from there."""

    def __init__(
        self, conversation: AgentConversation, request_id: str, rules: StreamRules, deliver: DeliverChunks
    ) -> None:
        self._conversation = conversation
        self._request_id = request_id
        self._rules = rules
        self._deliver = deliver
        self._parser = EventParser(conversation.max_event)
        self._repetition = Repetition(request_id)
        self._runs: Iterator[Run | bytes] = iter(())
        self._waits: Iterator[Waiting] = iter(())
        self._waiting: Waiting | None = None
        self._long: Result | None = None

    def take(self, piece: bytes) -> bool:
        self._runs = self._repetition.runs(self._parser.feed(piece))
        self._waits = self._read_all()
        return self._goes_on_now()

    async def catch_up(self) -> bool:
        """True with the Agent's terminal event."""
        while not self._rules.completed:
            waiting, self._waiting = self._waiting, None
            if waiting is not None:
                await waiting
            if self._goes_on_now():
                return False
        return True

    def has_more(self) -> bool:
        """Whether anything came behind the event that was read last."""
        try:
            return next(self._runs, None) is not None
        except EventTooLarge:
            return True

    def close(self) -> None:
        if self._waiting is not None:  # whoever would have caught up was stopped
            self._waiting.close()

    def _goes_on_now(self) -> bool:
        self._waiting = next(self._waits, None)
        return self._waiting is None and not self._rules.completed

    def _read_all(self) -> Iterator[Waiting]:
        """All that came, up to the terminal event. What it gives is awaited before it goes on."""
        rules, deliver = self._rules, self._deliver
        for run in self._runs:
            if not isinstance(run, bytes):
                if (waiting := deliver(*run)) is not None:
                    yield waiting
                continue
            if len(run) > IN_LOOP_BYTES:
                yield self._read_long(run)
            result = self._long or read_result(run, self._request_id, STREAM_KINDS)
            self._long = None
            for value in rules.take(result):
                if (waiting := deliver((value,), _UNREAD)) is not None:
                    yield waiting
            if rules.completed:
                return
            self._repetition.learn(run, result)

    async def _read_long(self, event: bytes) -> None:
        self._long = await self._conversation.read(event, self._request_id, STREAM_KINDS)
