"""Trace: the waterfall on one time axis, the call graph, and the facts of what is chosen in them."""

import json
import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from tests.console.browser import Tab
from tests.console.frames import BUDGET, scrolled
from tests.console.lineage_states import child, nested, trace_path
from tests.console.recorded import Call, ago, record
from tests.console.waterfall import bar, rows

pytestmark = pytest.mark.second_ring

MEETING = {"notes": "Budget\nAlice will send the budget by Friday.\nACTION: Bob to book a room for the workshop."}


def test_the_waterfall_shows_every_invocation_where_its_events_were(tab: Tab) -> None:
    calls = nested(tab.stack, tab.stack.workspace("waterfall"))
    page = tab.open(trace_path(calls[0]))
    expect(rows(page)).to_have_count(4)
    names = ("digest-meetings", "brief-meeting", "summarize", "extract-action-items")
    for place, (name, level) in enumerate(zip(names, "1232", strict=True)):
        expect(rows(page).nth(place)).to_have_accessible_name(re.compile(f"^{name} on "))
        expect(rows(page).nth(place)).to_have_attribute("aria-level", level)
    for name, left, right in (
        ("digest-meetings", 0, 1),
        ("brief-meeting on", 0.1, 0.6),
        ("summarize on", 0.25, 0.5),
        ("extract-action-items", 0.2, 0.8),
    ):
        assert bar(page, name) == pytest.approx((left, right), abs=0.01), name
    expect(page.get_by_role("treeitem", name="Failed, 600 ms")).to_be_visible()
    expect(page.get_by_text("4 Invocations of 3 Agents in 1 s")).to_be_visible()
    expect(page.get_by_text("1 failed")).to_be_visible()


def test_a_real_nested_call_is_one_trace(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("nested")
    for agent_id in ("aop:meeting-brief", "aop:summarizer", "aop:action-items"):
        card = next(a for a in tab.stack.caller.get("/v1/agents?limit=100").json["items"] if a["agentId"] == agent_id)
        tab.stack.install(workspace_id, agent_id, [permission["id"] for permission in card["permissions"]])
    answer = tab.stack.invoke(workspace_id, "aop:meeting-brief", "brief-meeting", MEETING)
    page = tab.open(f"/workspaces/{workspace_id}/traces/{answer['traceId']}")
    expect(rows(page)).to_have_count(3)
    expect(rows(page).first).to_have_accessible_name(re.compile("^brief-meeting on aop:meeting-brief, Succeeded"))
    expect(page.get_by_role("treeitem", name="summarize on")).to_have_attribute("aria-level", "2")


def test_a_click_on_a_bar_shows_its_facts_and_the_address_leads_back_to_it(tab: Tab) -> None:
    calls = nested(tab.stack, tab.stack.workspace("chosen"))
    page = tab.open(trace_path(calls[0]))
    page.get_by_role("treeitem", name="extract-action-items").click()
    failed = calls[2]
    expect(page).to_have_url(re.compile(rf"\?invocation={failed.invocation_id}$"))
    facts = page.get_by_role("region", name="extract-action-items")
    for shown in (
        "Failed",
        "AGENT_UNAVAILABLE connect_failed",
        "No connection to the Agent's endpoint could be made",
        "Next step for the provider of the Agent:",
        "Start the Agent",
        "Card digest",
    ):
        expect(facts).to_contain_text(shown)
    expect(facts.get_by_title(re.compile("^rel_[0-9a-f]{32}$"))).to_be_visible()
    expect(facts.get_by_role("list", name="Events").get_by_role("listitem")).to_have_count(4)
    page.reload()
    expect(page.get_by_role("treeitem", selected=True)).to_have_accessible_name(re.compile("^extract-action-items"))
    expect(facts).to_contain_text("AGENT_UNAVAILABLE")
    facts.get_by_role("link", name="Open", exact=True).click()
    expect(page).to_have_url(re.compile(rf"/invocations/{failed.invocation_id}$"))


def test_the_waterfall_is_used_with_the_keyboard_alone(tab: Tab) -> None:
    calls = nested(tab.stack, tab.stack.workspace("keys"))
    page = tab.open(trace_path(calls[0]))
    tree = page.get_by_role("tree", name="Waterfall")
    tree.focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("treeitem", selected=True)).to_have_accessible_name(re.compile("^summarize on"))
    expect(page.get_by_role("region", name="summarize")).to_contain_text("Called from")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(rows(page)).to_have_count(3)
    closed = page.get_by_role("treeitem", name="brief-meeting on")
    expect(closed).to_have_attribute("aria-expanded", "false")
    expect(tree).to_have_attribute("aria-activedescendant", closed.get_attribute("id") or "")
    page.keyboard.press("ArrowRight")
    expect(rows(page)).to_have_count(4)
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.get_by_role("treeitem", selected=True)).to_have_accessible_name(re.compile("^extract-action-items"))


