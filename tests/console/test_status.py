"""Status: units ready or not, and how the chosen Workspace fared in the last hour."""

import re

from playwright.sync_api import Locator, expect

from tests.console.browser import Tab
from tests.console.lineage_states import an_hour
from tests.console.recorded import Call, ago, record


def test_ready_units_and_a_live_watch_are_said(tab: Tab) -> None:
    page = tab.open("/status")
    units = page.get_by_role("list", name="Units").get_by_role("listitem")
    for place, (unit, state) in enumerate(
        (("Control Plane", "Ready"), ("A2A Router", "Ready"), ("Topology watch", "Live"))
    ):
        expect(units.nth(place)).to_contain_text(unit)
        expect(units.nth(place)).to_contain_text(state)


def test_a_unit_that_is_not_ready_and_a_lost_watch_are_said(tab: Tab) -> None:
    body = '{"controlPlane": "ok", "router": "unavailable", "topology": "lost"}'
    origin = {"access-control-allow-origin": tab.stack.console}
    tab.page.route(
        "**/v1/status", lambda route: route.fulfill(content_type="application/json", body=body, headers=origin)
    )
    page = tab.open("/status")
    units = page.get_by_role("list", name="Units").get_by_role("listitem")
    expect(units.nth(1)).to_contain_text("Not ready")
    expect(units.nth(2)).to_contain_text("Lost")


def test_a_state_that_cannot_be_read_any_more_is_not_shown_as_ready(tab: Tab) -> None:
    page = tab.open("/status")
    units = page.get_by_role("list", name="Units").get_by_role("listitem")
    expect(units.first).to_contain_text("Ready")
    page.route("**/v1/status", lambda route: route.abort())
    expect(units.first).to_contain_text("Unknown", timeout=15_000)
    expect(page.get_by_role("alert")).to_contain_text("The Gateway could not be reached")
    tab.problems[:] = [problem for problem in tab.problems if "net::ERR_FAILED" not in problem]


def test_the_last_hour_of_a_workspace_is_counted_judged_and_timed(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("hour")
    an_hour(tab.stack, workspace_id)
    page = tab.open(f"/status?workspace={workspace_id}")
    figures = page.get_by_role("region", name="The last hour")

    def tile(name: str) -> Locator:
        return figures.locator("dl > div").filter(has_text=name)

    expect(tile("Invocations")).to_contain_text("102")
    expect(tile("Invocations")).to_contain_text("1.7 a minute")
    expect(tile("Success")).to_contain_text("89.1 %")
    expect(tile("Success")).to_contain_text("11 failed, 1 canceled")
    expect(tile("Latency p50")).to_contain_text("50 ms")
    expect(tile("Latency p95")).to_contain_text("100 ms")
    expect(tile("Latency p95")).to_contain_text("p90 90 ms")
    expect(figures.get_by_role("img", name=re.compile("Invocations per minute.*11 failed"))).to_be_visible()
    failures = figures.get_by_role("region", name="Failures")
    expect(failures).to_contain_text("AGENT_UNAVAILABLE")
    expect(failures).to_contain_text("connect_failed")
    expect(failures).to_contain_text("No connection to the Agent's endpoint could be made")
    expect(failures).to_contain_text("10 times")
    expect(failures).not_to_contain_text("INTERNAL_ERROR")
    skills = figures.get_by_role("region", name="By Skill")
    expect(skills.get_by_role("listitem").first).to_contain_text("10 failed")
    skills.get_by_role("link", name="shorten").click()
    expect(page).to_have_url(re.compile(r"/invocations\?agent=aop%3Asummarizer&capability=shorten&since="))
    expect(page.get_by_role("table")).to_have_attribute("aria-rowcount", "11")


def test_the_workspace_is_chosen_and_kept_in_the_address(tab: Tab) -> None:
    busy, quiet = tab.stack.workspace("busy"), tab.stack.workspace("quiet")
    record(tab.stack, [Call(busy, ago(minutes=n)) for n in range(3)])
    page = tab.open(f"/status?workspace={quiet}")
    invocations = page.locator("dl > div").filter(has_text="Invocations")
    expect(invocations).to_contain_text("0.0 a minute")
    page.get_by_label("Workspace", exact=True).select_option(busy)
    expect(page).to_have_url(re.compile(rf"\?workspace={busy}$"))
    expect(invocations).to_contain_text("3")
    record(tab.stack, [Call(busy, ago())])
    expect(invocations).to_contain_text("4", timeout=15_000)
