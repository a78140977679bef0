"""The Grafana dashboard: everything it asks for is in the /metrics of a running unit."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.agent import rpc_error
from tests.support.loop import Platform
from tests.support.stream import streaming
from tests.support.streaming_agent import a_whole_stream, streamed

BOARD = json.loads((Path(__file__).parents[2] / "deploy/grafana/aop-dashboard.json").read_text())
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = [target["expr"] for panel in PANELS for target in panel["targets"]]
SCRAPER_LABELS = {"instance", "job"}
"""What Prometheus itself adds to every series."""

pytestmark = pytest.mark.asyncio(loop_scope="module")


def metric_and_labels(expression: str) -> tuple[str, set[str]]:
    """The one metric of an expression and the labels it uses."""
    (metric,) = set(re.findall(r"\baop_[a-z_]+", expression))
    selected = re.findall(r"(\w+)(?:=~|!=|=)\"", expression)
    grouped = [name for group in re.findall(r"by \(([^)]*)\)", expression) for name in group.split(", ")]
    return metric, {*selected, *grouped}


async def test_every_metric_and_label_of_the_dashboard_exists(platform: Platform) -> None:
    await platform.invoke()
    platform.agent.script(rpc_error(-32000))
    await platform.invoke()
    platform.agent.script(streamed(*a_whole_stream(3)))
    async with streaming(platform) as caller:
        await caller.rest()
    shown = "".join([(await unit.get("/metrics")).body.decode() for unit in (platform.gateway, platform.router)])
    # A refusal for lack of room needs a full unit; its series is declared, and has these labels once there is one.
    labels: dict[str, set[str]] = {"aop_admission_refusals_total": {"unit", "route"}}
    assert "# TYPE aop_admission_refusals_total counter" in shown
    for family in text_string_to_metric_families(shown):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    for expression in EXPRESSIONS:
        metric, used = metric_and_labels(expression)
        assert metric in labels, expression
        assert used <= labels[metric] | SCRAPER_LABELS, expression


async def test_the_dashboard_uses_every_metric_the_units_have(platform: Platform) -> None:
    names = set()
    for unit in (platform.gateway, platform.router):
        names |= set(re.findall(r"^# TYPE (aop_\w+) ", (await unit.get("/metrics")).body.decode(), re.MULTILINE))
    used = {metric_and_labels(expression)[0].removesuffix("_bucket") for expression in EXPRESSIONS}
    assert names - used == {"aop_topology_releases"}


async def test_the_dashboard_is_laid_out_without_overlaps_and_explains_itself() -> None:
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
    assert all(panel["description"] and panel["title"] for panel in PANELS)
    assert not any(_overlap(one["gridPos"], other["gridPos"]) for one, other in combinations(BOARD["panels"], 2))
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in BOARD["panels"])
    assert "http" not in json.dumps(BOARD).replace("aop_http_request", "")


def _overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
    apart = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    return not (beside or apart)
