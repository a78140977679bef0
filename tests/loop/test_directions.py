"""Who talks to whom, what the units are made of, and that nothing confidential stays anywhere."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import asyncpg
import pytest

from aop.local.state import DatabaseUrls
from tests.support.agent import a_message, credential_of, data, delegation_of, rpc_error
from tests.support.loop import SPACE, Platform, running_platform
from tests.support.postgres import PostgresForTests
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE
from tests.support.units import RunningUnit

pytestmark = pytest.mark.second_ring

ROOT = Path(__file__).resolve().parents[2]
FRAMEWORKS = "a2a|agno|anthropic|autogen|crewai|dspy|google|haystack|langchain|langgraph|llama_index|mcp|openai|torch"
CANARY = "canary-7f3a"


async def internal_routes(unit: RunningUnit) -> set[str]:
    metrics = (await unit.get("/metrics")).body.decode()
    return set(re.findall(r'aop_http_requests_total\{[^}]*route="(/internal[^"]*)"', metrics))


@pytest.mark.rows("OPS-13")
async def test_each_unit_is_asked_only_for_what_is_its_own(stores: DatabaseUrls) -> None:
    async with running_platform(stores) as platform:
        reply = await platform.invoke()
        await platform.detail(reply.json["invocationId"])
        await platform.read(f"/traces/{reply.json['traceId']}")
        for path in (f"invocations/{reply.json['invocationId']}", f"traces/{reply.json['traceId']}"):
            await platform.gateway.get(f"/v1/workspaces/{SPACE}/{path}/bundle", token=platform.token)
            await platform.gateway.get(f"/v1/workspaces/{SPACE}/{path}/bundle/pages", token=platform.token)
        await platform.read("/invocations")
        await platform.read("/figures")
        await platform.read("/events")
        await platform.read("/traces")
        await platform.gateway.get(f"/v1/releases/{platform.release.release_id}/reach", token=platform.token)
        await platform.gateway.get("/v1/status", token=platform.token)
        assert await internal_routes(platform.gateway) <= {"/internal/v1/resolve-agent", "/internal/v1/topology/watch"}
        space = "/internal/v1/workspaces/:workspaceId"
        assert await internal_routes(platform.router) == {
            "/internal/v1/invocations",
            "/internal/v1/status",
            "/internal/v1/topology/status",
            f"{space}/events",
            f"{space}/figures",
            f"{space}/invocations",
            f"{space}/invocations/:invocationId",
            f"{space}/invocations/:invocationId/proof",
            f"{space}/invocations/:invocationId/proof/pages",
            f"{space}/traces",
            f"{space}/traces/:traceId/proof",
            f"{space}/traces/:traceId/proof/pages",
            f"{space}/traces/:traceId",
            "/internal/v1/releases/:releaseId/reach",
        }
        assert {(request.verb, request.target) for request in platform.agent.received} == {("POST", "/a2a")}


@pytest.mark.rows("OPS-13")
def test_neither_unit_is_made_of_an_agent_framework() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    # The package of MCP is a protocol of the door's callers; it comes with that extra alone.
    extras = [names for extra, names in project["optional-dependencies"].items() if extra != "door"]
    named = [*project["dependencies"], *(name for names in extras for name in names)]
    assert [name for name in named if re.match(FRAMEWORKS, name)] == []
    listing = "import sys, aop.control_plane.app, aop.router.app; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "asyncpg" in loaded.stdout.split()
    assert [name for name in loaded.stdout.split() if re.fullmatch(FRAMEWORKS, name)] == []


async def stored_text(postgres: PostgresForTests, stores: DatabaseUrls) -> str:
    """Every row of every table, as text."""
    connection = await asyncpg.connect(postgres.url(stores.migration.rpartition("/")[2]))
    try:
        tables = await connection.fetch(
            "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables"
            " WHERE schemaname IN ('registry', 'workspace', 'gateway', 'ledger')"
        )
        assert len(tables) >= 10
        rows = [await connection.fetch(f"SELECT t::text FROM {table['name']} AS t") for table in tables]
    finally:
        await connection.close()
    return "\n".join(row[0] for found in rows for row in found)


@pytest.mark.rows("INV-32", "LED-07")
async def test_nothing_of_input_result_or_credential_stays_anywhere(
    postgres: PostgresForTests, stores: DatabaseUrls, capfd: pytest.CaptureFixture[str]
) -> None:
    async with running_platform(stores) as platform:
        secrets = await _use(platform)
        seen = [(await unit.get("/metrics")).body.decode() for unit in (platform.gateway, platform.router)]
        seen.append(
            (await platform.gateway.get("/v1/workspaces/space/invocations", token=platform.token)).body.decode()
        )
    seen += [await stored_text(postgres, stores), "".join(capfd.readouterr())]
    assert '"event":"request"' in seen[-1]
    for secret in secrets:
        assert [secret for text in seen if secret in text] == []


async def _use(platform: Platform) -> list[str]:
    """A good and a failing call with canaries all over; gives what must be found nowhere afterwards."""
    platform.agent.script(a_message(data({"result": f"{CANARY}-result"})))
    good = await platform.invoke(b'{"text":"%b-input"}' % CANARY.encode())
    assert f"{CANARY}-result" in good.body.decode()
    platform.agent.script(rpc_error(-1, f"{CANARY}-message"))
    failed = await platform.invoke(b'{"text":"%b-input"}' % CANARY.encode())
    assert CANARY not in failed.body.decode()
    request = platform.agent.calls(None, good.json["invocationId"])[0]
    credential, delegation = credential_of(request), delegation_of(request)
    return [
        CANARY,
        CANARY.encode().hex(),
        platform.token,
        CONTROL_PLANE_TO_ROUTER,
        ROUTER_TO_CONTROL_PLANE,
        credential.claims["jti"],
        credential.claims["jti"].removeprefix("jti_"),
        request.values("authorization")[0].removeprefix("Bearer "),
        request.values("x-platform-delegation")[0],
        credential.claims["bodySha256"],
        str(delegation.signature),
    ]
