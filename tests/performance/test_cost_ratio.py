"""An invocation may not quietly become several times dearer: its cost against an echo's, measured in the same run."""

import pytest

from aop.net.http import HttpClient
from benchmarks._stream_platform import stream_platform
from benchmarks.invocations import UNITS, Calls, costs_of, many
from benchmarks.measure import cpu_nanos

CALLERS, ECHOES = 32, 640
MAX_TIMES_AN_ECHO = 120
"""About 40 when this was written. Other work on the machine moves the figure, but not as far."""


@pytest.mark.long
async def test_an_invocation_costs_no_more_than_a_few_dozen_echoes() -> None:
    async with stream_platform() as platform:
        client = HttpClient(idle_seconds=60, connect_seconds=5)
        calls = Calls(platform, client)
        costs = await costs_of(platform, calls, CALLERS)
        spent = cpu_nanos(platform.agent_pid)
        await many(calls.direct, CALLERS, ECHOES)
        echo = (cpu_nanos(platform.agent_pid) - spent) / 1000 / ECHOES
        await client.close()
    assert sum(costs[unit] for unit in UNITS) <= MAX_TIMES_AN_ECHO * echo
