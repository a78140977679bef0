"""An Agent of A2A 0.3 calls an Agent of A2A 1.0 behind a front: one Trace, right parents, the same facts as always.

And when that Agent is dead, the Router records what it is for every Agent: not available, and why.
"""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from aop.local.state import DatabaseUrls
from tests.front import proto
from tests.front.played import PlayedAgent
from tests.front.served import SKILL, served_front
from tests.support.loop import Changes, published, running_platform
from tests.support.nested import ANY_PORT, running_parent
from tests.support.peers import listening
from tests.support.settings import ROUTER_SEED

PERMISSIONS = ["documents.read"]


@pytest.mark.rows("FRONT-05")
async def test_a_nested_call_to_an_agent_of_another_version_is_one_trace_and_to_a_dead_one_unavailable(
    stores: DatabaseUrls, tmp_path: Path
) -> None:
    allowed = {"PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON": ANY_PORT}
    new = proto.streamed(proto.task("WORKING"), proto.artifact({"text": "made"}), proto.status("COMPLETED"))
    agent = PlayedAgent(new)
    async with (
        running_platform(stores, Changes(control_plane=allowed, router=allowed)) as platform,
        AsyncExitStack() as alive,
        served_front(tmp_path, await _started(agent, alive), "a2a-1.0", seed=ROUTER_SEED) as front,
    ):
        release = await published(platform.catalog, front.card)
        await platform.owner.install(front.card["agentId"], accepted=PERMISSIONS)
        await platform.sees(release, "published")
        async with running_parent(platform) as parent:
            reply = await parent.call(front.card["agentId"], capability=SKILL)
            assert (reply.status, reply.json["result"]) == (200, "made")
            trace = await platform.read(f"/traces/{parent.claims['traceId']}")
            types = await platform.types(reply.json["invocationId"])
            await alive.aclose()
            dead = await parent.call(front.card["agentId"], capability=SKILL)
            record = (await platform.detail(dead.json["invocationId"]))["invocation"]
    root, child = sorted(trace["invocations"], key=lambda record: "parentInvocationId" in record)
    assert child["parentInvocationId"] == root["invocationId"] == parent.invocation_id
    assert child["rootTaskId"] == root["rootTaskId"]
    assert child["caller"] == {"type": "agent", "id": platform.card["agentId"]}
    assert child["status"] == "succeeded"
    assert child["agentReleaseId"] == release.release_id
    assert types[-1].endswith("succeeded")
    assert agent.received[0].values("x-platform-delegation") == []
    unavailable = ("AGENT_UNAVAILABLE", "http_server_error")
    assert (dead.json["code"], dead.json["reason"]) == (record["errorCode"], record["reason"]) == unavailable


async def _started(agent: PlayedAgent, alive: AsyncExitStack) -> str:
    """Its address; it is dead when the stack is closed."""
    return f"http://127.0.0.1:{await alive.enter_async_context(listening(agent.meet))}/base"
