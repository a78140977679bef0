"""Discover: found by what an Agent can do, with the search in the address."""

import pytest
from playwright.sync_api import Route, expect

from tests.console.browser import Tab
from tests.console.workspace_states import an_agent_with_a_newer_version

pytestmark = pytest.mark.second_ring


def test_search_as_one_types_is_kept_in_the_address_and_survives_a_reload(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_label("Search Agents").fill("action items")
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page).to_have_url(f"{tab.stack.console}/discover?query=action+items")
    page.reload()
    expect(page.get_by_label("Search Agents")).to_have_value("action items")
    expect(page.get_by_role("article")).to_have_count(1)


def test_a_capability_filters_to_the_agents_that_have_it(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("button", name="Exact filters").click()
    page.get_by_label("Skill", exact=True).fill("extract-action-items")
    expect(page).to_have_url(f"{tab.stack.console}/discover?capability=extract-action-items")
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_role("button", name="Remove the filter Skill extract-action-items")).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_label("Skill", exact=True)).to_have_value("")
    expect(page).to_have_url(f"{tab.stack.console}/discover")


def test_older_versions_are_shown_when_latest_is_switched_off(tab: Tab) -> None:
    agent_id = tab.stack.agent_id("versions")
    for version in ("1.0.0", "1.1.0"):
        tab.stack.publish(agentId=agent_id, version=version, name=f"Versioned {agent_id[-8:]}")
    page = tab.open(f"/discover?query=Versioned+{agent_id[-8:]}")
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_text("1.1.0")).to_be_visible()
    page.get_by_role("switch", name="Latest version only").uncheck()
    expect(page.get_by_role("article")).to_have_count(2)


def test_a_card_says_what_the_open_workspace_has_of_it_and_what_is_next(tab: Tab) -> None:
    agent_id = an_agent_with_a_newer_version(tab.stack)
    workspace_id = tab.stack.workspace("cards")
    tab.open(f"/workspaces/{workspace_id}").get_by_text("Nothing is installed here.").wait_for()
    page = tab.open("/discover?query=Mailer")
    card = page.get_by_role("article").filter(has_text=agent_id)
    expect(card.get_by_role("link", name="Install Mailer")).to_be_visible()
    tab.stack.install(workspace_id, agent_id, ["text.read"], "1.0.0")
    page.reload()
    expect(card).to_contain_text("Installed: 1.0.0")
    expect(card.get_by_role("link", name="Try it")).to_be_visible()
    card.get_by_role("link", name="Upgrade to 1.1.0").click()
    expect(page.get_by_role("dialog")).to_contain_text(f"{agent_id} is on 1.0.0 in {workspace_id}.")


@pytest.mark.rows("CON-11")
def test_an_answer_that_comes_late_does_not_replace_the_newer_one(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    held: list[Route] = []
    page.route("**/v1/agents?*query=summar*", lambda route: held.append(route))  # noqa: PLW0108  a plain function
    box = page.get_by_label("Search Agents")
    box.fill("summar")
    page.wait_for_url("**/discover?query=summar")
    box.fill("action items")
    expect(page.get_by_role("article")).to_have_count(1)
    for route in held:
        route.continue_()
    expect(page.get_by_role("heading", level=2)).to_have_count(1)
    expect(page.get_by_role("heading", level=2)).to_contain_text("Action")


def test_a_gateway_out_of_reach_is_said_with_a_way_on(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    page.route("**/v1/agents?**", lambda route: route.abort())
    page.get_by_label("Search Agents").fill("anything")
    expect(page.get_by_role("alert")).to_contain_text("The Gateway could not be reached")
    page.unroute("**/v1/agents?**")
    page.get_by_label("Search Agents").fill("brief")
    expect(page.get_by_role("article").first).to_be_visible()
    tab.problems[:] = [problem for problem in tab.problems if "net::ERR_FAILED" not in problem]
