"""Stream mode: message/stream, each event read by the rules, each chunk checked and handed on as it comes."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from aop.router.a2a import requests
from aop.router.a2a.agent import AgentConversation
from aop.router.a2a.answers import read_result
from aop.router.a2a.known_task import KnownTask
from aop.router.a2a.stream_rules import STREAM_KINDS, StreamRules

HandOn = Callable[[bytes], Awaitable[None]]


async def stream_chunks(
    conversation: AgentConversation, message: bytes, delegation: str, known: KnownTask, deadline: float, hand_on: HandOn
) -> None:
    """Returns with the Agent's terminal event, or with the clean end of a stream of Messages; awaits nothing later."""
    request_id = conversation.next_id()
    body = requests.stream(request_id, known.invocation_id, message)
    rules = StreamRules(known)
    async with aclosing(conversation.events(body, request_id, deadline, delegation)) as events:
        async for event in events:
            for value in rules.take(read_result(event, request_id, STREAM_KINDS)):
                await hand_on(value)
            if rules.completed:
                return
    rules.end()
