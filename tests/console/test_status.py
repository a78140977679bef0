"""Status: units ready or not, what each Router says, and how the chosen Workspace fared in the last hour."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.console.browser import Tab
from tests.console.lineage_states import an_hour
from tests.console.recorded import Call, ago, record
from tests.console.status_states import answer_status, burst, routers_not_well

pytestmark = pytest.mark.second_ring


def test_ready_units_and_a_live_watch_are_said(tab: Tab) -> None:
    page = tab.open("/status")
    units = page.get_by_role("list", name="Units").get_by_role("listitem")
    for place, (unit, state) in enumerate(
        (("Control Plane", "Ready"), ("A2A Router", "Ready"), ("Topology watch", "Live"))
    ):
        expect(units.nth(place)).to_contain_text(unit)
        expect(units.nth(place)).to_contain_text(state)
    router = page.get_by_role("region", name="Routers").get_by_role("listitem")
    expect(router).to_have_count(1)
    for text in ("Ready", "Live", "last message", "0 of 2 busy", "nothing waits", "the Ledger has all"):
        expect(router).to_contain_text(text)
    expect(router.get_by_role("listitem")).to_have_count(0)


def test_a_unit_that_is_not_ready_and_a_lost_watch_are_said(tab: Tab) -> None:
    answer_status(tab.page, tab.stack, {"controlPlane": "ok", "router": "unavailable", "topology": "lost"})
    page = tab.open("/status")
    units = page.get_by_role("list", name="Units").get_by_role("listitem")
    expect(units.nth(1)).to_contain_text("Not ready")
    expect(units.nth(2)).to_contain_text("Lost")
    expect(page.get_by_role("region", name="Routers")).to_have_count(0)


def test_what_is_wrong_with_a_router_is_said_in_sentences(tab: Tab) -> None:
    answer_status(tab.page, tab.stack, routers_not_well())
    page = tab.open("/status")
    units = page.get_by_role("list", name="Units").get_by_role("listitem")
    expect(units.nth(1)).to_contain_text("It answers, but something that it needs fails.")
    routers = page.get_by_role("region", name="Routers").locator("div > ul > li")
    expect(page.get_by_role("region", name="Routers")).to_contain_text("What the Router that answered says of itself.")
    expect(routers.nth(0)).to_contain_text("Not ready")
    sentences = routers.nth(0).get_by_role("listitem")
    for place, text in enumerate(
        (
            "12 Invocations have ended, but the end is not written to the Ledger yet.",
            "It is not known yet whether the Ledger has 3 accepted calls.",
            "The Ledger refused the end of 1 Invocation.",
            "The topology watch is lost since",
            "7 checks wait for one of 2 processes.",
        )
    ):
        expect(sentences.nth(place)).to_contain_text(text)
    expect(routers.nth(1)).to_contain_text("It gives no usable answer.")


def test_a_burst_is_cut_with_its_number_so_that_the_other_steps_can_be_read(tab: Tab) -> None:
    page = tab.open(burst(tab.stack))
    chart = page.get_by_role("figure")
    expect(chart).to_contain_text("The scale ends at 2. 1 higher bar is cut, with the number above")
    expect(chart).to_contain_text("the highest stands for 72.")
    expect(chart.get_by_role("img", name=re.compile("at most 72 in a step"))).to_be_visible()


def test_a_state_that_cannot_be_read_any_more_is_not_shown_as_ready(tab: Tab) -> None:
    page = tab.open("/status")
    units = page.get_by_role("list", name="Units").get_by_role("listitem")
    expect(units.first).to_contain_text("Ready")
    page.route("**/v1/status", lambda route: route.abort())
    expect(units.first).to_contain_text("Unknown")
    expect(page.get_by_role("alert")).to_contain_text("The Gateway could not be reached")
    tab.problems[:] = [problem for problem in tab.problems if "net::ERR_FAILED" not in problem]


def test_the_last_hour_of_a_workspace_is_counted_judged_and_timed(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("hour")
    an_hour(tab.stack, workspace_id)
    page = tab.open(f"/status?workspace={workspace_id}")
    figures = page.get_by_role("region", name=f"Workspace {workspace_id}")

    def tile(name: str) -> Locator:
        return figures.locator("dl > div").filter(has_text=name)

    expect(tile("Invocations")).to_contain_text("102")
    expect(tile("Invocations")).to_contain_text("1.7 a minute")
    expect(tile("Success")).to_contain_text("90 %")
    expect(tile("Success")).to_contain_text("10 failed, 1 canceled")
    expect(tile("Not ended")).to_contain_text("1")
    expect(tile("Latency p50")).to_contain_text(re.compile("(49|5[01]) ms"))
    expect(tile("Latency p90")).to_contain_text(re.compile("(8[89]|9[0-2]) ms"))
    expect(tile("Latency p99")).to_contain_text("slowest 100 ms")
    expect(figures.get_by_role("img", name=re.compile("Invocations over time.*10 of 102 failed"))).to_be_visible()
    expect(figures).to_contain_text("p50, p90 and p99 are at most 2 % off")
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
    page.go_back()
    failures.get_by_role("link", name="AGENT_UNAVAILABLE").click()
    expect(page).to_have_url(re.compile(r"/invocations\?code=AGENT_UNAVAILABLE&reason=connect_failed&since="))
    expect(page.get_by_role("table")).to_have_attribute("aria-rowcount", "11")


def test_there_is_one_choice_of_workspace_and_it_is_kept_in_the_address(tab: Tab) -> None:
    busy, quiet = tab.stack.workspace("busy"), tab.stack.workspace("quiet")
    record(tab.stack, [Call(busy, ago(minutes=n)) for n in range(3)])
    page = tab.open(f"/status?workspace={quiet}")
    invocations = page.locator("dl > div").filter(has_text="Invocations")
    expect(invocations).to_contain_text("0.0 a minute")
    switcher = page.get_by_role("button", name=f"Workspace: {quiet}")
    switcher.click()
    page.get_by_role("menuitem", name=busy).click()
    expect(page).to_have_url(re.compile(rf"/status\?workspace={busy}$"))
    expect(page.get_by_role("button", name=f"Workspace: {busy}")).to_be_visible()
    expect(page.get_by_role("heading", name=f"Workspace {busy}")).to_be_visible()
    expect(invocations).to_contain_text("3")
    record(tab.stack, [Call(busy, ago())])
    expect(invocations).to_contain_text("4")
    page.get_by_role("button", name="7 d").click()
    expect(page).to_have_url(re.compile(rf"\?workspace={busy}&last=7d$"))
    expect(page.get_by_text("Invocations per 2 hours")).to_be_visible()
