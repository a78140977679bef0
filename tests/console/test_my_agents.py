"""My Agents: everything the account owns, over all its providers, one panel for each Agent with all its versions."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.console.browser import Tab
from tests.console.people import another_account
from tests.console.stack import Stack

pytestmark = pytest.mark.second_ring

VERSIONS = [f"1.{number}.0" for number in range(12)]
PAGE = 2
"""Agents in an answer of the Gateway, so that a few of them are several pages."""


def owned(stack: Stack) -> dict[str, list[str]]:
    """By Agent its versions: two providers, many versions, and an Agent that no provider has yet."""
    for number, provider in enumerate(("harbour", "lighthouse")):
        theirs = replace(stack, provider=f"{stack.principal}-{provider}")
        for name in ("one", "two"):
            theirs.register(agentId=f"{provider}:{name}", name=f"{provider} {name}")
            theirs.bind(f"{provider}:{name}")
        for version in VERSIONS[1:] if number == 0 else []:
            theirs.register(agentId=f"{provider}:one", name=f"{provider} one", version=version)
    stack.register(agentId="sketch", name="Sketch")
    return {
        "harbour:one": VERSIONS,
        "harbour:two": ["1.0.0"],
        "lighthouse:one": ["1.0.0"],
        "lighthouse:two": ["1.0.0"],
        "sketch": ["1.0.0"],
    }


def in_small_pages(route: Route) -> None:
    route.continue_(url=re.sub(r"limit=\d+", f"limit={PAGE}", route.request.url))


def panels(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("region")


@pytest.mark.rows("FIND-05")
def test_every_agent_of_every_provider_is_there_once_with_all_its_versions(tab: Tab) -> None:
    account = another_account(tab.stack, "keeper")
    agents = owned(account)
    tab.sign_in(account.token)
    tab.page.route("**/v1/me/agents*", in_small_pages)
    page = tab.open("/my-agents")
    expect(page.get_by_role("status").filter(has_text="5 Agents")).to_be_visible()
    shown = panels(page).evaluate_all("(each) => each.map((one) => one.getAttribute('aria-label'))")
    assert sorted(shown) == sorted(agents), "each Agent once"
    for agent_id, versions in agents.items():
        panel = page.get_by_role("region", name=agent_id, exact=True)
        expect(panel).to_contain_text(f"{len(versions)} version")
        if len(versions) > 1:
            panel.get_by_role("button", name=f"Show all {len(versions)} versions").click()
        listed = panel.get_by_role("listitem").get_by_role("link").filter(has_text=re.compile(r"^\d"))
        assert sorted(listed.all_text_contents()) == sorted(versions), agent_id
    asked = [request for request in tab.requests if "/v1/me/agents" in request.url and request.method == "GET"]
    assert len(asked) == 3, "two full pages and the last"

    page.get_by_label("Provider").select_option("keeper-lighthouse")
    expect(panels(page)).to_have_count(2)
    expect(page.get_by_role("status").filter(has_text="2 of 5 Agents")).to_be_visible()
    page.get_by_label("Provider").select_option("No provider yet")
    expect(panels(page)).to_have_count(1)
    expect(page.get_by_role("region", name="sketch")).to_contain_text("no provider yet")