@pytest.mark.rows("CON-10")
def test_an_interrupted_invocation_is_shown_as_such_up_to_its_deadline(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("broken")
    root = Call(workspace_id, ago(minutes=9), deadline=timedelta(seconds=20), outcome=None)
    record(tab.stack, [root])
    page = tab.open(trace_path(root))
    expect(rows(page)).to_have_accessible_name("summarize on aop:summarizer, Interrupted, 20 s")
    expect(page.get_by_text("The Invocation was interrupted.")).to_be_visible()


def test_deadlines_are_marked_on_an_axis_that_reaches_to_them(tab: Tab) -> None:
    calls = nested(tab.stack, tab.stack.workspace("deadlines"))
    page = tab.open(trace_path(calls[0]))
    assert bar(page, "digest-meetings")[1] == pytest.approx(1, abs=0.01)
    page.get_by_role("switch", name="Axis up to the deadlines").check()
    expect(page).to_have_url(re.compile(r"\?deadlines=true$"))
    assert bar(page, "digest-meetings")[1] < 0.05
    expect(rows(page).locator(".border-dotted")).to_have_count(4)


def test_a_running_trace_grows_while_one_looks(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("running")
    root = Call(workspace_id, ago(seconds=2), agent_id="aop:meeting-brief", capability="brief-meeting", outcome=None)
    record(tab.stack, [root])
    page = tab.open(trace_path(root))
    expect(rows(page)).to_have_accessible_name(re.compile("Running"))
    record(tab.stack, [Call(workspace_id, ago(), parent=root, outcome=None)])
    expect(rows(page)).to_have_count(2)


def test_the_call_graph_joins_calls_of_a_skill_and_leads_to_each(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("graph")
    root = Call(workspace_id, ago(minutes=3), agent_id="aop:meeting-brief", capability="digest-meetings")
    slow, quick = child(root, 1, 30), child(root, 2, 10)
    bad = child(root, 3, 5, outcome="failed", error_code="A2A_PROTOCOL_ERROR")
    record(tab.stack, [root, slow, quick, bad])
    page = tab.open(trace_path(root))
    page.get_by_role("tab", name="Call graph").click()
    expect(page).to_have_url(re.compile(r"\?view=graph$"))
    graph = page.get_by_role("group", name="Call graph")
    expect(graph.get_by_role("button")).to_have_count(2)
    node = graph.get_by_role("button", name="summarize")
    expect(node).to_contain_text("3 calls")
    expect(node).to_contain_text("1 failed")
    node.focus()
    page.keyboard.press("Enter")
    for call in (bad, slow, quick):
        expect(page).to_have_url(re.compile(call.invocation_id))
        if call is not quick:
            page.get_by_role("button", name="Next call").click()
    expect(page.get_by_role("button", name="Next call")).to_be_disabled()


def test_the_trace_is_downloaded_as_the_gateway_told_it(tab: Tab) -> None:
    calls = nested(tab.stack, tab.stack.workspace("kept"))
    page = tab.open(trace_path(calls[0]))
    with page.expect_download() as kept:
        page.get_by_role("button", name="Download JSON").click()
    assert kept.value.suggested_filename == f"trace-{calls[0].trace_id}.json"
    told = tab.stack.caller.get(f"/v1{trace_path(calls[0])}").json
    assert json.loads(kept.value.path().read_bytes()) == told


@pytest.mark.long
def test_five_thousand_invocations_scroll_smoothly(tab: Tab) -> None:
    root = Call(tab.stack.workspace("thousands"), ago(minutes=5), latency=timedelta(seconds=20))
    calls = [root]
    for place in range(1, 4999):
        parent = calls[(place - 1) // 10]
        calls.append(child(parent, place % 10, max(1, 5000 / place), agent_id=f"acme:agent-{place % 30}"))
    record(tab.stack, calls)
    page = tab.open(trace_path(root))
    tree = page.get_by_role("tree", name="Waterfall")
    tree.wait_for()
    expect(page.get_by_text("4,999 Invocations")).to_be_visible()
    assert rows(page).count() < 80, "rows out of view are not in the page"
    frames = scrolled(tree, pixels=100)
    assert frames.busy < BUDGET, str(frames)
    tree.focus()
    page.keyboard.press("End")
    expect(page.locator("[role=treeitem]").last).to_be_in_viewport()
    page.get_by_role("tab", name="Call graph").click()
    graph = page.get_by_role("group", name="Call graph", exact=True)
    expect(graph.get_by_role("button").first).to_be_visible()


@pytest.mark.rows("CON-06")
def test_an_unknown_trace_is_said_with_code_and_next_step(tab: Tab) -> None:
    page = tab.open(f"/workspaces/{tab.stack.workspace('none')}/traces/{'1' * 32}")
    expect(page.get_by_role("alert")).to_contain_text("NOT_FOUND")
    expect(page.get_by_role("alert")).to_contain_text("Next step:")
    expect(page.get_by_text("A request that was refused before it ran")).to_be_visible()
