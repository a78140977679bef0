"""Trace: failures, words, folding, zoom, critical path, self time, and another Trace beside it."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.browser import Tab
from tests.console.lineage_states import child, nested, trace_path
from tests.console.recorded import record
from tests.console.waterfall import bar, rows

pytestmark = pytest.mark.second_ring


def test_failures_words_folding_and_zoom_lead_through_a_trace(tab: Tab) -> None:
    calls = nested(tab.stack, tab.stack.workspace("tools"))
    second = child(calls[1], 160, 20, capability="shorten", outcome="timed_out", error_code="TIMEOUT")
    record(tab.stack, [second])
    page = tab.open(trace_path(calls[0]))
    chosen = page.get_by_role("treeitem", selected=True)
    expect(page.get_by_text("2 failures")).to_be_visible()
    following = page.get_by_role("button", name="Next failure")
    for name in ("shorten", "extract-action-items", "shorten"):
        following.click()
        expect(chosen).to_have_accessible_name(re.compile(f"^{name} on"))
    page.get_by_role("tree", name="Waterfall").press("Shift+F")
    expect(chosen).to_have_accessible_name(re.compile("^extract-action-items"))
    page.get_by_role("searchbox", name="Find in this Trace").fill("timeout")
    expect(page.get_by_text("1 match")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"invocation={second.invocation_id}&find=timeout$"))
    expect(chosen).to_have_accessible_name(re.compile("^shorten on"))
    page.get_by_role("button", name="Collapse all").click()
    expect(rows(page)).to_have_count(3)
    page.get_by_role("button", name="Next failure").click()
    page.get_by_role("button", name="Previous failure").click()
    expect(rows(page), "what is chosen is opened up").to_have_count(5)
    page.get_by_role("button", name="Zoom in").click()
    expect(page).to_have_url(re.compile("zoom=250000-750000"))
    assert bar(page, "summarize on") == pytest.approx((0, 0.5), abs=0.01)
    page.reload()
    expect(rows(page)).to_have_count(5)
    assert bar(page, "summarize on") == pytest.approx((0, 0.5), abs=0.01)
    page.get_by_role("button", name="Whole Trace").click()
    map_box = page.locator("[data-minimap]").bounding_box()
    assert map_box is not None
    left, middle, width = map_box["x"], map_box["y"] + 20, map_box["width"]
    page.mouse.move(left + 0.2 * width, middle)
    page.mouse.down()
    page.mouse.move(left + 0.6 * width, middle, steps=4)
    page.mouse.up()
    assert bar(page, "summarize on") == pytest.approx((0.125, 0.75), abs=0.02)


def test_the_critical_path_and_the_self_time_say_where_the_time_went(tab: Tab) -> None:
    calls = nested(tab.stack, tab.stack.workspace("where"))
    page = tab.open(trace_path(calls[0]))
    expect(page.get_by_text("30 % of 1 s")).to_be_visible()
    page.get_by_role("switch", name="Critical path").check()
    # Of the two calls of the root, the one that ended later held it up.
    for name, is_on in (("digest-meetings", True), ("extract-action-items", True), ("summarize on", False)):
        marks = page.get_by_role("treeitem", name=name).locator("[data-critical]")
        expect(marks.first).to_be_visible() if is_on else expect(marks).to_have_count(0)
    page.get_by_role("tab", name="By Skill").click()
    first = page.get_by_role("table").get_by_role("row").nth(1)
    expect(first).to_contain_text("extract-action-items")
    expect(first).to_contain_text("600 ms")
    first.get_by_role("button", name="The slowest").click()
    expect(page).to_have_url(re.compile(rf"invocation={calls[2].invocation_id}"))


def test_two_traces_are_compared_side_by_side(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("compared")
    first, second = nested(tab.stack, workspace_id), nested(tab.stack, workspace_id)
    record(tab.stack, [child(second[0], 900, 500, capability="shorten")])
    page = tab.open(trace_path(first[0]))
    page.get_by_role("button", name="Compare", exact=True).click()
    dialog = page.get_by_role("dialog", name="Compare with another Trace")
    dialog.get_by_text(second[0].trace_id[:10]).click()
    expect(page).to_have_url(re.compile(rf"\?with={second[0].trace_id}$"))
    expect(page.get_by_text("The second took 400 ms longer")).to_be_visible()
    for name, count in (("First waterfall", 4), ("Second waterfall", 5)):
        expect(page.get_by_role("tree", name=name).get_by_role("treeitem")).to_have_count(count)
    skills = page.get_by_role("region", name="By Skill").get_by_role("row")
    expect(skills.nth(1)).to_contain_text("shorten")
    expect(skills.nth(1)).to_contain_text("not called")
    page.get_by_role("tree", name="Second waterfall").get_by_role("treeitem", name="shorten").click()
    expect(page).to_have_url(re.compile(rf"/traces/{second[0].trace_id}\?invocation="))
