"""Lists whose pages end early: a page without rows that has a cursor is not the end of the list."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.console.browser import Tab
from tests.console.recorded import Call, ago, record

pytestmark = pytest.mark.second_ring

_READ_AT_ONCE = 5
"""Pages without rows that the Console reads before it asks whether to go on."""


class Ending:
    """Answers of the Gateway, behind as many pages without rows as a rare filter would have in a large Workspace."""

    def __init__(self, empty_pages: int) -> None:
        self._empty_pages = empty_pages
        self.heads = 0

    def answer(self, route: Route) -> None:
        cursor = parse_qs(urlsplit(route.request.url).query).get("cursor", [""])[0]
        self.heads += cursor == ""
        number = int(cursor or 0)
        if number < self._empty_pages:
            page = {"items": [], "nextCursor": str(number + 1)}
            route.fulfill(json=page, headers={"access-control-allow-origin": "*"})
        else:
            route.continue_(url=route.request.url.replace(f"cursor={cursor}", "").rstrip("&?"))


def opened(tab: Tab, noun: str, empty_pages: int) -> tuple[Page, Ending]:
    workspace_id = tab.stack.workspace("rare")
    record(tab.stack, [Call(workspace_id, ago(minutes=3), capability="rare")])
    ending = Ending(empty_pages)
    tab.page.clock.install()
    tab.page.route(f"**/workspaces/{workspace_id}/{noun}?*", ending.answer)
    return tab.open(f"/workspaces/{workspace_id}/{noun}"), ending


def test_a_list_goes_on_behind_pages_without_rows(new_tab: Tab) -> None:
    page, _ = opened(new_tab, "traces", _READ_AT_ONCE - 1)
    expect(page.get_by_role("table", name="Traces")).to_contain_text("rare")


def test_a_search_that_has_met_nothing_says_so_and_goes_on_where_it_was(new_tab: Tab) -> None:
    page, ending = opened(new_tab, "invocations", 2 * _READ_AT_ONCE + 1)
    expect(page.get_by_text("No Invocation matches so far.")).to_be_visible()
    for _ in range(2):
        before = ending.heads
        page.get_by_role("button", name="Load more").click()
        while ending.heads == before:  # the list is refreshed meanwhile, and ends as early as before
            page.clock.run_for(1000)
    expect(page.get_by_role("table", name="Invocations")).to_contain_text("rare")


def test_discovery_goes_on_behind_a_page_without_agents(new_tab: Tab) -> None:
    new_tab.page.route("**/v1/agents?*", Ending(1).answer)
    page = new_tab.open("/discover")
    page.get_by_role("button", name="Load more").click()
    page.get_by_role("article").first.wait_for()
