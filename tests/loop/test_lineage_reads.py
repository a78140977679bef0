"""Reads of what happened: at once, for the owner and callers alone, and never with a payload or a secret in them."""

import asyncio
import hashlib
import io
import re

import asyncpg
import pytest

from aop.contracts.signing import SigningKey
from aop.ledger.model import LOST, SUCCEEDED
from tests.ledger.writing import a_context, an_acceptance, an_end, writing
from tests.support.agent import a_message, credential_of, data, delegation_of, rpc_error
from tests.support.canaries import require_absent
from tests.support.errors import require_error
from tests.support.loop import SPACE, Platform, invoking
from tests.support.peers import after
from tests.support.postgres import PostgresForTests
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE, router_environment

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.rows("LED-03")
async def test_the_acceptance_is_readable_when_the_agent_gets_its_request(platform: Platform) -> None:
    release = asyncio.Event()
    platform.agent.script(after(release, a_message(data(1))))
    before = len(platform.agent.calls("message/send"))
    async with invoking(platform):
        request = await platform.agent.arrival("message/send", before + 1)
        invocation_id = credential_of(request).claims["invocationId"]
        assert await platform.types(invocation_id) == ["created", "routing", "started"]
        release.set()
        await platform.ended(invocation_id)


@pytest.mark.rows("LED-08")
async def test_a_read_is_not_for_a_stranger_to_the_workspace(platform: Platform, bob: str) -> None:
    done = (await platform.invoke()).json
    await platform.owner.ask("POST", "", {"workspaceId": "second"})
    for kind, own, unknown in (
        ("invocations", done["invocationId"], "inv_" + "0" * 32),
        ("traces", done["traceId"], "f" * 32),
    ):
        path = f"/v1/workspaces/{SPACE}/{kind}"
        assert (await platform.gateway.get(f"{path}/{own}", token=platform.token)).status == 200
        require_error(await platform.gateway.get(f"{path}/{own}", token=bob), 403, "FORBIDDEN", "4", "not_caller")
        require_error(await platform.gateway.get(f"{path}/{unknown}", token=platform.token), 404, "NOT_FOUND", "4")
        elsewhere = await platform.gateway.get(f"/v1/workspaces/second/{kind}/{own}", token=platform.token)
        require_error(elsewhere, 404, "NOT_FOUND", "4")
        malformed = await platform.gateway.get(f"{path}/a%20b", token=platform.token)
        require_error(malformed, 400, "VALIDATION_ERROR", "4")
        nowhere = await platform.gateway.get(f"/v1/workspaces/nowhere/{kind}/{own}", token=platform.token)
        require_error(nowhere, 404, "NOT_FOUND", "4")


@pytest.mark.rows("FIND-04", "LED-08")
async def test_traces_are_listed_by_their_roots_and_a_large_one_is_read_in_pages(platform: Platform, bob: str) -> None:
    async with writing(platform.stores.router, router_id="seed") as written:
        root = a_context()
        place = await written.journal.accept(an_acceptance(root))
        children = [a_context(root, agent=f"acme:{number % 30}") for number in range(1004)]
        places = await asyncio.gather(*(written.journal.accept(an_acceptance(child)) for child in children))
        assert all(await asyncio.gather(*(written.journal.end(an_end(each, LOST)) for each in places)))
        assert await written.journal.end(an_end(place, SUCCEEDED))
    trace = root.lineage.trace
    found = await platform.read(f"/traces?traceId={trace}&status=succeeded&order=slowest")
    (item,) = found["items"]
    assert found.keys() == {"items"}
    assert (item["root"]["invocationId"], item["invocations"], item["failures"]) == (
        root.lineage.invocation,
        1005,
        1004,
    )
    assert item["errors"] == [{"errorCode": "DEPENDENCY_ERROR", "reason": "outcome_unknown", "count": 1004}]
    assert (len(item["agents"]), item["agentCount"]) == (20, 31)
    listed = await platform.read(f"/invocations?traceId={trace}&root=true")
    assert [record["invocationId"] for record in listed["items"]] == [root.lineage.invocation]
    newest = (await platform.read("/traces?limit=1"))["items"]
    assert [each["traceId"] for each in newest] == [trace]
    first = await platform.read(f"/traces/{trace}")
    rest = await platform.read(f"/traces/{trace}?cursor={first['nextCursor']}")
    assert (len(first["invocations"]), len(rest["invocations"]), "nextCursor" in rest) == (1000, 5, False)
    ids = {record["invocationId"] for record in (*first["invocations"], *rest["invocations"])}
    assert ids == {each.lineage.invocation for each in (root, *children)}
    path = f"/v1/workspaces/{SPACE}/traces"
    require_error(await platform.gateway.get(path, token=bob), 403, "FORBIDDEN", "4", "not_caller")
    for query in ("root=true", "order=fastest", "errorCode=OVERLOADED", "reason=none", "traceId=" + "0" * 32):
        refused = await platform.gateway.get(f"{path}?{query}", token=platform.token)
        require_error(refused, 400, "VALIDATION_ERROR", "4")
    other = await platform.gateway.get(f"{path}/{trace}?limit=5", token=platform.token)
    require_error(other, 400, "VALIDATION_ERROR", "4")


