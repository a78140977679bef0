"""What large pages cost, in counts that do not depend on the machine: elements, layouts, requests."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.console.browser import Tab
from tests.console.lineage_states import trace_path
from tests.console.rich.invocations import LONG_TRACE
from tests.console.rich.screens import SCREENS, opened
from tests.console.rich.stack import Rich
from tests.console.rich.workspaces import LARGE

pytestmark = pytest.mark.long

_MAX_ELEMENTS, _MAX_REQUESTS = 3_000, 12
_STEPS, _MAX_LAYOUTS_PER_STEP = 40, 8
_ELEMENTS = "document.querySelectorAll('*').length"
_SCROLL = """async ({ steps }) => {
  const inside = document.querySelector('[role=tree], [role=table]')
  let region = inside
  while (region !== null && region.scrollHeight <= region.clientHeight + 1) region = region.parentElement
  region ??= document.documentElement
  for (let step = 1; step <= steps; step++) {
    region.scrollTop = (region.scrollHeight * step) / steps
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
  }
}"""


def _question_count(tab: Tab) -> int:
    return sum(request.url.startswith(tab.stack.gateway) and request.method != "OPTIONS" for request in tab.requests)


def _layouts(page: Page) -> int:
    """How often the page was laid out since it was opened."""
    meter = page.context.new_cdp_session(page)
    try:
        meter.send("Performance.enable")
        metrics = {each["name"]: each["value"] for each in meter.send("Performance.getMetrics")["metrics"]}
        return int(metrics["LayoutCount"])
    finally:
        meter.detach()


@pytest.mark.parametrize("route", SCREENS)
def test_every_screen_has_a_bounded_number_of_elements_and_asks_a_bounded_number_of_questions(
    tab: Tab, rich: Rich, route: str
) -> None:
    for screen in SCREENS[route](rich):
        tab.requests.clear()
        page = opened(tab, screen)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(_ELEMENTS) <= _MAX_ELEMENTS, screen.name
        assert _question_count(tab) <= _MAX_REQUESTS, f"{screen.name} asked the Gateway {_question_count(tab)} times"


@pytest.mark.parametrize("name", ["trace", "list"])
def test_scrolling_through_thousands_keeps_few_elements_and_lays_out_a_few_times_a_step(
    tab: Tab, rich: Rich, name: str
) -> None:
    page = tab.open(trace_path(rich.traces.long) if name == "trace" else f"/workspaces/{LARGE}/invocations")
    page.locator("[role=tree], [role=table]").first.wait_for()
    if name == "trace":
        expect(page.get_by_text(re.compile(rf"\b{LONG_TRACE}\b")).first).to_be_visible()
    before = _layouts(page)
    page.evaluate(_SCROLL, {"steps": _STEPS})
    assert page.evaluate(_ELEMENTS) <= _MAX_ELEMENTS
    assert _layouts(page) - before <= _STEPS * _MAX_LAYOUTS_PER_STEP


@pytest.mark.parametrize("width", [1440, 390])
def test_a_call_graph_of_thirty_agents_is_seen_as_a_whole_on_demand(tab: Tab, rich: Rich, width: int) -> None:
    tab.page.set_viewport_size({"width": width, "height": 900})
    page = tab.open(f"{trace_path(rich.traces.many_agents)}?view=graph")
    graph = page.get_by_role("group", name="Call graph")
    expect(graph.get_by_role("button")).to_have_count(30)
    room = "(each) => [each.scrollWidth - each.clientWidth, each.scrollHeight - each.clientHeight]"
    assert max(graph.evaluate(room)) > 0, "at first names can be read, and one scrolls"
    page.get_by_role("button", name="Fit", exact=True).click()
    for _ in range(_STEPS):
        if max(graph.evaluate(room)) <= 0:
            break
        page.wait_for_timeout(100)
    assert max(graph.evaluate(room)) <= 0
