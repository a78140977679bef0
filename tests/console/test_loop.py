"""The whole loop in the browser: register, prove, publish, install, invoke, trace; by mouse, and by keyboard alone."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.console.browser import Tab
from tests.console.hands import Hand, keyboard, mouse
from tests.console.stack import Json, sample_card


@pytest.mark.rows("CON-05")
@pytest.mark.parametrize("hand", [mouse, keyboard], ids=["mouse", "keyboard"])
def test_the_whole_loop(tab: Tab, hand: Callable[[Page], Hand]) -> None:
    page, by = tab.page, hand(tab.page)
    card = _card(tab)
    page.goto(tab.stack.sign_in_link())
    _publish(tab, by, card)
    by.press(page.get_by_role("link", name="Open the Agent page"))
    workspace_id = tab.stack.agent_id("loop").replace("test:", "")
    _install(page, by, workspace_id)
    by.press(page.get_by_role("button", name="Run", exact=True))
    expect(page.get_by_role("region", name="Output")).to_contain_text("harbour")
    by.press(page.get_by_role("main").get_by_role("link", name=re.compile("[Tt]race")).first)
    expect(page.get_by_role("treeitem")).to_have_count(1)
    entry = tab.stack.caller.get(f"/v1/agents/{card['agentId']}").json["versions"][0]
    (record,) = tab.stack.caller.get(f"/v1/workspaces/{workspace_id}/invocations").json["items"]
    assert record["status"] == "succeeded"
    assert (record["agentReleaseId"], record["agentCardDigest"]) == (entry["release"]["releaseId"], entry["cardDigest"])
    by.pick_first(page.get_by_role("tree", name="Waterfall"))
    expect(page.get_by_title(entry["release"]["releaseId"])).to_be_visible()
    expect(page.get_by_title(entry["cardDigest"])).to_be_visible()


def _card(tab: Tab) -> Json:
    """A Card of a new Agent that the sample's process answers for."""
    card = sample_card("summarizer")
    (origin,) = [agent["origin"] for agent in tab.stack.platform.run["agents"] if agent["agentId"] == card["agentId"]]
    card["agentId"], card["name"] = tab.stack.agent_id("loop"), "Looped"
    card["owner"]["id"] = tab.stack.principal
    card["protocol"]["endpoint"] = f"{origin}/"
    return card


def _publish(tab: Tab, by: Hand, card: Json) -> None:
    page = tab.page
    by.press(page.get_by_role("link", name="Publish", exact=True))
    by.write(page.get_by_label("Card as JSON"), json.dumps(card))
    by.press(page.get_by_role("button", name="Register the Card"))
    by.write(page.get_by_label("Provider id"), "aop")
    by.press(page.get_by_role("button", name="Bind the endpoint"))
    by.press(page.get_by_role("button", name="Create a challenge"))
    shown = page.get_by_role("listitem").filter(has=page.get_by_role("button", name="Check now"))
    shown.wait_for()
    found = re.search(r"challenges/(chal_[0-9a-f]{32}).*?\b([0-9a-f]{64})\b", shown.inner_text(), re.DOTALL)
    assert found
    proof = tab.stack.platform.data / "proofs" / "summarizer" / found[1]
    proof.write_text(found[2])
    by.press(page.get_by_role("button", name="Check now"))
    by.press(page.get_by_role("button", name="Create the Release"))
    proof.unlink()
    by.press(page.get_by_role("button", name="Publish", exact=True))


def _install(page: Page, by: Hand, workspace_id: str) -> None:
    by.press(page.get_by_role("button", name="Install", exact=True))
    dialog = page.get_by_role("dialog")
    by.choose(dialog.get_by_label("Workspace", exact=True), "New Workspace…")
    by.write(dialog.get_by_label("Id of the new Workspace"), workspace_id)
    by.press(dialog.get_by_role("checkbox", name="text.read"))
    by.press(dialog.get_by_role("button", name="Install"))
    expect(page).to_have_url(re.compile(f"/workspaces/{workspace_id}/playground"))