async def stored_text(url: str) -> str:
    """Every column of every table of ours, as text."""
    connection = await asyncpg.connect(url)
    try:
        tables = await connection.fetch(
            "SELECT schemaname, tablename FROM pg_tables"
            " WHERE schemaname IN ('gateway', 'registry', 'workspace', 'ledger') ORDER BY 1, 2"
        )
        rows = [
            await connection.fetch(f"SELECT t::text AS row FROM {table['schemaname']}.{table['tablename']} AS t")
            for table in tables
        ]
    finally:
        await connection.close()
    return "\n".join(row["row"] for found in rows for row in found)


@pytest.mark.rows("LED-13")
async def test_no_payload_secret_or_signature_is_found_in_tables_logs_metrics_or_errors(
    platform: Platform, postgres: PostgresForTests
) -> None:
    log = io.BytesIO()
    for unit in (platform.gateway, platform.router):
        unit.unit.log._out = log
    canaries = {"input": "canary-input-7d1f", "output": "canary-output-93ab", "fault": "canary-fault-55e0"}
    platform.agent.script(a_message(data({"secret": canaries["output"]})))
    done = await platform.invoke(b'{"text":"%b"}' % canaries["input"].encode())
    assert canaries["output"].encode() in done.body
    platform.agent.script(rpc_error(-32000, canaries["fault"]))
    refused = await platform.invoke(b'{"text":"%b"}' % canaries["input"].encode())
    assert refused.status == 502
    request = platform.agent.calls("message/send")[-1]
    environment = router_environment()
    key = environment["PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL"]
    secrets = {
        **canaries,
        "token": platform.token,
        "service token": CONTROL_PLANE_TO_ROUTER,
        "other service token": ROUTER_TO_CONTROL_PLANE,
        "key": key,
        "jti": credential_of(request).claims["jti"],
        "signature": _signature(request.values("authorization")[0]),
        "delegation": _signature(request.values("x-platform-delegation")[0]),
    }
    assert delegation_of(request).claims["depth"] == 0
    assert SigningKey.parse(key)
    logged = log.getvalue().decode()
    metrics = [(await unit.get("/metrics")).body.decode() for unit in (platform.gateway, platform.router)]
    seen = {
        "tables": await stored_text(postgres.url(platform.stores.migration.rpartition("/")[2])),
        "logs": logged,
        "metrics": "".join(metrics),
        "error": refused.body.decode(),
        "lineage": str(await platform.detail(refused.json["invocationId"])),
    }
    assert done.json["invocationId"].removeprefix("inv_") in seen["tables"].replace("-", "")
    assert '"event":"request"' in logged
    for place, text in seen.items():
        require_absent(secrets, place, text)
    # What the store does know of a token is its hash, which shows that the scan reads what is there.
    assert hashlib.sha256(platform.token.encode()).hexdigest() in seen["tables"]


def _signature(token: str) -> str:
    return re.split(r"[. ]", token)[-1]
