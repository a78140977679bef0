"""No payload, credential, token or proof leaves a unit by telemetry."""

from typing import Any

import pytest

from tests.support.agent import a_message, credential_of, data, rpc_error
from tests.support.canaries import require_absent
from tests.support.collector import OtlpCollector
from tests.support.loop import Platform, agent_card
from tests.support.nested import running_parent
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE, router_environment
from tests.support.stream import streaming
from tests.support.streaming_agent import message, streamed

INPUT, OUTPUT, FAULT, CHUNK = "canary-input-7d1f", "canary-output-93ab", "canary-fault-55e0", "canary-chunk-1b2c"

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def everything(platform: Platform) -> tuple[list[str], dict[str, str]]:
    """One call of each kind, with something secret in every place: the traces, and the secrets."""
    content = b'{"text":"%b"}' % INPUT.encode()
    platform.agent.script(a_message(data({"secret": OUTPUT})))
    done = await platform.invoke(content)
    assert OUTPUT.encode() in done.body
    platform.agent.script(rpc_error(-32000, FAULT))
    failed = await platform.invoke(content)
    platform.agent.script(streamed(message({"secret": CHUNK})))
    async with streaming(platform, content) as caller:
        await caller.rest()
    refused = await platform.gateway.ask(
        "POST", "/v1/workspaces/space/invocations", b'{"%b":1}' % INPUT.encode(), token=platform.token
    )
    assert refused.status == 400
    async with running_parent(platform) as parent:
        platform.agent.script(a_message(data({"secret": OUTPUT})))
        child = await parent.call(content=content)
        assert child.status == 200
        delegation = parent.delegation
    request = platform.agent.calls("message/send")[-1]
    secrets = {
        "input": INPUT,
        "output": OUTPUT,
        "fault": FAULT,
        "chunk": CHUNK,
        "token": platform.token,
        "service token": CONTROL_PLANE_TO_ROUTER,
        "other service token": ROUTER_TO_CONTROL_PLANE,
        "key": router_environment()["PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL"],
        "jti": str(credential_of(request).claims["jti"]),
        "signature": request.values("authorization")[0].rpartition(".")[2],
        "delegation": delegation.rpartition(".")[2],
    }
    return [reply.json["traceId"] for reply in (done, failed, child)] + [caller.events[0]["traceId"]], secrets


@pytest.mark.rows("LED-13")
async def test_no_payload_secret_or_signature_reaches_a_collector(platform: Platform, collector: OtlpCollector) -> None:
    traces, secrets = await everything(platform)
    for trace_id in traces:
        await collector.trace(trace_id, 6)
    sent = b"".join(collector.bodies).decode("latin-1")
    # Agent ids are what spans are for, which shows that the scan reads what is there.
    assert platform.card["agentId"] in sent
    require_absent(secrets, "OTLP", sent)


async def test_a_proof_reaches_no_collector(platform: Platform, collector: OtlpCollector) -> None:
    async def post(path: str, body: object = None) -> Any:
        reply = await platform.gateway.post(path, body, token=platform.token)
        assert reply.status in {200, 201}, reply.body
        return reply.json

    card = agent_card(platform.agent, agent_id="acme:proven")
    await post("/v1/agents", card)
    wanted = {"endpoint": platform.agent.url, "method": "http_well_known", "version": card["version"]}
    binding = await post("/v1/providers/prover/agents/acme:proven/endpoint-bindings", wanted)
    path = f"/v1/providers/prover/endpoint-bindings/{binding['bindingId']}/challenges"
    challenge = await post(path)
    platform.agent.serve(challenge["challengeId"], challenge["proof"])
    await post(f"{path}/{challenge['challengeId']}/complete")
    last = await platform.gateway.get("/v1/workspaces", token=platform.token)
    await collector.trace(last.header("x-platform-trace-id") or "", 1)
    assert any("challenges/:challengeId/complete" in span.name for span in collector.spans)
    require_absent({"proof": challenge["proof"]}, "OTLP", b"".join(collector.bodies).decode("latin-1"))
