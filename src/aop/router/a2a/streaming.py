"""Stream mode: message/stream, each event read by the rules, each chunk checked and delivered as it comes."""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

from aop.contracts.errors import ErrorCode, Reason
from aop.net.sse import EventParser, EventTooLarge
from aop.router.a2a import requests
from aop.router.a2a.agent import AgentConversation
from aop.router.a2a.outcome import AgentFault
from aop.router.a2a.repetition import Repetition, Run
from aop.router.a2a.stream_rules import STREAM_KINDS, StreamRules
from aop.router.a2a.tracked_task import TrackedTask

UNREAD = object()
DeliverChunks = Callable[[Sequence[bytes], Sequence[object]], Coroutine[Any, Any, None] | None]
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
        if await conversation.stream(body, request_id, deadline, delegation, reading):
            return reading.goes_on()
    except EventTooLarge:
        raise AgentFault(ErrorCode.AGENT_RESPONSE_TOO_LARGE, Reason.EVENT_SIZE) from None
    finally:
        reading.close()
    rules.end()
    return False


class _Reading:
    """Events that repeat the one before are read and delivered as they come, all others by whoever catches up."""

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
        self._event: bytes | None = None
        self._waiting: Coroutine[Any, Any, None] | None = None

    def take(self, piece: bytes) -> bool:
        self._runs = self._repetition.runs(self._parser.feed(piece))
        return self._deliver_runs()

    async def catch_up(self) -> bool:
        """True with the Agent's terminal event."""
        while True:
            waiting, self._waiting = self._waiting, None
            if waiting is not None:
                await waiting
            event, self._event = self._event, None
            if event is not None:
                await self._read(event)
                if self._rules.completed:
                    return True
            if self._deliver_runs():
                return False

    def goes_on(self) -> bool:
        """Whether anything came behind the event that was read last."""
        try:
            return next(self._runs, None) is not None
        except EventTooLarge:
            return True

    def close(self) -> None:
        if self._waiting is not None:  # whoever would have caught up was stopped
            self._waiting.close()

    def _deliver_runs(self) -> bool:
        """False at an event that has to be read in full, or if there is something to wait for."""
        for run in self._runs:
            if isinstance(run, bytes):
                self._event = run
                return False
            self._waiting = self._deliver(*run)
            if self._waiting is not None:
                return False
        return True

    async def _read(self, event: bytes) -> None:
        result = await self._conversation.read(event, self._request_id, STREAM_KINDS)
        for value in self._rules.take(result):
            if (waiting := self._deliver((value,), _UNREAD)) is not None:
                await waiting
        if not self._rules.completed:
            self._repetition.learn(event, result)
