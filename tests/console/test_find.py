"""The one box: any id opens its page, Agents are found by words, actions by their names; all by keyboard."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.console.browser import Tab
from tests.console.people import another_account
from tests.console.stack import Stack

pytestmark = pytest.mark.second_ring


def opened(page: Page, key: str = "/") -> Locator:
    page.keyboard.press(key)
    return page.get_by_role("combobox", name="Search Agents, Workspaces and actions, or paste an id")


def go(page: Page, text: str) -> None:
    """Pastes and presses Enter at once, as people do."""
    box = opened(page)
    box.fill(text)
    box.press("Enter")


@pytest.fixture(scope="module")
def finder(stack: Stack) -> Stack:
    """An account with few Workspaces, one of which is open."""
    account = another_account(stack, "finder")
    account.caller.post("/v1/workspaces", {"workspaceId": "finder-open"})
    return account


@pytest.fixture(scope="module")
def called(finder: Stack) -> dict[str, str]:
    """Ids of everything that one call leaves behind, in a Workspace that is not the open one."""
    workspace = finder.workspace("found")
    installation = finder.install(workspace, "aop:summarizer", ["text.read"])
    done = finder.invoke(workspace, "aop:summarizer", "summarize", {"text": "One. Two. Three."})
    binding = finder.bind(finder.register(agentId=finder.agent_id("found"))["agentId"])
    overview = finder.caller.get("/v1/agents/aop:summarizer").json
    return {
        "workspace": workspace,
        "installation": installation["installationId"],
        "invocation": done["invocationId"],
        "trace": done["traceId"],
        "release": installation["installedReleaseId"],
        "binding": binding["bindingId"],
        "bound": binding["agentId"],
        "public": overview["publicAgentId"],
        "link": overview["publicUrl"],
    }


@pytest.mark.long
def test_any_id_opens_its_page_wherever_it_is(tab: Tab, finder: Stack, called: dict[str, str]) -> None:
    space = f"/workspaces/{called['workspace']}"
    pages = {
        called["invocation"]: f"{space}/invocations/{called['invocation']}",
        called["trace"]: f"{space}/traces/{called['trace']}",
        called["installation"]: f"{space}?agent=aop%3Asummarizer",
        called["release"]: f"/releases/{called['release']}",
        called["binding"]: f"/publish?agent={quote(called['bound'], safe='')}",
        called["workspace"]: space,
        "aop:summarizer": "/agents/aop:summarizer",
        called["bound"]: f"/agents/{called['bound']}",
        called["public"]: f"/a/{called['public']}",
        called["link"]: f"/a/{called['public']}",
    }
    tab.sign_in(finder.token)
    for text, address in pages.items():
        page = tab.open("/workspaces/finder-open")
        page.get_by_text("Nothing is installed here.").wait_for()
        go(page, f" {text} ")
        expect(page).to_have_url(re.compile(re.escape(tab.stack.console + address)))


def test_words_find_agents_and_workspaces_and_actions_by_keyboard(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    box = opened(page, "Control+k")
    expect(box).to_be_focused()
    box.fill("meeting")
    options = page.get_by_role("listbox")
    expect(options.get_by_role("option", name="Meeting brief")).to_be_visible()
    box.press("ArrowUp")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Search Discover for")
    box.fill("install summarizer")
    expect(options.get_by_role("option", name="Install Summarizer 1.0.0")).to_be_visible()
    box.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("Install Summarizer 1.0.0")
    page.keyboard.press("Escape")
    for text, address in {
        "publish": "/publish",
        "try summarizer": "/workspaces/demo/playground?agent=aop%3Asummarizer",
        "api key": "/tokens",
    }.items():
        tab.open("/workspaces/demo").get_by_role("heading", level=1).wait_for()
        page.get_by_role("article").first.wait_for()
        go(page, text)
        expect(page).to_have_url(tab.stack.console + address)


@pytest.mark.long
def test_an_id_is_looked_for_in_twenty_workspaces_at_most_and_a_failure_is_not_an_absence(tab: Tab) -> None:
    rich = another_account(tab.stack, "rich")
    for number in range(22):
        rich.caller.post("/v1/workspaces", {"workspaceId": f"rich-{number}"})
    tab.sign_in(rich.token)
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    opened(page).fill("5" * 32)
    status = page.get_by_role("dialog").get_by_role("status")
    expect(status).to_contain_text("Looked in 20 Workspaces: no Trace with this id.")
    expect(status).to_contain_text("refused before a call began")
    asked = {request.url for request in tab.requests if "5" * 32 in request.url}
    assert len(asked) == 20
    page.route("**/rich-1/**", lambda route: route.abort())
    opened_box = page.get_by_role("combobox")
    opened_box.fill("6" * 32)
    expect(status).to_contain_text("could not be looked up")
    tab.problems.clear()  # the browser's own line for the request that did not arrive


def test_the_keys_are_shown_and_typing_stays_typing(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    page.get_by_label("Search Agents").press("/")
    page.get_by_label("Search Agents").press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_label("Search Agents")).to_have_value("/?")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("combobox")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
