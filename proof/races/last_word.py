"""Callers who never stop asking while an Agent is taken from them: what is answered after the last word."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import asyncpg

from proof.area import Findings, proves
from proof.races.ring import Corner, Outcome, Prize, Ring
from proof.traffic import held_parent
from tests.support.nested import Parent

CALLERS = 6
WORDS: Mapping[str, Outcome] = {
    "revoke": (409, "AGENT_RELEASE_REVOKED"),
    "suspend": (409, "AGENT_RELEASE_SUSPENDED"),
    "disable Card": (409, "AGENT_DISABLED"),
    "disable": (409, "INSTALLATION_DISABLED"),
    "delete": (404, "AGENT_NOT_INSTALLED"),
}
"""Each act that ends the use of an Agent, and what every later call is told."""


@dataclass
class Crowd:
    """Counts answers; a call is `later` when it was sent after the act had been answered."""

    number: int
    said: asyncio.Event = field(default_factory=asyncio.Event)
    before: Counter[Outcome] = field(default_factory=Counter)
    later: Counter[Outcome] = field(default_factory=Counter)

    async def call(self, corner: Corner, prize: Prize) -> None:
        while self.later.total() < self.number:
            counted = self.later if self.said.is_set() else self.before
            counted[await corner.act("invoke", prize)] += 1

    async def call_nested(self, parent: Parent, prize: Prize) -> None:
        while self.later.total() < self.number:
            counted = self.later if self.said.is_set() else self.before
            reply = await parent.call(prize.agent_id)
            counted[reply.status, reply.code if reply.status >= 400 else ""] += 1


@proves(
    "Once a revoke, a suspend, a disable or an uninstall was answered, no later call is accepted, neither"
    " through a Gateway nor from within a running Invocation; what was accepted before is what the Ledger"
    " holds."
)
async def hear(ring: Ring, act: str, number: int, found: Findings) -> None:
    """One Agent, in full use through both Gateways and from within an Invocation, is taken away."""
    prize, crowd = await ring.released(f"word:{act.replace(' ', '-').lower()}"), Crowd(number)
    async with held_parent(ring.platform) as parent, asyncio.TaskGroup() as tasks:
        for place in range(CALLERS):
            tasks.create_task(crowd.call(ring.corners[place % len(ring.corners)], prize))
        tasks.create_task(crowd.call_nested(parent, prize))
        while crowd.before[200, ""] < 3 * CALLERS:  # noqa: ASYNC110  in full use first; the callers tell nobody
            await asyncio.sleep(0.01)
        answer = await ring.chance.choice(ring.corners).act(act, prize)
        crowd.said.set()
    found.require(answer == (200, ""), f"{act}: {answer}")
    found.require(set(crowd.before) <= {(200, ""), WORDS[act]}, f"around {act}: {dict(crowd.before)}")
    found.require(set(crowd.later) == {WORDS[act]}, f"after {act} was answered: {dict(crowd.later)}")
    accepted = crowd.before[200, ""] + crowd.later[200, ""]
    recorded = await _recorded(ring, prize)
    found.require(recorded == accepted, f"{act}: {accepted} calls were answered with a result, {recorded} recorded")
    found.hits[f"calls while in use: {act}"] += accepted
    found.hits[f"calls after: {act}"] += crowd.later.total()


async def _recorded(ring: Ring, prize: Prize) -> int:
    connection = await asyncpg.connect(ring.platform.stores.router)
    try:
        number: int = await connection.fetchval(
            "SELECT count(*) FROM ledger.invocation WHERE target_agent_id = $1", prize.agent_id
        )
    finally:
        await connection.close()
    return number
