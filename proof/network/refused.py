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
NAME = "rebinding.test"
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


@proves(
    "With a listener on every address, no name, literal, mixed answer or allowed name leads the proof fetch"
    " or a call to a refused one."
)
async def require_refused(made: World, names: Names, traps: Traps, tried: Sequence[Case], found: Findings) -> None:
    for case in tried:
        names.script(case.name, case.answer)
    gate = asyncio.Semaphore(AT_ONCE)

    async def both(case: Case) -> None:
        async with gate:
            await _fetch(made, case, found)
            await _call(made, case, found)

    await asyncio.gather(*(both(case) for case in tried))
    for number, host in enumerate(SPELLINGS.split()):
        await _spelled(made, f"acme:spelled-{number}", f"https://{host}:{PORT}/a2a", found)
    found.broken += [f"{address} was connected to, {count} times" for address, count in sorted(traps.seen.items())]


async def _fetch(made: World, case: Case, found: Findings) -> None:
    """The Control Plane is asked to fetch a proof there."""
    alice = Provider(made.first.gateway, made.first.token, "alice", "provider-of-alice")
    agent_id = f"acme:fetched-{case.number}"
    await alice.register(case.endpoint, agent_id)
    bound = await alice.bind(case.endpoint, agent_id)
    if bound.status == 201:
        reply = await alice.complete(await alice.challenge(bound.json))
        right = (reply.status, reply.code) == (403, "DISALLOWED_NETWORK")
        found.require(right, f"proof fetch from {case.address} by {case.way}: {_text(reply)}")
    else:
        found.require(bound.code == "INVALID_ENDPOINT", f"binding of {case.endpoint}: {_text(bound)}")
    found.hits[f"proof fetch, {case.way}"] += 1


async def _call(made: World, case: Case, found: Findings) -> None:
    """The Router is asked to call an Agent there, whose Release is published all the same."""
    card = agent_card(made.agent, agent_id=f"acme:called-{case.number}")
    card["protocol"]["endpoint"] = case.endpoint
    try:
        release = await published(made.first.catalog, card)
    except (InvalidEndpoint, Refusal):
        return
    await made.first.owner.install(card["agentId"], accepted=[])
    await made.first.sees(release, "published")
    reply = await made.first.invoke(agentId=card["agentId"])
    right = (reply.status, reply.code) == (503, "ROUTE_NOT_FOUND")
    found.require(right, f"call to {case.address} by {case.way}: {_text(reply)}")
    found.hits[f"call, {case.way}"] += 1


async def _spelled(made: World, agent_id: str, endpoint: str, found: Findings) -> None:
    """Hosts that a lenient reader would take for loopback are no endpoints at all."""
    alice = Provider(made.first.gateway, made.first.token, "alice", "provider-of-alice")
    await alice.post("/v1/agents", agent_card(made.agent, agent_id=agent_id))
    bound = await alice.bind(endpoint, agent_id)
    found.require((bound.status, bound.code) == (400, "INVALID_ENDPOINT"), f"{endpoint}: {_text(bound)}")
    found.hits["odd spelling of loopback"] += 1


def _text(reply: Reply) -> str:
    return f"{reply.status} {reply.body[:200]!r}"


@proves(
    "A name that is public when it is judged and private when it is asked again is looked up once for each"
    " piece of work, and every connection of it goes to the judged address."
)
async def require_one_judgement(made: World, names: Names, traps: Traps, authority: Authority, found: Findings) -> None:
    async with scripted_agent(NAME, tls=authority.server_context(NAME)) as agent:
        traps.led_on[PUBLIC] = FaultProxy("127.0.0.1", agent.port)
        agent.port = PORT
        agent_id = await _published(made, names, agent, found)
        names.script(NAME, [PUBLIC], PRIVATE)
        working = _then_leaving(a_task("working"))
        agent.script(working, working, working, _then_leaving(a_task("completed", [data({"done": True})])))
        reply = await made.first.invoke(agentId=agent_id)
        found.require(reply.status == 200, f"a call to a rebinding name: {reply.status} {reply.body!r}")
        connections = {received.connection for received in agent.received}
        found.require(len(connections) >= 4, f"the Router dialled {len(connections)} times only")
        found.require(names.lookups[NAME] == 1, f"one Invocation looked its name up {names.lookups[NAME]} times")
        found.hits["call to a rebinding name"] += 1
        await asyncio.sleep(REUSED_SECONDS + 0.1)
        reply = await made.first.invoke(agentId=agent_id)
        right = (reply.status, reply.code) == (503, "ROUTE_NOT_FOUND")
        found.require(right, f"a call after the name was rebound: {reply.status}")
        found.hits["call after the name was rebound"] += 1
    found.broken += [f"rebinding led to {address}, {count} times" for address, count in sorted(traps.seen.items())]


async def _published(made: World, names: Names, agent: ScriptedAgent, found: Findings) -> str:
    """By a proof that is fetched from the public address, with the name already private for the next to ask."""
    alice = Provider(made.first.gateway, made.first.token, "alice", "provider-of-alice")
    card = agent_card(agent, agent_id="acme:rebinding")
    assert (await alice.post("/v1/agents", card)).status == 201
    binding = (await alice.bind(agent.url, "acme:rebinding")).json
    challenge = await alice.challenge(binding)
    agent.serve(challenge["challengeId"], challenge["proof"])
    names.script(NAME, [PUBLIC], PRIVATE)
    proved = await alice.complete(challenge)
    found.require(proved.status == 200, f"the proof of a rebinding name: {proved.status} {proved.body!r}")
    found.require(names.lookups[NAME] == 1, f"one proof fetch looked its name up {names.lookups[NAME]} times")
    found.hits["proof fetch from a rebinding name"] += 1
    release = await alice.new_release(binding)
    release = await alice.move("publish", release)
    await made.first.owner.install("acme:rebinding", accepted=[])
    await made.first.sees(msgspec.convert(release, Release), "published")
    return "acme:rebinding"


def _then_leaving(behaviour: Behaviour) -> Behaviour:
    """So that the next request needs a connection of its own."""

    async def behave(received: Received) -> None:
        await behaviour(received)
        received.writer.close()

    return behave
