"""Invocations: the list with its filters, kept up to date without jumping, and the page of one."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from tests.console.browser import Tab
from tests.console.frames import BUDGET, scrolled
from tests.console.lineage_states import every_outcome
from tests.console.recorded import Call, ago, record

NOTES = {"notes": "Alice will send the budget by Friday."}


def rows(page: Page) -> int:
    return int(page.get_by_role("table", name="Invocations").get_attribute("aria-rowcount") or 0) - 1


@pytest.mark.second_ring
def test_an_invocation_is_listed_with_status_agent_capability_latency_and_time(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("listed")
    tab.stack.install(workspace_id, "aop:action-items", ["notes.read"])
    tab.stack.invoke(workspace_id, "aop:action-items", "extract-action-items", NOTES)
    page = tab.open(f"/workspaces/{workspace_id}/invocations")
    row = page.get_by_role("row").nth(1)
    for shown in ("Succeeded", "aop:action-items", "1.0.0", "extract-action-items", "local", "now"):
        expect(row).to_contain_text(shown)
    expect(row).to_contain_text(re.compile(r"\d m?s"))
    row.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"/invocations/inv_[0-9a-f]{32}$"))


@pytest.mark.rows("CON-10")
def test_an_invocation_past_its_deadline_without_an_end_is_marked_interrupted(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("interrupted")
    calls = every_outcome(tab.stack, workspace_id)
    page = tab.open(f"/workspaces/{workspace_id}/invocations")
    states = page.get_by_role("row").filter(has=page.get_by_role("cell"))
    expect(states).to_have_count(5)
    for place, label in enumerate(("Interrupted", "Timed out", "Canceled", "Failed", "Succeeded")):
        expect(states.nth(place)).to_contain_text(label)
    tab.open(f"/workspaces/{workspace_id}/invocations/{calls[-1].invocation_id}")
    expect(page.get_by_text("The Invocation was interrupted.")).to_be_visible()
    expect(page.get_by_text("aop router close")).to_be_visible()


@pytest.mark.second_ring
@pytest.mark.rows("CON-10")
def test_the_filters_are_in_the_address_and_a_link_with_them_shows_the_same(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("filtered")
    every_outcome(tab.stack, workspace_id)
    record(tab.stack, [Call(workspace_id, ago(days=2), agent_id="aop:meeting-brief", capability="write-agenda")])
    page = tab.open(f"/workspaces/{workspace_id}/invocations")
    table = page.get_by_role("table", name="Invocations")
    expect(table).to_have_attribute("aria-rowcount", "7")
    page.get_by_label("Status").select_option("failed")
    expect(page).to_have_url(re.compile(r"\?status=failed$"))
    expect(table).to_have_attribute("aria-rowcount", "2")
    page.get_by_role("button", name="Clear").click()
    page.get_by_label("Agent", exact=True).fill("aop:meeting-brief")
    expect(page).to_have_url(re.compile(r"\?agent=aop%3Ameeting-brief$"))
    expect(table).to_have_attribute("aria-rowcount", "2")
    page.get_by_label("Agent", exact=True).fill("")
    page.get_by_label("Skill").fill("summarize")
    expect(table).to_have_attribute("aria-rowcount", "6")
    page.get_by_label("Skill").fill("")
    page.get_by_role("button", name="Pick…").click()
    page.get_by_label("Created before").fill(ago(days=1).strftime("%Y-%m-%dT%H:%M:%S"))
    expect(table).to_have_attribute("aria-rowcount", "2")
    expect(table).to_contain_text("write-agenda")
    page.reload()
    expect(table).to_have_attribute("aria-rowcount", "2")
    expect(page.get_by_label("Created before")).not_to_have_value("")
    page.get_by_label("Status").select_option("running")
    expect(page.get_by_text("No Invocation matches.")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect(table).to_have_attribute("aria-rowcount", "7")


@pytest.mark.second_ring
def test_a_new_invocation_appears_by_itself(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("live")
    page = tab.open(f"/workspaces/{workspace_id}/invocations")
    expect(page.get_by_text("Nothing has been invoked in this Workspace.")).to_be_visible()
    running = Call(workspace_id, ago(seconds=1), outcome=None)
    record(tab.stack, [running])
    expect(page.get_by_role("row").nth(1)).to_contain_text("Running")
    record(tab.stack, [Call(workspace_id, ago(), capability="shorten")])
    expect(page.get_by_role("row").nth(1)).to_contain_text("shorten")
    expect(page.get_by_role("row").nth(2)).to_contain_text("Running")


@pytest.mark.second_ring
def test_what_one_reads_does_not_move_when_new_invocations_come(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("steady")
    record(tab.stack, [Call(workspace_id, ago(seconds=400 - n), capability=f"work-{n:03}") for n in range(300)])
    page = tab.open(f"/workspaces/{workspace_id}/invocations")
    table = page.get_by_role("table", name="Invocations")
    expect(table).to_have_attribute("aria-rowcount", "101")
    table.evaluate("(element) => element.parentElement.scrollTo({ top: 2700 })")
    read = page.get_by_text("work-245")
    expect(read).to_be_in_viewport()
    before = read.bounding_box()
    record(tab.stack, [Call(workspace_id, ago(), capability=f"new-{n}") for n in range(7)])
    show = page.get_by_role("button", name="Show 7 new Invocations")
    expect(show).to_be_visible()
    assert read.bounding_box() == before
    show.click()
    expect(page.get_by_role("row").nth(1)).to_contain_text("new-")
    expect(page.get_by_text("work-299")).to_be_in_viewport()


@pytest.mark.second_ring
def test_a_list_that_stands_still_is_not_asked_again(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("still")
    record(tab.stack, [Call(workspace_id, ago(seconds=9))])
    page = tab.open(f"/workspaces/{workspace_id}/invocations?live=false")
    expect(page.get_by_role("row")).to_have_count(2)
    asked = len(tab.requests)
    page.wait_for_timeout(2500)
    assert len(tab.requests) == asked


@pytest.mark.long
def test_ten_thousand_invocations_scroll_smoothly(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("many")
    record(tab.stack, [Call(workspace_id, ago(minutes=1) - timedelta(milliseconds=n)) for n in range(10_000)])
    page = tab.open(f"/workspaces/{workspace_id}/invocations")
    table = page.get_by_role("table", name="Invocations")
    table.wait_for()
    # Read to the end as a person does: whenever the last rows come into view, more are asked for.
    table.evaluate(
        """async (element) => {
          while (element.getAttribute('aria-rowcount') !== '10001') {
            element.parentElement.scrollTop = element.parentElement.scrollHeight
            await new Promise((done) => setTimeout(done, 5))
          }
        }"""
    )
    assert rows(page) == 10_000
    table.evaluate("(element) => element.parentElement.scrollTo({ top: 0 })")
    frames = scrolled(table, pixels=100)
    assert page.get_by_role("row").count() < 60, "rows out of view are not in the page"
    assert frames.busy < BUDGET, str(frames)


@pytest.mark.second_ring
def test_the_page_of_a_failed_invocation_shows_every_fact_events_and_the_recovery_action(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("failed")
    release = tab.stack.publish()
    tab.stack.install(workspace_id, release["agentId"], ["text.read"])
    # The Agent's origin serves proofs only: a call of it does not follow the protocol.
    problem = tab.stack.invoke(workspace_id, release["agentId"], "summarize", {"text": "x"})
    assert "invocationId" in problem, problem
    page = tab.open(f"/workspaces/{workspace_id}/invocations/{problem['invocationId']}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("summarize")
    expect(page.get_by_text("The Invocation failed.")).to_be_visible()
    expect(page.get_by_text(problem["code"]).first).to_be_visible()
    expect(page.get_by_text("Next step for the provider of the Agent:")).to_be_visible()
    for value in (problem["invocationId"], problem["traceId"], release["releaseId"], release["cardDigest"]):
        expect(page.get_by_title(value)).to_be_visible()
    events = page.get_by_role("list", name="Events").get_by_role("listitem")
    for place, label in enumerate(("Created", "Routing", "Started", "Failed")):
        expect(events.nth(place)).to_contain_text(label)
    expect(events.first).to_contain_text("to be done within 30 s")
    page.get_by_role("link", name="Open the Trace").click()
    expect(page).to_have_url(re.compile(rf"/traces/{problem['traceId']}\?invocation={problem['invocationId']}$"))


@pytest.mark.second_ring
def test_a_streamed_invocation_shows_its_progress_without_its_content(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("streamed")
    tab.stack.install(workspace_id, "aop:summarizer", ["text.read"])
    given = {"agentId": "aop:summarizer", "capability": "summarize", "stream": True, "input": {"text": SECRET_TEXT}}
    reply = tab.stack.caller.post(f"/v1/workspaces/{workspace_id}/invocations", given)
    page = tab.open(f"/workspaces/{workspace_id}/invocations/{reply.events[0]['invocationId']}")
    output = page.get_by_role("list", name="Events").get_by_role("listitem").filter(has_text="Output")
    expect(output).to_contain_text(re.compile(r"\d+ chunks?, \d+(\.\d+)? (B|KiB)"))
    output.locator("summary").click()
    expect(output).to_contain_text("the last with index")
    expect(page.get_by_role("main")).not_to_contain_text("zebra")


SECRET_TEXT = "The zebra crossed the road. It was followed by another zebra. Nobody saw a third zebra that day."


@pytest.mark.second_ring
def test_parent_and_children_lead_to_each_other(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("family")
    root = Call(workspace_id, ago(seconds=30), agent_id="aop:meeting-brief", capability="brief-meeting")
    children = [
        Call(workspace_id, ago(seconds=29), capability=name, parent=root)
        for name in ("summarize", "extract-action-items")
    ]
    record(tab.stack, [root, *children])
    page = tab.open(f"/workspaces/{workspace_id}/invocations/{root.invocation_id}")
    lineage = page.get_by_role("region", name="Lineage")
    expect(lineage.get_by_role("link")).to_have_count(2)
    lineage.get_by_role("link", name="summarize aop:summarizer").click()
    expect(page).to_have_url(re.compile(rf"{children[0].invocation_id}$"))
    lineage.get_by_role("link", name="brief-meeting").click()
    expect(page).to_have_url(re.compile(rf"{root.invocation_id}$"))


@pytest.mark.second_ring
@pytest.mark.rows("CON-06")
def test_an_unknown_invocation_is_said_with_code_status_trace_and_next_step(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("unknown")
    page = tab.open(f"/workspaces/{workspace_id}/invocations/inv_{'0' * 32}")
    alert = page.get_by_role("alert")
    for shown in ("NOT_FOUND", "HTTP 404", "Trace", "Next step:"):
        expect(alert).to_contain_text(shown)


@pytest.mark.second_ring
def test_a_next_page_that_cannot_be_read_is_said_and_can_be_asked_for_again(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("paged")
    record(tab.stack, [Call(workspace_id, ago(seconds=n + 1)) for n in range(150)])
    failing: list[Route] = []

    def fail(route: Route) -> None:
        failing.append(route)
        route.fulfill(status=503, content_type="application/json", body="{}")

    page = tab.page
    page.route("**/invocations?*cursor=*", fail)
    tab.open(f"/workspaces/{workspace_id}/invocations")
    page.get_by_role("table").evaluate("(element) => element.parentElement.scrollTo({ top: 1e6 })")
    expect(page.get_by_role("alert")).to_contain_text("The next page could not be loaded")
    page.wait_for_timeout(500)
    assert len(failing) == 1, "it is not asked for again on its own"
    page.unroute("**/invocations?*cursor=*")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("table")).to_have_attribute("aria-rowcount", "151")
