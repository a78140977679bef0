"""Contests over one object, the answers that some order of the acts explains, and the ring they are held in."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, pairwise, permutations
from typing import Any

from aop.contracts.publication import Release, ReleaseState
from tests.support.catalog import provider_of
from tests.support.loop import CAPABILITY, SPACE, Platform, agent_card
from tests.support.publication import Json, Provider
from tests.support.units import Reply
from tests.support.workspaces import Owner

Outcome = tuple[int, str]
"""The status, and the code of an error."""
DONE, CREATED, CONFLICT = (200, ""), (201, ""), (409, "CONFLICT")
SUSPENDED, REUSED = (409, "AGENT_RELEASE_SUSPENDED"), (409, "CHALLENGE_REUSED")
MAX_APART_SECONDS = 0.012
"""Somewhat longer than an act takes: the one sent first is sometimes done before the next, mostly they meet."""


@dataclass(frozen=True)
class Contest:
    """`table` says for a state and an act the state that follows and the answer."""

    name: str
    start: str
    acts: Sequence[str]
    table: Mapping[tuple[str, str], tuple[str, Outcome]]

    @cached_property
    def possible(self) -> Mapping[tuple[Outcome, ...], frozenset[str]]:
        """The answers of the acts, in their own order, that some order of them has, with the states it may end in."""
        found: dict[tuple[Outcome, ...], set[str]] = {}
        for order in permutations(range(len(self.acts))):
            state, answers = self.start, dict[int, Outcome]()
            for index in order:
                state, answers[index] = self.table[state, self.acts[index]]
            found.setdefault(tuple(answers[index] for index in range(len(self.acts))), set()).add(state)
        return {answers: frozenset(states) for answers, states in found.items()}


def _installation_table() -> Mapping[tuple[str, str], tuple[str, Outcome]]:
    moves = {"enable": ("disabled", "enabled"), "disable": ("enabled", "disabled")}
    table: dict[tuple[str, str], tuple[str, Outcome]] = {}
    for state in ("enabled", "disabled", "uninstalled"):
        for act, (source, target) in moves.items():
            table[state, act] = (target, DONE) if state == source else (state, CONFLICT)
        table[state, "delete"] = ("uninstalled", CONFLICT if state == "uninstalled" else DONE)
    return table


CONTESTS: Sequence[Contest] = (
    Contest(
        "publish or revoke",
        "verified",
        ("publish", "revoke"),
        {
            ("verified", "publish"): ("published", DONE),
            ("verified", "revoke"): ("revoked", DONE),
            ("published", "revoke"): ("revoked", DONE),
            ("revoked", "publish"): ("revoked", CONFLICT),
        },
    ),
    Contest(
        "suspend or invoke",
        "published",
        ("suspend", "invoke"),
        {
            ("published", "suspend"): ("suspended", DONE),
            ("published", "invoke"): ("published", DONE),
            ("suspended", "invoke"): ("suspended", SUSPENDED),
        },
    ),
    Contest(
        "complete or complete",
        "pending",
        ("complete", "complete"),
        {("pending", "complete"): ("verified", DONE), ("verified", "complete"): ("verified", REUSED)},
    ),
    Contest("enable, disable or delete", "enabled", ("enable", "disable", "delete"), _installation_table()),
    Contest(
        "install or suspend",
        "published",
        ("install", "suspend"),
        {
            ("published", "install"): ("installed", CREATED),
            ("published", "suspend"): ("suspended", DONE),
            ("installed", "suspend"): ("installed and suspended", DONE),
            ("suspended", "install"): ("suspended", SUSPENDED),
        },
    ),
)


@dataclass(frozen=True)
class Prize:
    """What a contest is about; what it does not need is empty."""

    agent_id: str
    release: Release | None = None
    installation_id: str = ""
    challenge: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Corner:
    """One Gateway, and the principal who owns everything, acting through it."""

    owner: Owner
    provider: Provider

    @classmethod
    def of(cls, platform: Platform) -> "Corner":
        provider = Provider(platform.gateway, platform.token, "alice", provider_of("alice"))
        return cls(Owner(platform.gateway, platform.token), provider)

    async def act(self, act: str, prize: Prize) -> Outcome:
        acts: dict[str, Callable[[Prize], Awaitable[Reply]]] = {
            "complete": lambda prize: self.provider.complete(prize.challenge),
            "install": lambda prize: self.owner.try_install(prize.agent_id, accepted=[]),
            "enable": lambda prize: self.owner.set_status(prize.installation_id, "enabled"),
            "disable": lambda prize: self.owner.set_status(prize.installation_id, "disabled"),
            "delete": lambda prize: self.owner.uninstall(prize.installation_id),
            "disable Card": lambda prize: self.provider.post(f"/v1/agents/{prize.agent_id}/versions/1.0.0/disable"),
            "invoke": self._invoke,
        }
        reply = await acts[act](prize) if act in acts else await self._move(act, prize)
        return reply.status, reply.code if reply.status >= 400 else ""

    async def _invoke(self, prize: Prize) -> Reply:
        body: dict[str, Any] = {"agentId": prize.agent_id, "capability": CAPABILITY, "input": {}, "stream": False}
        return await self.owner.ask("POST", f"/{SPACE}/invocations", body)

    async def _move(self, act: str, prize: Prize) -> Reply:
        assert prize.release is not None
        return await self.provider.act(act, {"releaseId": prize.release.release_id})


@dataclass(frozen=True)
class Meeting:
    """The answers of the acts, in their own order, and whether one was sent before another was answered."""

    answers: tuple[Outcome, ...]
    met: bool


@dataclass(frozen=True)
class Ring:
    platform: Platform
    corners: Sequence[Corner]
    chance: random.Random
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    async def prize(self, contest: Contest) -> Prize:
        agent_id = f"race:agent-{next(self._numbers)}"
        if contest.start == "pending":
            return await self._unproved(agent_id)
        state = ReleaseState.VERIFIED if contest.start == "verified" else ReleaseState.PUBLISHED
        return await self.released(agent_id, state, installed="install" not in contest.acts)

    async def released(
        self, agent_id: str, state: ReleaseState = ReleaseState.PUBLISHED, *, installed: bool = True
    ) -> Prize:
        card = agent_card(self.platform.agent, agent_id=agent_id)
        await self.platform.catalog.register(card)
        release = await self.platform.catalog.release(card, state)
        if not installed or state is not ReleaseState.PUBLISHED:
            return Prize(agent_id, release)
        installation = await self.corners[0].owner.install(agent_id, accepted=[])
        return Prize(agent_id, release, installation["installationId"])

    async def hold(self, contest: Contest, prize: Prize, number: int) -> Meeting:
        """All acts at once, each through one of the Gateways, each in its turn a moment ahead of the others.

        In the first rounds each waits for the answer of the one before, so that every order has been there.
        """
        orders = list(permutations(range(len(contest.acts))))
        order, at_once = orders[number % len(orders)], number >= len(orders)
        answers, spans = dict[int, Outcome](), list[tuple[float, float]]()

        async def send(index: int, delay: float) -> None:
            await asyncio.sleep(delay)
            began = asyncio.get_running_loop().time()
            answers[index] = await self.chance.choice(self.corners).act(contest.acts[index], prize)
            spans.append((began, asyncio.get_running_loop().time()))

        delay = 0.0
        async with asyncio.TaskGroup() as tasks:
            for index in order:
                task = tasks.create_task(send(index, delay))
                delay += self.chance.uniform(0, MAX_APART_SECONDS)
                if not at_once:
                    delay = 0.0
                    await asyncio.wait({task})
        met = any(later[0] < earlier[1] for earlier, later in pairwise(sorted(spans)))
        return Meeting(tuple(answers[index] for index in range(len(contest.acts))), met)

    async def state(self, contest: Contest, prize: Prize) -> str:
        """As everybody can read it, in the words of the contest."""
        corner = self.chance.choice(self.corners)
        if contest.start == "pending":
            return str((await corner.provider.binding(prize.challenge))["verificationStatus"])
        if contest.start == "enabled":
            return str((await corner.owner.installation(prize.installation_id))["status"])
        assert prize.release is not None
        state = str((await corner.provider.release({"releaseId": prize.release.release_id}))["state"])
        if "install" not in contest.acts:
            return state
        _, code = await corner.act("invoke", prize)
        return state if code == "AGENT_NOT_INSTALLED" else f"installed and {state}"

    async def _unproved(self, agent_id: str) -> Prize:
        provider = self.corners[0].provider
        challenge = await provider.challenge(await provider.new_binding(self.platform.agent.url, agent_id))
        self.platform.agent.serve(challenge["challengeId"], challenge["proof"])
        return Prize(agent_id, challenge=challenge)
