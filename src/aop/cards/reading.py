"""An Agent Card as registered: read strictly, canonical bytes and digest computed once; two of them compared."""

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from aop.base.canonical import canonical, digest
from aop.cards.jobs import CardRead, CardRefused, CompareCards, Comparison, Job, ReadCardText, Reply
from aop.cards.rules import card_violations
from aop.cards.vetting import NotInLoop, SchemaVetting
from aop.cards.workers import SchemaWorkers
from aop.contracts.card import AgentCard
from aop.contracts.compatibility import Compatible, SchemaAnswer, SkillAnswers
from aop.contracts.errors import InvalidRequest, Overloaded, Violation

MAX_SECONDS = 30.0
"""How long a Card may wait for its processor second."""
MAX_WAITING = 64
"""Jobs that may wait before a Card is turned away. Calls wait for the same processes, and they come first."""
_IN_LOOP_BYTES = 32 * 1024
"""The canonical form of a longer Card is not made in an event loop."""
_LAST = sys.maxsize
"""A size after all others: calls and Cards that wait for a process go before a comparison."""


@dataclass(frozen=True)
class ReadCard:
    card: AgentCard
    document: bytes
    digest: str


def read_card(raw: bytes, value: object, vetting: SchemaVetting | None = None) -> ReadCard:
    """`value` is the parsed text of `raw` and follows the Card's schema; CARD-1 to CARD-6 are checked here."""
    violations = card_violations(raw, cast("Mapping[str, Any]", value), vetting)
    if violations:
        raise InvalidRequest(*violations)
    return _of_document(canonical(value))


class CardReader:
    """Reads Cards for a unit: a small one at once, any other in a schema process and within its processor time."""

    def __init__(self, workers: SchemaWorkers, seconds: float = MAX_SECONDS, max_waiting: int = MAX_WAITING) -> None:
        self._workers = workers
        self._seconds = seconds
        self._max_waiting = max_waiting

    async def read(self, raw: bytes, value: object) -> ReadCard:
        if len(raw) <= _IN_LOOP_BYTES:
            try:
                return read_card(raw, value, SchemaVetting.in_loop())
            except NotInLoop:
                pass
        reply = await self._run(ReadCardText(raw), len(raw))
        if isinstance(reply, CardRead):
            return _of_document(reply.document)
        raise InvalidRequest(*(reply.violations if isinstance(reply, CardRefused) else (_TOO_COSTLY,)))

    async def compare(self, before: bytes, after: bytes) -> tuple[SkillAnswers, ...]:
        """What the newer of two registered versions means for each Skill of both, always compared in a process."""
        reply = await self._run(CompareCards(before, after), _LAST)
        return _answers.decode(reply.skills) if isinstance(reply, Comparison) else _not_decided(before, after)

    async def _run(self, job: Job, size: int) -> Reply:
        if self._workers.waiting >= self._max_waiting:
            raise Overloaded("Cards that wait for a schema process")
        try:
            async with asyncio.timeout(self._seconds):
                return await self._workers.run(job, size)
        except TimeoutError:
            raise Overloaded("Cards that wait for a schema process") from None


_answers = msgspec.json.Decoder(tuple[SkillAnswers, ...])
_TOO_COSTLY = Violation("/skills", "CARD-6")


def _of_document(document: bytes) -> ReadCard:
    return ReadCard(msgspec.json.decode(document, type=AgentCard), document, digest(document))


def _not_decided(before: bytes, after: bytes) -> tuple[SkillAnswers, ...]:
    """For Cards whose comparison takes more than its processor time or memory: nothing of them is proved."""
    older = {skill.id for skill in msgspec.json.decode(before, type=AgentCard).skills}
    newer = (skill.id for skill in msgspec.json.decode(after, type=AgentCard).skills)
    answer = SchemaAnswer(compatible=Compatible.NOT_DECIDED)
    return tuple(SkillAnswers(skill_id=one, inputs=answer, outputs=answer) for one in newer if one in older)
