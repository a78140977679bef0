"""With the keyboard alone among much data: sign in, find, install, try, and find out what failed in a long Trace."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.browser import Tab
from tests.console.hands import keyboard
from tests.console.lineage_states import trace_path
from tests.console.rich.stack import Rich
from tests.console.rich.workspaces import FURTHER

pytestmark = pytest.mark.long

TRIED_IN = FURTHER[0]
"""Not the empty Workspace, which other tests want to find empty."""


@pytest.mark.rows("CON-05")
def test_somebody_signs_in_finds_installs_and_tries_an_agent(tab: Tab, rich: Rich) -> None:
    page, by = tab.page, keyboard(tab.page)
    page.goto(f"{rich.stack.console}/sign-in")
    by.write(page.get_by_label("Access token"), rich.stack.token)
    page.keyboard.press("Enter")
    by.write(page.get_by_label("Search Agents", exact=True), "summarizer")
    by.press(page.get_by_role("article").get_by_role("link", name="Summarizer", exact=True))
    by.press(page.get_by_role("button", name=re.compile("^Install")).first)
    consent = page.get_by_role("dialog")
    by.choose(consent.get_by_label("Workspace", exact=True), TRIED_IN)
    by.press(consent.get_by_role("checkbox", name="text.read"))
    by.press(consent.get_by_role("button", name="Install"))
    expect(page).to_have_url(re.compile(f"/workspaces/{TRIED_IN}/playground"))
    by.write(page.get_by_role("textbox", name="text"), "Ships wait in the harbour. Ships leave. Tea is hot.")
    by.press(page.get_by_role("button", name="Run", exact=True))
    expect(page.get_by_role("region", name="Output")).to_contain_text("harbour")
    by.press(page.get_by_role("main").get_by_role("link", name=re.compile("[Tt]race")).first)
    by.pick_first(page.get_by_role("tree", name="Waterfall"))
    expect(page.get_by_role("treeitem", selected=True)).to_have_count(1)


def test_the_failures_of_a_long_trace_are_reached_one_by_one(tab: Tab, rich: Rich) -> None:
    page, by = tab.open(trace_path(rich.traces.long)), keyboard(tab.page)
    chosen = page.get_by_role("treeitem", selected=True)
    seen = set()
    for _ in range(3):
        by.press(page.get_by_role("button", name="Next failure"))
        expect(chosen).to_be_in_viewport()
        expect(chosen).to_have_accessible_name(re.compile("Failed|Timed out|Canceled"))
        seen.add(chosen.get_attribute("id"))
        page.wait_for_url(re.compile("invocation=inv_"))
    assert len(seen) == 3
    by.press(page.get_by_role("tab", name="Waterfall"))
    page.keyboard.press("ArrowRight")
    graph = page.get_by_role("group", name="Call graph")
    expect(graph.get_by_role("button").first).to_be_visible()
