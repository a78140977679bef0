"""Stream mode: message/stream, each event read by the rules, each chunk checked and delivered as it comes."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing

from aop.contracts.errors import ErrorCode, Reason
from aop.net.sse import EventTooLarge
from aop.router.a2a import requests
from aop.router.a2a.agent import AgentConversation
from aop.router.a2a.outcome import AgentFault
from aop.router.a2a.repetition import Repetition
from aop.router.a2a.stream_rules import STREAM_KINDS, StreamRules
from aop.router.a2a.tracked_task import TrackedTask

UNREAD = object()
DeliverChunks = Callable[[Sequence[bytes], Sequence[object]], Awaitable[None] | None]
"""Called with chunks that came together and their values, or UNREAD. If it returns an awaitable, that is awaited before
the next chunk."""
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
    rules, repetition = StreamRules(task), Repetition(request_id)
    try:
        async with aclosing(conversation.events(body, request_id, deadline, delegation)) as arrivals:
            async for events in arrivals:
                runs = repetition.runs(events)
                for run in runs:
                    if not isinstance(run, bytes):
                        if (waiting := deliver(*run)) is not None:
                            await waiting
                        continue
                    result = await conversation.read(run, request_id, STREAM_KINDS)
                    for value in rules.take(result):
                        if (waiting := deliver((value,), _UNREAD)) is not None:
                            await waiting
                    if rules.completed:
                        return _goes_on(runs)
                    repetition.learn(run, result)
    except EventTooLarge:
        raise AgentFault(ErrorCode.AGENT_RESPONSE_TOO_LARGE, Reason.EVENT_SIZE) from None
    rules.end()
    return False


def _goes_on(runs: Iterator[object]) -> bool:
    try:
        return next(runs, None) is not None
    except EventTooLarge:
        return True
