"""Area `answers`: an HTTP server that sends answers twice, late, unasked and in place of one another, called by two
Workspaces through connections that they share."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from proof.area import Area, Figure, Findings, Run, proves
from proof.caller import calling, request
from proof.record import CallResult
from proof.traffic import Load, Traffic, answering, traffic
from proof.world import ALLOWED, Plan, World, world_of
from tests.front.served import SKILL, served_front
from tests.support.doubled_answers import Say, echoed, http_answer
from tests.support.loop import CAPABILITY, SPACE, open_skill, published
from tests.support.nested import ANY_PORT
from tests.support.peers import Received, listening
from tests.support.settings import ROUTER_SEED

_OTHER_SPACE: Final = "other-space"
_SERVICE: Final = "acme:service"
"""A plain HTTP service, which does not stream."""
_AT_ONCE: Final = 12
_MAX_DELAY: Final = 0.02
_ALLOWED_CODES: Final = frozenset({"A2A_PROTOCOL_ERROR", "AGENT_UNAVAILABLE"})
_INTERIM: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_PLAN: Final = Plan(
    control_plane={ALLOWED: ANY_PORT}, router={ALLOWED: ANY_PORT}, card={"skills": [open_skill(outputSchema={})]}
)


@dataclass
class HostileOrigin:
    """Knows every answer that it ever gave to anybody, and does something else with each request."""

    random: Random
    ways: "Mapping[str, _Way]"
    say: Say = echoed
    met: Counter[str] = field(default_factory=Counter)
    _latest: bytes = b""
    _pending: dict[int, bytes] = field(default_factory=dict)
    _later: set[asyncio.Task[None]] = field(default_factory=set)

    async def meet(self, received: Received) -> None:
        own, latest = self.say(received), self._latest
        self._latest = own
        way = self.random.choice(sorted(self.ways))
        self.met[way] += 1
        before = self._pending.pop(received.connection, b"")
        await self.ways[way](self, received, before, own, latest or own)

    def later(self, received: Received, content: bytes) -> None:
        async def send() -> None:
            await asyncio.sleep(self.random.uniform(0, _MAX_DELAY))
            if not received.writer.is_closing():
                received.writer.write(content)

        task = asyncio.create_task(send())
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def as_it_should(self, received: Received, before: bytes, own: bytes, _: bytes) -> None:
        await received.send(before + own)

    async def twice_at_once(self, received: Received, before: bytes, own: bytes, _: bytes) -> None:
        await received.send(before + own + own)

    async def twice(self, received: Received, before: bytes, own: bytes, _: bytes) -> None:
        await received.send(before + own)
        self.later(received, own)

    async def again_with_the_next(self, received: Received, before: bytes, own: bytes, _: bytes) -> None:
        self._pending[received.connection] = own
        await received.send(before + own)

    async def late(self, received: Received, before: bytes, own: bytes, _: bytes) -> None:
        await asyncio.sleep(self.random.uniform(0, _MAX_DELAY))
        await received.send(before + own)

    async def that_of_another(self, received: Received, before: bytes, own: bytes, latest: bytes) -> None:
        await received.send(before + latest + own)

    async def before_it_was_asked(self, received: Received, before: bytes, own: bytes, latest: bytes) -> None:
        await received.send(before + own)
        request_id = self.random.choice(["1", "2", received.json["params"]["message"]["messageId"]])
        self.later(received, echoed(received, request_id))

    async def in_halves(self, received: Received, before: bytes, own: bytes, _: bytes) -> None:
        cut = self.random.randrange(1, len(own))
        await received.send(before + own[:cut])
        await asyncio.sleep(self.random.uniform(0, _MAX_DELAY))
        await received.send(own[cut:] + own[:cut])
        self.later(received, own[cut:])

    async def with_interim_answers(self, received: Received, before: bytes, own: bytes, _: bytes) -> None:
        await received.send(before + _INTERIM + own + _INTERIM)


_Way = Callable[[HostileOrigin, Received, bytes, bytes, bytes], Awaitable[None]]
_WAYS: Final[Mapping[str, _Way]] = {
    way.__name__.replace("_", " "): way
    for way in (
        HostileOrigin.as_it_should,
        HostileOrigin.twice_at_once,
        HostileOrigin.twice,
        HostileOrigin.again_with_the_next,
        HostileOrigin.late,
        HostileOrigin.that_of_another,
        HostileOrigin.before_it_was_asked,
        HostileOrigin.in_halves,
        HostileOrigin.with_interim_answers,
    )
}
_OF_A_SERVICE: Final = {name: way for name, way in _WAYS.items() if "another" not in name and "asked" not in name}
"""Answers of a plain HTTP service have no ids: the first one on a new connection is the call's own, whosever it is."""


