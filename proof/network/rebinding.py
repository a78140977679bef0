"""A name that changes its mind: public when it is judged, private whenever it is asked again."""

import asyncio

import msgspec

from aop.contracts.publication import Release
from proof.area import Findings
from proof.fault_proxy import FaultProxy
from proof.network.names import Names
from proof.network.refused import PUBLIC
from proof.network.traps import PORT, Traps
from proof.world import World
from tests.support.agent import ScriptedAgent, a_task, data, scripted_agent
from tests.support.authority import Authority
from tests.support.loop import agent_card
from tests.support.peers import Behaviour, Received
from tests.support.publication import Provider

NAME = "rebinding.test"
PRIVATE = ("169.254.169.254", "127.0.0.1", "::1")
REUSED_SECONDS = 5.0
"""For so long a unit may use an answer again."""


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
        found.require(names.asked[NAME] == 1, f"one Invocation looked its name up {names.asked[NAME]} times")
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
    found.require(names.asked[NAME] == 1, f"one proof fetch looked its name up {names.asked[NAME]} times")
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
