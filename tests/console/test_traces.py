"""Traces: one row for each root, with what became of everything below it; views of a list that are kept."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.console.browser import Tab
from tests.console.lineage_states import child, nested
from tests.console.recorded import Call, ago, record

pytestmark = pytest.mark.second_ring


def listed(page: Page) -> Locator:
    return page.get_by_role("table", name="Traces").get_by_role("row").filter(has=page.get_by_role("cell"))


@pytest.mark.rows("FIND-04")
def test_a_trace_is_one_row_with_calls_failures_code_reason_and_duration(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("roots")
    calls = nested(tab.stack, workspace_id)
    record(tab.stack, [Call(workspace_id, ago(minutes=2), capability="shorten")])
    page = tab.open(f"/workspaces/{workspace_id}/traces")
    expect(listed(page)).to_have_count(2)
    expect(listed(page).first).to_contain_text("shorten")
    row = listed(page).nth(1)
    for shown in (
        *("Succeeded", "digest-meetings", "aop:meeting-brief 1.0.0", "4 calls", "3 Agents"),
        *("1 failed", "AGENT_UNAVAILABLE", "connect_failed", "1 s", "10 min. ago"),
    ):
        expect(row).to_contain_text(shown)
    row.get_by_role("link").click()
    expect(page).to_have_url(re.compile(rf"/traces/{calls[0].trace_id}$"))
    page.get_by_role("main").get_by_role("link", name="Traces").click()
    expect(listed(page)).to_have_count(2)
    tab.open(f"/workspaces/{workspace_id}/invocations")
    table = page.get_by_role("table", name="Invocations")
    expect(table).to_have_attribute("aria-rowcount", "6")
    page.get_by_role("switch", name="Roots only").check()
    expect(table).to_have_attribute("aria-rowcount", "3")
    expect(page).to_have_url(re.compile(r"\?root=true$"))


def test_ranges_order_code_and_trace_are_in_the_address(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("ranges")
    calls = nested(tab.stack, workspace_id)
    old = Call(workspace_id, ago(hours=5), capability="old", outcome="timed_out", error_code="TIMEOUT")
    record(tab.stack, [old, Call(workspace_id, ago(minutes=40), capability="quick")])
    page = tab.open(f"/workspaces/{workspace_id}/traces")
    expect(listed(page)).to_have_count(3)
    for name, value, count in (("15 min", "15m", 1), ("1 h", "1h", 2), ("24 h", "24h", 3)):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page).to_have_url(re.compile(rf"\?last={value}$"))
        expect(listed(page)).to_have_count(count)
    page.get_by_label("Order").select_option("slowest")
    expect(page).to_have_url(re.compile(r"\?last=24h&order=slowest$"))
    expect(listed(page).first).to_contain_text("digest-meetings")
    expect(page.get_by_role("button", name="Refresh")).to_be_visible()
    page.get_by_label("Error code").select_option("TIMEOUT")
    expect(listed(page)).to_have_count(1)
    page.reload()
    expect(listed(page)).to_have_count(1)
    expect(page.get_by_role("button", name="24 h")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Clear", exact=True).click()
    page.get_by_label("Trace", exact=True).fill(calls[0].trace_id)
    expect(listed(page)).to_have_count(1)
    expect(listed(page).first).to_contain_text("digest-meetings")


def test_a_trace_grows_in_the_list_and_what_is_read_does_not_move(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("grows")
    root = Call(workspace_id, ago(seconds=5), agent_id="aop:meeting-brief", outcome=None)
    record(tab.stack, [root])
    page = tab.open(f"/workspaces/{workspace_id}/traces")
    expect(listed(page).first).to_contain_text("1 call")
    record(tab.stack, [child(root, 10, 20)])
    expect(listed(page).first).to_contain_text("2 calls")
    listed(page).first.hover()
    record(tab.stack, [Call(workspace_id, ago(), capability="new")])
    # By key: a pointer that leaves the list lets the new Trace in by itself, before it has reached the button.
    page.get_by_role("button", name="Show 1 new Trace").press("Enter")
    expect(listed(page).first).to_contain_text("new")


def test_a_view_is_saved_by_name_found_again_and_removed(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("views")
    nested(tab.stack, workspace_id)
    page = tab.open(f"/workspaces/{workspace_id}/traces?last=24h&order=slowest")
    page.get_by_role("button", name="Views", exact=True).click()
    page.get_by_role("menuitem", name="Save this view…").click()
    page.get_by_label("Name").fill("Slow days")
    page.get_by_role("button", name="Save", exact=True).click()
    tab.open(f"/workspaces/{workspace_id}/traces?status=running")
    page.get_by_role("button", name="Views", exact=True).click()
    page.get_by_role("menuitem", name="Slow days").click()
    expect(page).to_have_url(re.compile(r"\?last=24h&order=slowest$"))
    page.get_by_role("button", name="Views", exact=True).click()
    page.get_by_role("menuitem", name="Remove views…").click()
    page.get_by_role("button", name="Remove Slow days").click()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Views", exact=True).click()
    page.get_by_role("menuitem", name="Failed in the last hour").click()
    expect(page).to_have_url(re.compile(r"\?last=1h&status=failed$"))
    expect(page.get_by_text("No Trace matches.")).to_be_visible()
    page.get_by_role("button", name="Views", exact=True).click()
    expect(page.get_by_role("menuitem", name="Slow days")).to_have_count(0)
    page.keyboard.press("Escape")


def test_at_390_px_the_first_trace_is_on_the_first_screen(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("narrow")
    nested(tab.stack, workspace_id)
    page = tab.page
    page.set_viewport_size({"width": 390, "height": 844})
    tab.open(f"/workspaces/{workspace_id}/traces")
    expect(listed(page).first).to_be_in_viewport(ratio=0.9)
    expect(page.get_by_label("Error code")).to_have_count(0)
    page.get_by_role("button", name="Filters").click()
    page.get_by_label("Error code").select_option("TIMEOUT")
    expect(page.get_by_role("button", name="Filters: 1")).to_be_visible()
    tab.require_no_sideways_scrolling()
