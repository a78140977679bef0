"""Refused addresses behind endpoints of every kind, names that rebind, and both units made to try each of them."""

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_network

import msgspec

from aop.contracts.errors import Refusal
from aop.contracts.publication import Release
from aop.net import policy as network_policy
from aop.net.origin import InvalidEndpoint
from aop.net.policy import AddressClass, classify
from proof.area import Findings, proves
from proof.fault_proxy import FaultProxy
from proof.network.traps import PORT, Names, Traps
from proof.world import World
from tests.support.agent import ScriptedAgent, a_task, data, scripted_agent
from tests.support.authority import Authority
from tests.support.loop import agent_card, published
from tests.support.peers import Behaviour, Received
from tests.support.publication import Provider
from tests.support.units import Reply

PUBLIC = "93.184.216.34"
AT_ONCE = 6
NAME, REBINDING = "rebinding.test", "acme:rebinding"
_DISALLOWED, _NO_ROUTE = (403, "DISALLOWED_NETWORK"), (503, "ROUTE_NOT_FOUND")
PRIVATE = ("169.254.169.254", "127.0.0.1", "::1")
REUSED_SECONDS = 5.0
"""For so long a unit may use an answer again."""
HAZARDS = (
    "169.254.169.254 fd00:ec2::254 100.100.100.200 168.63.129.16 127.0.0.1 127.255.255.254 0.0.0.0 :: ::1 ::127.0.0.1"
    " ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::a9fe:a9fe 2002:7f00:1::"
    " 2002:a9fe:a9fe::1 2001:0:7f00:1::1 4000::1 fe80::1 ff02::1 255.255.255.255"
)
SPELLINGS = (
    "127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 127.0.0.0x1 ①②⑦.⓪.⓪.① 127。0。0。1 [::1%25lo]"
    " [0:0:0:0:0:ffff:127.0.0.1 user@127.0.0.1 127.0.0.1%00.test"
)


class Way(StrEnum):
    NAME = "a name"
    PLAIN = "a name, without TLS"
    LITERAL = "the address itself"
    AMONG_PUBLIC = "a name with a public address first"
    ALLOWED = "an allowed name"


