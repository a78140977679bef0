"""The calls of one Agent: what a caller sees of each, as one word or a code with its reason."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from aop.client import Client, InvocationFailed, PlatformError
from aop.contracts.lineage import InvocationStatus
from interop.running import Program
from interop.script import BREAK, WAIT, WORK_CANCELED, WORK_STARTED

WORKSPACE = "interop"
SKILL = "chat"
OK = "ok"
REACHED = "Agent told"
_HELLO = "hello"
_PATIENCE_SECONDS = 30.0
_STARTED_SECONDS = 4.0
_TOLD_SECONDS = 3.0
# What the Agent reported of its Task needs a moment to reach the Router.
_HEARD_SECONDS = 0.7
_UNFINISHED = frozenset({InvocationStatus.PENDING, InvocationStatus.ROUTING, InvocationStatus.RUNNING})
_CANCELS = ("method tasks/cancel", "method CancelTask", WORK_CANCELED)


@dataclass(frozen=True)
class Calls:
    """Calls to one installed Agent; `program` is the framework's own process, whose output shows what reached it."""

    client: Client
    agent_id: str
    program: Program

    async def answer(self) -> str:
        return await _outcome(self._invoke(_HELLO))

    async def stream(self) -> str:
        return await _outcome(self._chunks(_HELLO))

    async def error(self) -> str:
        return await _outcome(self._invoke(BREAK))

    async def error_in_stream(self) -> str:
        return await _outcome(self._chunks(BREAK))

    async def time_limit(self) -> str:
        return await _outcome(self._invoke(WAIT))

    async def time_limit_in_stream(self) -> str:
        return await _outcome(self._chunks(WAIT))

    async def cancel(self) -> str:
        return await self._left(self._invoke)

    async def cancel_in_stream(self) -> str:
        return await self._left(self._chunks)

    async def _invoke(self, text: str) -> None:
        value = (await self.client.invoke(WORKSPACE, self.agent_id, SKILL, text)).value
        if not isinstance(value, str):
            raise WrongReply(f"no text: {value!r}"[:200])
        _require_reply(value, text)

    async def _chunks(self, text: str) -> None:
        async with self.client.stream(WORKSPACE, self.agent_id, SKILL, text) as chunks:
            _require_reply([chunk async for chunk in chunks], text)

    async def _left(self, call: Callable[[str], Coroutine[Any, Any, None]]) -> str:
        """The caller leaves while the Agent works: what the Ledger says, and whether the Agent was told."""
        lines_before = len(self.program.lines())
        calling = asyncio.create_task(call(WAIT))
        # Some frameworks work on one message after the other, so it may not have begun.
        with contextlib.suppress(TimeoutError):
            await self._until(lambda: self._shows((WORK_STARTED,), lines_before) or calling.done(), _STARTED_SECONDS)
        await asyncio.sleep(_HEARD_SECONDS)
        calling.cancel()
        with contextlib.suppress(asyncio.CancelledError, PlatformError, WrongReply):
            await calling
        status = await self._last_status()
        with contextlib.suppress(TimeoutError):
            await self._until(lambda: self._shows(_CANCELS, lines_before), _TOLD_SECONDS)
        was_told = self._shows(_CANCELS, lines_before)
        return f"{status}, {REACHED if was_told else 'Agent not told'}"

    async def _last_status(self) -> str:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            newest = await anext(aiter(self.client.list_invocations(WORKSPACE, agent_id=self.agent_id)))
            if newest.status not in _UNFINISHED:
                return str(newest.status.value)
            if time.monotonic() > deadline:
                return f"still {newest.status.value}"
            await asyncio.sleep(0.2)

    def _shows(self, marks: tuple[str, ...], after: int) -> bool:
        return any(mark in line for line in self.program.lines()[after:] for mark in marks)

    async def _until(self, is_true: Callable[[], bool], seconds: float) -> None:
        async with asyncio.timeout(seconds):
            while not is_true():  # noqa: ASYNC110  it waits for another process
                await asyncio.sleep(0.1)


async def _outcome(call: Coroutine[Any, Any, None]) -> str:
    try:
        await call
    except WrongReply as wrong:
        return f"wrong reply: {wrong}"
    except (InvocationFailed, PlatformError) as error:
        return str(error.code) if error.reason is None else f"{error.code} ({error.reason})"
    return OK


class WrongReply(Exception):
    """The call succeeded with another value than the model's."""


def _require_reply(value: Any, text: str) -> None:
    """A framework may give its text in one piece or in many; what counts is the text."""
    found = _texts(value).strip()
    if found != f"You said: {text}":
        raise WrongReply(found[:200])


def _texts(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "".join(map(_texts, value)) if isinstance(value, list) else ""
