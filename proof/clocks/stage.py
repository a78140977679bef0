"""Two of each unit whose clocks can be set, around an Agent that checks credentials by its own clock."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nacl.signing import SigningKey

from aop.agent import ReplayMemory, Trust, Verifier
from aop.agent.guard.verifier import Rejected
from aop.base.canonical import to_base64url
from aop.base.clock import utc_now
from aop.contracts.signing import VerifyKey
from proof.area import Findings, Run
from proof.clocks.unit import set_ahead
from proof.record import CallResult
from proof.traffic import answering
from proof.world import Plan, World, world_of
from tests.agent.agents import REJECTIONS
from tests.support.agent import credential_of
from tests.support.nested import ISSUER
from tests.support.peers import Behaviour, Received
from tests.support.replicas import Replica
from tests.support.settings import ROUTER_SEED

HOUR = 3600.0


@dataclass(frozen=True)
class Judgement:
    """`after_issue` and `to_expiry` are seconds; a credential is valid from its issue until before its expiry."""

    after_issue: float
    to_expiry: float
    accepted: bool
    passed: bool
    """This Agent's clock has been past the expiry before: the credential may be one that was forgotten."""

    @property
    def expected(self) -> bool:
        return self.after_issue >= 0 and self.to_expiry > 0

    @property
    def right(self) -> bool:
        return self.accepted == self.expected or (self.passed and not self.accepted)


@dataclass
class CheckingAgent:
    """`ahead` is its clock against the machine's; `after_issue` and `before_expiry` set an exact moment instead."""

    audience: str
    does: Behaviour
    ahead: float = 0.0
    after_issue: float | None = None
    before_expiry: float | None = None
    judgements: list[Judgement] = field(default_factory=list)
    _now: datetime = field(default_factory=utc_now)
    _latest: float = 0.0

    def __post_init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """As an Agent that was just started, which has seen no credential yet."""
        self._latest = 0.0
        key = VerifyKey.parse(to_base64url(bytes(SigningKey(ROUTER_SEED).verify_key)))
        self._verifier = Verifier(Trust(ISSUER, self.audience, "router-1", key), ReplayMemory(), lambda: self._now)

    async def meet(self, request: Received) -> None:
        claims = credential_of(request).claims
        self._now = datetime.fromtimestamp(self._moment(claims["iat"], claims["exp"]), UTC)
        accepted = self._accepts(request)
        now, passed = self._now.timestamp(), self._latest >= claims["exp"]
        self._latest = max(self._latest, now)
        self.judgements.append(Judgement(now - claims["iat"], claims["exp"] - now, accepted, passed))
        await (self.does(request) if accepted else request.answer(REJECTIONS[401], 401))

    def _moment(self, issued: int, expires: int) -> float:
        if self.after_issue is not None:
            return issued + self.after_issue
        if self.before_expiry is not None:
            return expires - self.before_expiry
        return utc_now().timestamp() + self.ahead

    def _accepts(self, request: Received) -> bool:
        headers = [(name.encode(), value.encode()) for name, value in request.headers]
        try:
            self._verifier.verify(headers, request.body)
        except Rejected:
            return False
        return True


@dataclass
class Stage:
    run: Run
    made: World
    found: Findings
    agent: CheckingAgent
    results: list[CallResult] = field(default_factory=list)

    def set(self, unit: Replica, ahead: float) -> None:
        """The clock of the unit, from its next use on."""
        set_ahead(_clock(unit), ahead)
        self.found.hits[f"clock of {unit.name} {'set right' if ahead == 0 else 'set wrong'}"] += 1

    def set_right(self) -> None:
        for unit in self.made.units:
            self.set(unit, 0)
        self.agent.ahead, self.agent.after_issue, self.agent.before_expiry = 0.0, None, None

    async def call(self, **how: Any) -> CallResult:
        self.results.append(await self.made.call(**how))
        return self.results[-1]


@asynccontextmanager
async def staged(run: Run, found: Findings) -> AsyncIterator[Stage]:
    async with world_of(run, Plan(pairs=2, launched=_launched)) as made:
        agent = CheckingAgent(made.agent.origin, answering())
        made.agent.usual = (agent.meet,)
        yield Stage(run, made, found, agent)


def _clock(unit: Replica) -> Path:
    return unit.log.with_suffix(".clock")


def _launched(unit: Replica) -> Replica:
    set_ahead(_clock(unit), 0)
    return replace(unit, command=("-m", "proof.clocks.unit"), options=(str(_clock(unit)),))
