"""A Control Plane killed between the claim of a Challenge and its outcome: the Challenge is spent, no more."""

import asyncio
import json

import asyncpg
import pytest

from aop.local.ports import any_free_port
from aop.local.state import DatabaseUrls
from aop.net.http import HttpError
from tests.support.endpoints import agent_endpoint, stalling
from tests.support.errors import require_error
from tests.support.publication import Json, process_on, provider
from tests.units.processes import environment, served

pytestmark = pytest.mark.second_ring


async def used_challenges(stores: DatabaseUrls) -> list[str]:
    connection = await asyncpg.connect(stores.control_plane)
    rows = await connection.fetch("SELECT challenge_id FROM registry.challenge WHERE used_at IS NOT NULL")
    await connection.close()
    return [row["challenge_id"] for row in rows]


@pytest.mark.rows("PUB-11")
async def test_a_challenge_claimed_by_a_process_that_was_killed_is_spent_and_a_fresh_one_verifies(
    stores: DatabaseUrls,
) -> None:
    port = any_free_port()
    settings = environment(
        "control-plane",
        stores,
        PLATFORM_LISTEN_ADDRESS=f"127.0.0.1:{port}",
        PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=json.dumps(["127.0.0.1"]),
    )
    async with agent_endpoint("127.0.0.1") as agent, process_on(port) as unit:
        alice = await provider(unit, stores, "alice", "acme")
        async with served("control-plane", settings) as (process, _):
            binding = await alice.new_binding(agent.url)
            challenge: Json = await alice.challenge(binding)
            agent.behave = stalling()
            completion = asyncio.create_task(alice.complete(challenge))
            await agent.visited.wait()
            # The request has reached the endpoint, so the claim must already be there for everybody to see.
            assert await used_challenges(stores) == [challenge["challengeId"]]
            process.kill()
            with pytest.raises(HttpError):
                await completion
        agent.behave = None
        agent.serve(challenge["challengeId"], challenge["proof"])
        async with served("control-plane", settings):
            require_error(await alice.complete(challenge), 409, "CHALLENGE_REUSED", "2")
            assert await alice.binding(binding) == binding
            assert agent.connections == 1
            verified = await alice.verify_binding(binding, agent)
            assert verified["verificationStatus"] == "verified"
