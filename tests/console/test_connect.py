"""The Connect page: the same texts as `aop connect`, reachable from what is installed, ready to be copied."""

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from aop.cli.shell import snippets
from aop.cli.shell.snippets import Callee, ExampleCall
from tests.console.browser import Tab

pytestmark = pytest.mark.second_ring

AGENT, SKILL = "aop:summarizer", "rank-sentences"


def test_each_snippet_is_that_of_the_command_line(tab: Tab) -> None:
    callee = _callee(tab)
    page = tab.open(f"/workspaces/demo/connect?agent={AGENT}&capability={SKILL}")
    for snippet in snippets.table().snippets:
        page.get_by_role("navigation", name="Use it from").get_by_role("link", name=snippet.label, exact=True).click()
        code = page.get_by_role("region", name=f"{snippet.label} snippet", exact=True)
        expect(code).to_be_visible()
        assert code.inner_text() == snippets.rendered(snippet, callee)
        expect(page.get_by_text(snippets.token_text(snippet, callee, local=False))).to_be_visible()
    assert tab.stack.token not in page.content()


def test_it_is_reached_from_an_installation_and_from_the_workspace(tab: Tab) -> None:
    page = tab.open(f"/workspaces/demo?agent={AGENT}")
    panel = page.get_by_role("article").filter(has_text=AGENT).filter(has_text="Pinned to")
    panel.get_by_role("link", name="Use it from…").click()
    expect(page.get_by_label("Agent", exact=True)).to_have_value(AGENT)
    page.get_by_role("link", name="curl", exact=True).click()
    expect(page).to_have_url(f"{tab.stack.console}/workspaces/demo/connect?agent={quote(AGENT, safe='')}&from=curl")
    page.get_by_role("button", name="Copy curl snippet").click()
    assert "$AOP_TOKEN" in page.evaluate("navigator.clipboard.readText()")


def test_it_can_be_used_with_the_keyboard_alone(tab: Tab) -> None:
    page = tab.open(f"/workspaces/demo/connect?agent={AGENT}&from=claude-desktop")
    page.get_by_role("link", name="Claude Desktop").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Claude Code", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Claude Code", exact=True)).to_have_attribute("aria-current", "page")
    copy = page.get_by_role("button", name="Copy Claude Code snippet")
    copy.focus()
    page.keyboard.press("Enter")
    assert "claude mcp add aop-demo -- aop mcp --workspace demo" in page.evaluate("navigator.clipboard.readText()")


def test_it_says_that_no_skill_may_be_used(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("narrow")
    tab.stack.install(workspace_id, AGENT, [])
    page = tab.open(f"/workspaces/{workspace_id}/connect?agent={AGENT}&from=curl")
    expect(page.get_by_text("No Skill of this Agent may be used")).to_be_visible()
    page.get_by_role("link", name="Claude Desktop").click()
    expect(page.get_by_role("region", name="Claude Desktop snippet")).to_be_visible()


def _callee(tab: Tab) -> Callee:
    """As in a browser, where nobody knows what is on the reader's machine."""
    card = tab.stack.caller.get(f"/v1/agents/{AGENT}/versions/1.0.0").json
    skill = next(one for one in card["skills"] if one["id"] == SKILL)
    example = json.dumps(skill["inputSchema"]["examples"][0], separators=(",", ":"), ensure_ascii=False)
    call = ExampleCall(AGENT, SKILL, example.encode(), card["limits"]["streaming"])
    door = tab.stack.platform.run["door"]
    return Callee(tab.stack.gateway, "demo", ("aop", "mcp", "--workspace", "demo"), door, call)
