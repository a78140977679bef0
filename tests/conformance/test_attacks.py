"""Every attack on the credential, sent over HTTP to every sample Agent, gets the fixed rejection."""

import asyncio

import pytest

from aop.agent.check.attacks import Attack, attacks
from aop.net.http import HttpClient
from tests.agent.agents import ask, require_rejection
from tests.agent.samples import RunningSample

pytestmark = pytest.mark.second_ring

QUERY = {"jsonrpc": "2.0", "id": "1", "method": "tasks/get", "params": {"id": "none", "historyLength": 1}}


@pytest.mark.rows("AUTH-08", "AUTH-09", "AUTH-10", "AUTH-12b", "AUTH-13")
@pytest.mark.parametrize("attack", list(attacks()), ids=lambda attack: attack.name)
async def test_an_attack_on_a_sample_agent_is_rejected(
    sample: RunningSample, client: HttpClient, attack: Attack
) -> None:
    draft = sample.router.draft(QUERY, parent="inv_parent")
    hostile, good = attack.make(draft), draft.signed()
    require_rejection(await ask(client, sample.port, "POST", "/", hostile.headers, hostile.body), attack.status)
    assert (await ask(client, sample.port, "POST", "/", good.headers, good.body)).status == 200


@pytest.mark.rows("AUTH-11")
async def test_of_64_presentations_at_once_a_sample_agent_accepts_exactly_one(
    sample: RunningSample, client: HttpClient
) -> None:
    request = sample.router.request(QUERY)
    sent = (ask(client, sample.port, "POST", "/", request.headers, request.body) for _ in range(64))
    statuses = sorted(answer.status for answer in await asyncio.gather(*sent))
    assert statuses == [200] + [401] * 63


async def test_a_sample_agent_serves_a_proof_while_its_file_is_there(sample: RunningSample, client: HttpClient) -> None:
    path, proof = "/.well-known/platform/challenges/chal_1", "b" * 64
    (sample.folder / "chal_1").write_text(proof)
    assert (await ask(client, sample.port, "GET", path)).body == proof.encode()
    (sample.folder / "chal_1").unlink()
    assert (await ask(client, sample.port, "GET", path)).status == 404
