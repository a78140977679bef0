"""The whole platform as the processes a person starts: a nested call arrives at a collector as one connected trace."""

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.support.collector import Seen, require_connected, running_collector
from tests.support.platform import seed_ports, started_up
from tests.support.waiting import PATIENCE_SECONDS
from tools.agent_env import AGENTS, agent_python

pytestmark = pytest.mark.second_ring

BRIEF, ITEMS, SUMMARY = "aop:meeting-brief", "aop:action-items", "aop:summarizer"
MEETING = {"notes": "Budget meeting. Alice will send the budget by Friday.", "sentences": 1}
LEAST = 3 + 3 * 5
"""Gateway, dispatch and two nested calls with four phases each, and the two questions for the pins of the children.

A Router that does not have a Card yet asks for it too."""


def invoke(origin: str, token: str) -> Any:
    wanted = {"agentId": BRIEF, "capability": "brief-meeting", "stream": False, "input": MEETING}
    request = Request(  # noqa: S310
        f"{origin}/v1/workspaces/demo/invocations",
        json.dumps(wanted).encode(),
        {"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    with urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
        return json.load(answer)


async def test_a_nested_call_is_one_connected_trace_with_the_platforms_own_id(tmp_path: Path) -> None:
    for path in AGENTS.glob("*/card.json"):
        agent_python(path.parent.name)
    data = tmp_path / "data"
    seed_ports(data)
    async with running_collector() as collector:
        with started_up(data, "--no-console", "--no-door", settings=collector.settings()) as platform:
            await asyncio.to_thread(platform.wait_ready)
            run = platform.run
            done = await asyncio.to_thread(invoke, run["gateway"], run["token"])
            spans = await collector.whole_trace(done["traceId"], LEAST)
            await asyncio.to_thread(platform.stop)
    root = require_connected(spans)
    assert (root.unit, root.attributes["aop.invocation.id"]) == ("aop-control-plane", done["invocationId"])
    assert lineage(spans) == {(BRIEF,): 1, (BRIEF, ITEMS): 1, (BRIEF, SUMMARY): 1}
    assert {span.attributes["aop.outcome"] for span in spans if "aop.outcome" in span.attributes} == {"succeeded"}


def lineage(spans: list[Seen]) -> dict[tuple[str, ...], int]:
    """How often each path of Agents, from the root down, occurs among the calls the Router served."""
    by_id = {span.span_id: span for span in spans}
    paths: dict[tuple[str, ...], int] = {}
    for span in spans:
        if "aop.outcome" not in span.attributes:
            continue
        path: list[str] = []
        above: Seen | None = span
        while above is not None:
            if "aop.outcome" in above.attributes:
                path.insert(0, above.attributes["aop.agent.id"])
            above = by_id.get(above.parent_id)
        paths[tuple(path)] = paths.get(tuple(path), 0) + 1
    return paths
