"""The check of a record in the browser: what was verified and what not, a head that was kept, and a changed record."""

import json
import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.console.browser import Tab
from tests.console.test_invocations import NOTES

pytestmark = pytest.mark.second_ring


def opened(tab: Tab, name: str) -> tuple[Page, Locator]:
    """The page of a call that was just made, and its panel."""
    workspace_id = tab.stack.workspace(name)
    tab.stack.install(workspace_id, "aop:action-items", ["notes.read"])
    tab.stack.invoke(workspace_id, "aop:action-items", "extract-action-items", NOTES)
    page = tab.open(f"/workspaces/{workspace_id}/invocations")
    page.get_by_role("row").nth(1).get_by_role("link").click()
    panel = page.get_by_role("region", name="Check")
    expect(panel).to_be_visible()
    return page, panel


def check(page: Page, panel: Locator) -> None:
    """Until the call is in the tree."""
    button = panel.get_by_role("button", name="Check in this browser")
    for _ in range(100):
        with page.expect_response(re.compile(r"/bundle$")) as answer:
            button.click()
        if answer.value.status == 200:
            return
        page.wait_for_timeout(100)
    raise AssertionError("the call did not come into the tree")


@pytest.mark.rows("TREE-01")
def test_the_browser_checks_the_record_and_says_what_that_proves(tab: Tab) -> None:
    page, panel = opened(tab, "checked")
    check(page, panel)
    expect(panel.get_by_role("heading", name="Verified in this browser")).to_be_visible()
    expect(panel).to_contain_text("All 4 events, from the creation to the end, lead to the root of the head")
    expect(panel).to_contain_text("that permitted the call are those that the events name")
    expect(panel).not_to_contain_text("unchanged")
    expect(panel).to_contain_text("nothing was compared with a head that you kept")
    head = panel.locator("code").inner_text()
    panel.get_by_label("A head that you kept").fill(f"{head.partition(':')[0]}:{'0' * 64}")
    with page.expect_response(re.compile(r"/bundle$")):
        panel.get_by_role("button", name="Check in this browser").click()
    expect(panel.get_by_text(re.compile("history was changed|another size"))).to_be_visible()


@pytest.mark.rows("TREE-01")
def test_a_changed_record_is_told(tab: Tab) -> None:
    page, panel = opened(tab, "forged")
    check(page, panel)

    def forge(route: Route) -> None:
        answer = route.fetch()
        bundle = json.loads(answer.body())
        bundle["invocations"][0]["leaves"][-1]["leaf"]["latencyMs"] += 1
        route.fulfill(response=answer, body=json.dumps(bundle))

    page.route(re.compile(r"/bundle$"), forge)
    panel.get_by_role("button", name="Check in this browser").click()
    expect(panel).to_contain_text("The record was changed: event 3 is not in the tree")
    expect(panel.get_by_role("heading", name="Verified in this browser")).to_have_count(0)
