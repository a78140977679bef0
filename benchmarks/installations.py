"""Whether a Workspace with many Installations is dearer: what an invocation costs in it, and a page of its list."""

import asyncio
import statistics
import time
from collections.abc import Mapping

import asyncpg
import uvloop

from aop.net.http import HttpClient
from benchmarks._calls import CALLERS, UNITS, Calls, costs_of, many
from benchmarks._stream_platform import AGENT, WORKSPACE, StreamPlatform, stream_platform
from benchmarks.measure import Figure, Plot, Report, Series

SIZES = (1, 10, 100, 1000, 10_000)
ROUNDS = 3
PAGES = 40
LIMIT_GROWTH = 1.3

_AGENTS = """
INSERT INTO registry.agent (agent_id, owner_id, public_agent_id)
SELECT 'vendor:agent-' || number, 'vendor', 'agt_' || lpad(to_hex(number), 32, '0')
  FROM generate_series($1::bigint, $2::bigint) AS number
"""
# Each Agent has a Card of its own, with the Skills of the one that is invoked.
_CARDS = """
INSERT INTO registry.card (agent_id, version, document, digest, owner_id, precedence, folded_name, folded_text,
       skill_ids, status, registered_at)
SELECT id, version, document, encode(sha256(document), 'hex'), 'vendor', precedence, folded_name, folded_text,
       skill_ids, 'draft', now()
  FROM (SELECT 'vendor:agent-' || number AS id,
               convert_to(replace(convert_from(document, 'UTF8'), agent_id, 'vendor:agent-' || number), 'UTF8')
               AS document, version, precedence, folded_name, folded_text, skill_ids
          FROM registry.card, generate_series($1::bigint, $2::bigint) AS number WHERE agent_id = $3) AS copy
"""
_INSTALL = """
INSERT INTO workspace.installation (installation_id, workspace_id, agent_id, version_constraint, installed_version,
       installed_release_id, installed_card_digest, accepted_permissions, status, installed_at, updated_at)
SELECT 'ins_' || lpad(to_hex(number), 32, '0'), $3, agent_id, version, version,
       'rel_' || lpad(to_hex(number), 32, '0'), digest, '{}', 'enabled', now(), now()
  FROM registry.card JOIN generate_series($1::bigint, $2::bigint) AS number ON agent_id = 'vendor:agent-' || number
"""


def run() -> Report:
    return uvloop.run(_run())


async def _run() -> Report:
    async with stream_platform() as platform:
        client = HttpClient(idle_seconds=60, connect_seconds=5)
        calls = Calls(platform, client)
        await many(calls.managed, CALLERS, CALLERS * 10)
        found: list[tuple[int, float, float]] = []
        for size in SIZES:
            await _install(platform, found[-1][0] if found else 1, size)
            costs = [await costs_of(platform, calls.managed, CALLERS) for _ in range(ROUNDS)]
            micros = statistics.median(sum(cost[unit] for unit in UNITS) for cost in costs)
            found.append((size, micros, await _page_millis(platform, client)))
        await client.close()
    rows: list[Mapping[str, Figure]] = [
        {"Installations": size, "µs CPU per invocation": micros, "first page of the list, ms": f"{millis:.2f}"}
        for size, micros, millis in found
    ]
    growth = found[-1][1] / found[0][1]
    cost = Series("invocation", [(size, micros) for size, micros, _ in found])
    return Report(
        "installations",
        f"one Workspace, {CALLERS} callers",
        rows,
        {f"an invocation costs less than {LIMIT_GROWTH} times as much at {SIZES[-1]}": growth < LIMIT_GROWTH},
        [
            Plot(
                *("growth", "CPU per invocation by Installations of its Workspace", "Installations", "µs", [cost]),
                logarithmic_x=True,
            )
        ],
    )


async def _install(platform: StreamPlatform, before: int, after: int) -> None:
    connection = await asyncpg.connect(platform.database_url)
    await connection.execute(_AGENTS, before + 1, after)
    await connection.execute(_CARDS, before + 1, after, AGENT)
    await connection.execute(_INSTALL, before + 1, after, WORKSPACE)
    await connection.execute("VACUUM ANALYZE workspace.installation, registry.agent, registry.card")
    await connection.close()


async def _page_millis(platform: StreamPlatform, client: HttpClient) -> float:
    times = []
    for _ in range(PAGES):
        begun = time.perf_counter()
        answer = await client.request(
            platform.gateway,
            "GET",
            f"/v1/workspaces/{WORKSPACE}/installations",
            headers=platform.headers[:1],
            deadline=asyncio.get_running_loop().time() + 10,
            max_body=8 << 20,
        )
        assert answer.status == 200, answer.body
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)