@dataclass(frozen=True)
class Case:
    number: int
    address: str
    way: Way

    @property
    def name(self) -> str:
        return f"{'allowed' if self.way is Way.ALLOWED else 'host'}-{self.number}.test"

    @property
    def endpoint(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        scheme = "http" if self.way is Way.PLAIN else "https"
        return f"{scheme}://{host if self.way is Way.LITERAL else self.name}:{PORT}/a2a"

    @property
    def answer(self) -> Sequence[str]:
        """All of it refused because of one; what is local needs more than an allowed name to be."""
        mixed = self.way is Way.AMONG_PUBLIC or (
            self.way is Way.ALLOWED and classify(self.address) is AddressClass.LOCAL
        )
        return (PUBLIC, self.address) if mixed else (self.address,)


def addresses(chance: random.Random, of_each: int) -> list[str]:
    """Some of every row of the table, the ends among them when there is room, and those that are known to be tried."""
    tables = json.loads((network_policy.addresses._FILE).read_bytes())
    found = [address for address in HAZARDS.split() if classify(address) is not AddressClass.PUBLIC]
    for row in (*tables["local"], *tables["never"]):
        network = ip_network(row["range"])
        last = network.num_addresses - 1
        places = [0, last, *(chance.randint(0, last) for _ in range(of_each))]
        chosen = chance.sample(places, min(of_each, len(places)))
        found += [str(network[place]) for place in chosen]
    return list(dict.fromkeys(found))


def cases(chance: random.Random, of_each: int, *, every_way: bool) -> list[Case]:
    found = []
    for address in addresses(chance, of_each):
        ways = list(Way) if every_way else [chance.choice(list(Way))]
        found += [(address, way) for way in ways]
    return [Case(number, address, way) for number, (address, way) in enumerate(found)]


@dataclass(frozen=True)
class Refusals:
    """Both units, made to try addresses that they must refuse; `alice` is the provider of every Agent."""

    made: World
    names: Names
    traps: Traps
    found: Findings

    @property
    def alice(self) -> Provider:
        return Provider(self.made.first.gateway, self.made.first.token, "alice", "provider-of-alice")

    @proves(
        "With a listener on every address, no name, literal, mixed answer or allowed name leads the proof fetch"
        " or a call to a refused one."
    )
    async def require_refused(self, tried: Sequence[Case]) -> None:
        for case in tried:
            self.names.script(case.name, case.answer)
        gate = asyncio.Semaphore(AT_ONCE)

        async def both(case: Case) -> None:
            async with gate:
                await self._fetch(case)
                await self._call(case)

        await asyncio.gather(*(both(case) for case in tried))
        for number, host in enumerate(SPELLINGS.split()):
            await self._spelled(f"acme:spelled-{number}", f"https://{host}:{PORT}/a2a")
        self._require_nobody_trapped()

    async def _fetch(self, case: Case) -> None:
        """The Control Plane is asked to fetch a proof there."""
        agent_id = f"acme:fetched-{case.number}"
        await self.alice.register(case.endpoint, agent_id)
        reply, refusal = await self.alice.bind(case.endpoint, agent_id), (400, "INVALID_ENDPOINT")
        if reply.status == 201:
            reply, refusal = await self.alice.complete(await self.alice.challenge(reply.json)), _DISALLOWED
        self._require(f"proof fetch, {case.way}", reply, refusal, case.endpoint)

    async def _call(self, case: Case) -> None:
        """The Router is asked to call an Agent there, whose Release is published all the same."""
        first = self.made.first
        card = agent_card(self.made.agent, agent_id=f"acme:called-{case.number}")
        card["protocol"]["endpoint"] = case.endpoint
        try:
            release = await published(first.catalog, card)
        except (InvalidEndpoint, Refusal):
            return
        await first.owner.install(card["agentId"], accepted=[])
        await first.sees(release, "published")
        self._require(f"call, {case.way}", await first.invoke(agentId=card["agentId"]), _NO_ROUTE, case.endpoint)

    async def _spelled(self, agent_id: str, endpoint: str) -> None:
        """Hosts that a lenient reader would take for loopback are no endpoints at all."""
        await self.alice.post("/v1/agents", agent_card(self.made.agent, agent_id=agent_id))
        reply = await self.alice.bind(endpoint, agent_id)
        self._require("odd spelling of loopback", reply, (400, "INVALID_ENDPOINT"), endpoint)

    @proves(
        "A name that is public when it is judged and private when it is asked again is looked up once for each"
        " piece of work, and every connection of it goes to the judged address."
    )
    async def require_one_judgement(self, authority: Authority) -> None:
        async with scripted_agent(NAME, tls=authority.server_context(NAME)) as agent:
            self.traps.led_on[PUBLIC] = FaultProxy("127.0.0.1", agent.port)
            agent.port = PORT
            await self._publish(agent)
            self.names.script(NAME, [PUBLIC], PRIVATE)
            working = _then_leaving(a_task("working"))
            agent.script(working, working, working, _then_leaving(a_task("completed", [data({"done": True})])))
            self._require_once("call to a rebinding name", await self.made.first.invoke(agentId=REBINDING))
            dialled = len({received.connection for received in agent.received})
            self.found.require(dialled >= 4, f"the Router dialled {dialled} times only")
            await asyncio.sleep(REUSED_SECONDS + 0.1)
            reply = await self.made.first.invoke(agentId=REBINDING)
            self._require("call after the name was rebound", reply, _NO_ROUTE, NAME)
        self._require_nobody_trapped()

    async def _publish(self, agent: ScriptedAgent) -> None:
        """By a proof that is fetched from the public address, with the name already private for the next to ask."""
        assert (await self.alice.post("/v1/agents", agent_card(agent, agent_id=REBINDING))).status == 201
        binding = (await self.alice.bind(agent.url, REBINDING)).json
        challenge = await self.alice.challenge(binding)
        agent.serve(challenge["challengeId"], challenge["proof"])
        self.names.script(NAME, [PUBLIC], PRIVATE)
        self._require_once("proof fetch from a rebinding name", await self.alice.complete(challenge))
        release = await self.alice.move("publish", await self.alice.new_release(binding))
        await self.made.first.owner.install(REBINDING, accepted=[])
        await self.made.first.sees(msgspec.convert(release, Release), "published")

    def _require(self, what: str, reply: Reply, refusal: tuple[int, str], where: str) -> None:
        right = (reply.status, reply.json.get("code")) == refusal
        self.found.require(right, f"{what}, {where}: {reply.status} {reply.body[:200]!r}")
        self.found.hits[what] += 1

    def _require_once(self, what: str, reply: Reply) -> None:
        self.found.require(reply.status == 200, f"{what}: {reply.status} {reply.body!r}")
        lookups = self.names.lookups[NAME]
        self.found.require(lookups == 1, f"{what}: looked up {lookups} times")
        self.found.hits[what] += 1

    def _require_nobody_trapped(self) -> None:
        seen = sorted(self.traps.seen.items())
        self.found.broken += [f"{address} was connected to, {count} times" for address, count in seen]


def _then_leaving(behaviour: Behaviour) -> Behaviour:
    """So that the next request needs a connection of its own."""

    async def behave(received: Received) -> None:
        await behaviour(received)
        received.writer.close()

    return behave
