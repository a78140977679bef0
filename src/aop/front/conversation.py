"""One message and the Agent's answer to it: followed by stream where the Agent streams, else by questions."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, suppress
from functools import partial
from itertools import chain, repeat
from typing import Final

import msgspec

from aop.a2a.dialect import AgentResponse, Dialect, Question, with_id_of_caller
from aop.a2a.rpc import RequestId
from aop.a2a.v0_3 import Kind
from aop.base.ids import new_request_id
from aop.front.agent import FrontedAgent
from aop.front.artifacts import Deviation, StreamedArtifacts
from aop.front.assembly import Assembly
from aop.front.faults import UpstreamTooLarge, UpstreamUnreadable, fault_of
from aop.front.running import RunningCall
from aop.front.upstream import (
    EVENTS,
    JSON,
    UpstreamRequest,
    close_after,
    media_type_of,
    require_media_type,
    require_ok,
    whole_body,
)
from aop.net.http import Headers, HttpError, StreamedAnswer
from aop.net.sse import EventParser, EventTooLarge
from aop.serving.unit.held import HeldBytes

_FIRST_PAUSES: Final = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
_LATER_PAUSE: Final = 1.0
_FOLLOWED_SIZE: Final = 64
"""A stream may be this many times larger than the answer that is made of it: every word can be an event of its own."""
_FINISH_SECONDS: Final = 1.0
_FINISH_BYTES: Final = 64 * 1024


class PlainAnswer(Exception):
    """The Agent answered a request for a stream with one JSON response, usually a refusal."""

    def __init__(self, seen: AgentResponse) -> None:
        super().__init__("no stream")
        self.seen = seen


class Conversation(msgspec.Struct, eq=False):
    agent: FrontedAgent
    dialect: Dialect
    call: RunningCall
    request_id: RequestId
    question: Question
    headers: Headers
    deadline: float
    held: HeldBytes
    """What is being read."""

    def __repr__(self) -> str:
        return "Conversation()"

    async def events(self, *, collected: bool = False) -> AsyncGenerator[list[AgentResponse], None]:
        """What arrived together comes together; the last of all is marked as such, if there is one.

        `collected`: one answer is made of them, so that each is read. UpstreamFault when the stream breaks off,
        PlainAnswer when there is none.
        """
        max_bytes = self.agent.card.limits.max_output_bytes
        own_id = new_request_id()
        body = self.dialect.send(own_id, self.question, streamed=True)
        request = self._request(body, EVENTS, max_bytes * (_FOLLOWED_SIZE if collected else 1))
        answer = await self.agent.upstream.open(request)
        finishing = False
        try:
            await self._require_stream(answer, own_id)
            artifacts = None if collected else StreamedArtifacts(self.request_id, self.agent.begun_by_append)
            pending, parser = 0, EventParser(max_bytes)
            async for piece in answer:
                pending += len(piece)
                self.held.keep(pending + (0 if artifacts is None else artifacts.held))
                batch: list[AgentResponse] = []
                try:
                    self._read_into(batch, own_id, parser.feed(piece), artifacts)
                except EventTooLarge:
                    if batch:
                        yield batch
                    raise UpstreamTooLarge("an event is larger than the Card allows") from None
                if not batch:
                    continue
                pending = len(piece)
                if batch[-1].is_last:
                    if not close_after(batch[-1], answer) and answer.rest() is None:
                        finishing = True
                        self.agent.continue_with(_finish(answer), otherwise=answer.leave)
                    yield batch
                    return
                yield batch
        except HttpError as error:
            raise fault_of(error) from None
        finally:
            if not finishing:
                answer.leave()

    async def _require_stream(self, answer: StreamedAnswer, own_id: str) -> None:
        require_ok(answer)
        if media_type_of(answer) == JSON:
            seen = self._read(await whole_body(answer, self.held), own_id)
            close_after(seen, answer)
            raise PlainAnswer(seen)
        require_media_type(answer, EVENTS)

    def _read_into(
        self, batch: list[AgentResponse], own_id: str, texts: Iterable[bytes], artifacts: StreamedArtifacts | None
    ) -> None:
        for text in texts:
            seen = None if artifacts is None else artifacts.repeated(text)
            if seen is None:
                read = self._read(text, own_id)
                seen = read if artifacts is None else artifacts.passed_on(text, read)
            if seen is None:
                continue
            batch.append(seen)
            if seen.is_last:
                return

    async def answer(self) -> bytes:
        """The response to message/send, once the Agent has come to an end."""
        own_id = new_request_id()
        seen = await self._ask(self.dialect.send(own_id, self.question, streamed=False), own_id)
        return seen.text if self._ends(seen) else (await self._followed()).text

    async def assembled(self, kept: HeldBytes) -> bytes:
        """The same of an Agent that streams. `kept`: what the answer is made of.

        An event that replaces an artifact is the answer itself: the Router refuses it as it does in a stream.
        """
        assembly = Assembly(self.agent.card.limits.max_output_bytes)
        artifacts = StreamedArtifacts(self.request_id, self.agent.begun_by_append)
        seen: AgentResponse | None = None
        try:
            async with aclosing(self.events(collected=True)) as arrivals:
                async for batch in arrivals:
                    for seen in batch:
                        if seen.result is None:
                            return seen.text
                        _require_same_task(seen)
                        if artifacts.take(seen.result) is Deviation.REPLACES:
                            return seen.text
                        assembly.take(seen.result)
                    kept.keep(assembly.held + artifacts.held)
        except PlainAnswer as plain:
            return plain.seen.text if self._ends(plain.seen) else (await self._followed()).text
        if seen is not None and not seen.is_last and self.call.task_id is not None:
            if self._ends(seen):
                return seen.text
            seen = await self._followed()
            if seen.result is None:
                return seen.text
            assembly.take(seen.result)
        made = assembly.answer(self.request_id)
        if made is None:
            raise UpstreamUnreadable("the stream ended with nothing in it")
        return made

    async def _followed(self) -> AgentResponse:
        """What the Agent says once the Task does not go on by itself."""
        for pause in chain(_FIRST_PAUSES, repeat(_LATER_PAUSE)):
            await asyncio.sleep(pause)
            own_id = new_request_id()
            body = self.dialect.get_task(own_id, self.call.task_id or "")
            seen = await self._ask(body, own_id, about_task=True)
            if self._ends(seen):
                return seen
        raise AssertionError("the pauses never end")

    def _ends(self, seen: AgentResponse) -> bool:
        if seen.result is None:
            return True
        _require_same_task(seen)
        return seen.result.kind == Kind.MESSAGE or seen.is_last

    async def _ask(self, body: bytes, own_id: str, *, about_task: bool = False) -> AgentResponse:
        self.held.keep(0)
        request = self._request(body, JSON, self.agent.card.limits.max_output_bytes)
        read = partial(self._read, own_id=own_id, about_task=about_task)
        return await self.agent.upstream.json(request, self.held, read)

    def _read(self, text: bytes, own_id: str, *, about_task: bool = False) -> AgentResponse:
        read = self.dialect.read_task if about_task else self.dialect.read
        seen = read(with_id_of_caller(text, own_id, self.request_id), self.request_id)
        if seen.result is not None:
            seen.is_foreign = not self.call.see(seen.result)
        elif seen.refuses:
            self.call.cancel_sent = True
        return seen

    def _request(self, body: bytes, accept: bytes, max_body: int) -> UpstreamRequest:
        return UpstreamRequest(body, accept, self.deadline, max_body, self.headers)


def _require_same_task(seen: AgentResponse) -> None:
    if seen.is_foreign:
        raise UpstreamUnreadable("an answer about another Task")


async def _finish(answer: StreamedAnswer) -> None:
    """Reads the little that follows the last event, so that the connection can be used again."""
    size = 0
    try:
        with suppress(TimeoutError, HttpError):
            async with asyncio.timeout(_FINISH_SECONDS):
                async for piece in answer:
                    size += len(piece)
                    if size > _FINISH_BYTES:
                        return
    finally:
        answer.leave()
