"""An Agent Card as registered: read strictly, canonical bytes and digest computed once."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from aop.base.canonical import canonical, digest
from aop.cards.jobs import CardRead, CardRefused, ReadCardText
from aop.cards.rules import card_violations
from aop.cards.vetting import NotInLoop, SchemaVetting
from aop.cards.workers import SchemaWorkers
from aop.contracts.card import AgentCard
from aop.contracts.errors import InvalidRequest, Overloaded, Violation

MAX_SECONDS = 30.0
"""How long a Card may wait for its processor second."""
MAX_WAITING = 64
"""Jobs that may wait before a Card is turned away. Calls wait for the same processes, and they come first."""
_IN_LOOP_BYTES = 32 * 1024
"""The canonical form of a longer Card is not made in an event loop."""


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
        if self._workers.waiting >= self._max_waiting:
            raise Overloaded("Cards that wait to be read")
        try:
            async with asyncio.timeout(self._seconds):
                reply = await self._workers.run(ReadCardText(raw), len(raw))
        except TimeoutError:
            raise Overloaded("Cards that wait to be read") from None
        if isinstance(reply, CardRead):
            return _of_document(reply.document)
        raise InvalidRequest(*(reply.violations if isinstance(reply, CardRefused) else (_TOO_COSTLY,)))


_TOO_COSTLY = Violation("/skills", "CARD-6")


def _of_document(document: bytes) -> ReadCard:
    return ReadCard(msgspec.json.decode(document, type=AgentCard), document, digest(document))