@dataclass(frozen=True)
class JudgedCall:
    """One call and what came of it."""

    value: Any
    stream: bool
    agent_id: str
    result: CallResult

    @proves(
        "The result of a call is never that of another one, of the same or another Workspace, whatever an Agent's"
        " server sends twice, late or unasked on connections that they share: it is the call's own,"
        " A2A_PROTOCOL_ERROR or AGENT_UNAVAILABLE, in JSON and stream, directly and behind the front,"
        " where it may be a plain HTTP service too."
    )
    def judge(self, found: Findings) -> None:
        result, name = self.result, f"{self.agent_id}, {self.value}, {'stream' if self.stream else 'JSON'}"
        if result.outcome == "succeeded":
            values = result.chunk_values if self.stream else [json.loads(result.body)["result"]]
            found.require(values == [self.value], f"{name}: the result was {values}")
        else:
            found.require(result.code in _ALLOWED_CODES, f"{name}: {result.outcome}, {result.code}")
            found.require(all(value == self.value for value in result.chunk_values), f"{name}: a chunk of another")


async def run(run: Run) -> Findings:
    found, origin = Findings(), HostileOrigin(run.random, _WAYS)
    service = HostileOrigin(run.random, _OF_A_SERVICE, lambda received: http_answer(received.body))
    async with (
        listening(origin.meet) as port,
        listening(service.meet) as service_port,
        served_front(_folder(run, "front"), f"http://127.0.0.1:{port}/behind", seed=ROUTER_SEED) as front,
        served_front(
            _folder(run, "front-of-service"),
            f"http://127.0.0.1:{service_port}",
            "http",
            seed=ROUTER_SEED,
            routes=[{"skill": SKILL, "path": "/ask"}],
            limits={"agent_id": _SERVICE, "streaming": False},
        ) as front_of_service,
        world_of(run, _PLAN) as made,
    ):
        made.agent.usual = (answering(1),)
        await made.first.owner.workspace(_OTHER_SPACE)
        agents = [(await _installed(made, f"http://127.0.0.1:{port}/{name}"), CAPABILITY) for name in ("one", "two")]
        agents += [(await _fronted(made, one.card), SKILL) for one in (front, front_of_service)]
        async with traffic(made, Load(json=2, streams=1, pause=0.02)) as beside:
            calls = await _calls(run, made, agents, run.pick(600, 10_000))
    for one in calls:
        one.judge(found)
    _require_unharmed(found, beside)
    found.hits.update({way: origin.met[way] for way in _WAYS})
    found.hits.update({f"{way}, by a service": service.met[way] for way in _OF_A_SERVICE})
    codes = Counter(one.result.code or "succeeded" for one in calls)
    found.figures += [Figure(f"calls that ended {code}", count) for code, count in sorted(codes.items())]
    found.figures.append(Figure("answers that met another call", codes["A2A_PROTOCOL_ERROR"], at_least=len(calls) / 50))
    return found


@proves("Honest calls to another server beside them all succeed.")
def _require_unharmed(found: Findings, honest: Traffic) -> None:
    found.require(bool(honest.results) and not honest.failures, f"{len(honest.failures)} honest calls failed")


async def _calls(run: Run, made: World, agents: Sequence[tuple[str, str]], count: int) -> list[JudgedCall]:
    """Every call from a caller of its own; a few at once, so that connections are used again at once."""
    numbers, calls, random = iter(range(count)), list[JudgedCall](), run.random

    async def go_on() -> None:
        for number in numbers:
            space, (agent_id, skill) = random.choice([SPACE, _OTHER_SPACE]), random.choice(agents)
            stream, value = random.random() < 0.5 and agent_id != _SERVICE, {"of": space, "number": number}
            body = made.first.request(json.dumps(value).encode(), stream=stream, agentId=agent_id, capability=skill)
            async with calling(made.first.gateway.port) as caller:
                path = f"/v1/workspaces/{space}/invocations"
                await caller.send(request(path, body, made.first.token, stream=stream))
                calls.append(JudgedCall(value, stream, agent_id, await caller.answer(60)))

    await asyncio.gather(*(go_on() for _ in range(_AT_ONCE)))
    return calls


def _folder(run: Run, name: str) -> Any:
    folder = run.folder / name
    folder.mkdir(parents=True)
    return folder


async def _installed(made: World, endpoint: str) -> str:
    """An Agent at the hostile origin, in both Workspaces."""
    protocol = {**made.first.card["protocol"], "endpoint": endpoint}
    card, _, _ = await made.first.installed(protocol=protocol, skills=[open_skill(outputSchema={})])
    permissions = [permission["id"] for permission in card["permissions"]]
    await made.first.owner.install(card["agentId"], accepted=permissions, space=_OTHER_SPACE)
    return str(card["agentId"])


async def _fronted(made: World, card: dict[str, Any]) -> str:
    release = await published(made.first.catalog, card)
    permissions = [permission["id"] for permission in card["permissions"]]
    for space in (SPACE, _OTHER_SPACE):
        await made.first.owner.install(card["agentId"], accepted=permissions, space=space)
    await made.first.sees(release, "published")
    return str(card["agentId"])


AREA = Area("answers", "Answers to others", run, (JudgedCall.judge, _require_unharmed))
