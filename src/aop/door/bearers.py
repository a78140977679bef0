"""Bearers: whether the Gateway knows one, which is asked before anything else of a request is read, and seldom."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from aop.base.recent import TtlCache
from aop.base.settings import Secret
from aop.contracts.errors import ErrorCode, Overloaded
from aop.door.faults import GatewayFault
from aop.door.installed import FRESH_SECONDS

_RESERVED_SHARE: Final = 4
"""So great a part of the places is for bearers that the Gateway has accepted before: strangers cannot take them."""
_ACCEPTED_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Bearer:
    """`digest` names it in memory and to other workers of the door, where its token has no place."""

    token: Secret
    digest: bytes = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", hashlib.sha256(self.token.reveal().encode()).digest())


class Judgements:
    """What the Gateway says of bearers, asked by `judge`; at most `places` questions are open at a time.

    An answer holds for a moment, a refusal too. A failure of the Gateway is no answer.
    """

    def __init__(
        self, judge: Callable[[Bearer], Awaitable[object]], places: int, seconds: float = FRESH_SECONDS
    ) -> None:
        self._judge = judge
        self._places = places
        self._answers: TtlCache[bytes, bool] = TtlCache(seconds)
        self._accepted: TtlCache[bytes, bool] = TtlCache(_ACCEPTED_SECONDS)
        self._questions: dict[bytes, asyncio.Task[bool | GatewayFault]] = {}

    async def require(self, bearer: Bearer) -> None:
        """A GatewayFault for a bearer that the Gateway refuses, and when it gives no answer."""
        accepted = self._answers.find(bearer.digest, asyncio.get_running_loop().time())
        if accepted is None:
            accepted = await self._answer(bearer)
        if not accepted:
            raise GatewayFault(ErrorCode.UNAUTHENTICATED)

    async def close(self) -> None:
        for question in list(self._questions.values()):
            question.cancel()
            await asyncio.wait({question})

    async def _answer(self, bearer: Bearer) -> bool:
        """Requests of one bearer that come together wait for one question; none of them can end it for the others."""
        question = asked_before = self._questions.get(bearer.digest)
        if question is None:
            self._require_place(bearer)
            question = self._questions[bearer.digest] = asyncio.create_task(self._ask(bearer))
            question.add_done_callback(lambda _: self._end(bearer))
        answer = await asyncio.shield(question)
        if isinstance(answer, GatewayFault):
            # The Gateway's trace is that of the one who asked. Each of the others has a fault and a trace of its own.
            raise answer if asked_before is None else GatewayFault(answer.code, answer.reason)
        return answer

    def _end(self, bearer: Bearer) -> None:
        question = self._questions.pop(bearer.digest)
        if not question.cancelled():
            question.exception()  # the request that waited for it may have left

    def _require_place(self, bearer: Bearer) -> None:
        was_accepted = self._accepted.find(bearer.digest, asyncio.get_running_loop().time())
        places = self._places if was_accepted else self._places - self._places // _RESERVED_SHARE
        if len(self._questions) >= places:
            raise Overloaded("bearers that the Gateway is asked about")

    async def _ask(self, bearer: Bearer) -> bool | GatewayFault:
        now = asyncio.get_running_loop().time()
        try:
            await self._judge(bearer)
        except GatewayFault as fault:
            if fault.code is not ErrorCode.UNAUTHENTICATED:
                return fault
            self._accepted.forget(bearer.digest)
            accepted = False
        else:
            self._accepted.keep(bearer.digest, True, now)
            accepted = True
        self._answers.keep(bearer.digest, accepted, now)
        return accepted
