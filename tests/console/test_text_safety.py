"""Text that others wrote: on every screen hidden characters are marks, and an imitated name comes with a warning."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from aop.contracts.text import MARK
from tests.cli.hostile_text import EVIL, hidden_in, hostile
from tests.console.browser import Tab
from tests.console.people import another_account
from tests.console.routes import routes
from tests.console.stack import Json, Stack, a_card

pytestmark = [pytest.mark.rows("SAFE-10"), pytest.mark.second_ring]

_WITHOUT_TEXT_OF_OTHERS = {"/", "/sign-in", "/sign-in-code", "$"}
ALL_TEXT = """() => [document.title, document.body.innerText,
  ...[...document.querySelectorAll('*')].flatMap((each) =>
    ['title', 'aria-label', 'placeholder', 'alt'].map((name) => each.getAttribute(name) ?? '')),
  ...[...document.querySelectorAll('textarea')].map((each) => each.value)].join('\\n')"""


@pytest.fixture(scope="module")
def release(stack: Stack) -> Json:
    """Of an Agent with hostile text in every member, in two versions."""
    card = hostile(a_card(stack, agentId=stack.agent_id("hostile")))
    stack.publish(**card)
    return stack.publish(**{**card, "version": "1.1.0", "description": f"Changed{EVIL}"})


def places(stack: Stack, release: Json) -> Iterator[tuple[str, str]]:
    """By route, the addresses that show the Agent."""
    agent_id = release["agentId"]
    overview = stack.caller.get(f"/v1/agents/{agent_id}").json
    workspace = stack.workspace("hostile")
    stack.install(workspace, agent_id, ["text.read"])
    stack.install(workspace, "aop:summarizer", ["text.read"])
    done = stack.invoke(workspace, "aop:summarizer", "summarize", {"text": f"One{EVIL}. Two."})
    space = f"/workspaces/{workspace}"
    yield "/discover", "/discover?query=Name"
    for tab in ("overview", "versions", "difference", "use"):
        yield "/agents/$agentId", f"/agents/{agent_id}?version=1.1.0&from=1.0.0&tab={tab}"
    yield "/a/$publicAgentId", f"/a/{overview['publicAgentId']}"
    yield "/publish", f"/publish?agent={agent_id}&version=1.1.0&provider=aop"
    yield "/my-agents", "/my-agents"
    yield "/releases/$releaseId", f"/releases/{release['releaseId']}"
    yield "/workspaces", "/workspaces"
    yield "/workspaces/$workspaceId", space
    yield "/workspaces/$workspaceId/playground", f"{space}/playground?agent={agent_id}"
    yield "/workspaces/$workspaceId/playground", f"{space}/playground?agent={agent_id}&view=json"
    yield "/workspaces/$workspaceId/connect", f"{space}/connect?agent={agent_id}"
    yield "/workspaces/$workspaceId/invocations", f"{space}/invocations"
    yield "/workspaces/$workspaceId/invocations/$invocationId", f"{space}/invocations/{done['invocationId']}"
    yield "/workspaces/$workspaceId/traces", f"{space}/traces"
    yield "/workspaces/$workspaceId/traces/$traceId", f"{space}/traces/{done['traceId']}"
    yield "/workspaces/$workspaceId/people", f"{space}/people"
    yield "/status", "/status"
    stack.caller.post("/v1/me/tokens", {"label": "Label\u202eevil\u200b", "days": 1})
    yield "/tokens", "/tokens"


def require_marks(page: Page) -> str:
    page.wait_for_load_state("networkidle")
    shown: str = page.evaluate(ALL_TEXT)
    assert hidden_in(shown) == [], page.url
    return shown


def test_every_screen_shows_marks(tab: Tab, stack: Stack, release: Json) -> None:
    visited, marked = set(), set()
    for route, address in places(stack, release):
        page = tab.open(address)
        page.get_by_role("heading", level=1).first.wait_for()
        tab.require_no_sideways_scrolling()
        visited.add(route)
        if MARK in require_marks(page):
            marked.add(route)
    assert visited | _WITHOUT_TEXT_OF_OTHERS == set(routes()), "a new screen is looked at here as well"
    assert {
        "/discover",
        "/agents/$agentId",
        "/a/$publicAgentId",
        "/my-agents",
        "/workspaces/$workspaceId/playground",
        "/tokens",
    } <= marked


@pytest.mark.parametrize("width", [1280, 390])
def test_a_word_without_an_end_stays_in_the_window(tab: Tab, stack: Stack, width: int) -> None:
    word = "w" * 300
    skill = {**a_card(stack)["skills"][0], "name": word[:120], "description": word}
    entry = stack.register(agentId=stack.agent_id("long"), name=word[:120], description=word, skills=[skill])
    tab.page.set_viewport_size({"width": width, "height": 800})
    page = tab.open(f"/agents/{entry['agentId']}")
    page.get_by_text(word).first.wait_for()
    outside = f"""() => [...document.querySelectorAll('main *')].filter((each) => each.children.length === 0
      && each.textContent.includes('{word[:100]}') && each.getBoundingClientRect().right > innerWidth).length"""
    assert page.evaluate(outside) == 0
    tab.require_no_sideways_scrolling()


def test_a_mark_names_the_character_and_texts_are_set_apart(tab: Tab, release: Json) -> None:
    page = tab.open(f"/agents/{release['agentId']}")
    heading = page.get_by_role("heading", level=1)
    expect(heading.get_by_title("U+202E right-to-left override").first).to_have_text(MARK)
    isolation = "(each) => getComputedStyle(each).unicodeBidi"
    assert heading.locator("bdi").first.evaluate(isolation) == "isolate"


def test_a_result_with_such_characters_is_marked(tab: Tab, stack: Stack) -> None:
    workspace = stack.workspace("results")
    stack.install(workspace, "aop:summarizer", ["text.read"])
    page = tab.open(f"/workspaces/{workspace}/playground?agent=aop:summarizer&capability=summarize&mode=json")
    page.get_by_role("textbox", name="text").fill("Ships \u202ewait in the harbour\u200b. Ships leave. Tea is hot.")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("Succeeded").first.wait_for()
    shown = page.evaluate("document.body.innerText")  # not what was typed, which stays as it is
    assert hidden_in(shown) == []
    assert MARK in shown


@pytest.fixture(scope="module")
def imitation(stack: Stack) -> str:
    """Published by somebody else under the prefix of the samples, with a letter of another script in its name."""
    theirs = another_account(stack, "mallory")
    agent_id = stack.agent_id("imitation").replace("test:", "aop:")
    owner = {"id": "mallory", "displayName": "AOP samples"}
    theirs.publish(agentId=agent_id, name="Summ\u0430rizer", owner=owner)
    return agent_id


def test_the_agent_page_and_the_consent_warn_of_an_imitation(tab: Tab, imitation: str) -> None:
    page = tab.open(f"/agents/{imitation}")
    warnings = page.get_by_label("Warnings about the name")
    for text in ("The prefix aop is the provider id of", "looks like aop:summarizer of", "mixes letters of scripts"):
        expect(warnings).to_contain_text(text)
    page.get_by_role("button", name="Install", exact=True).click()
    consent = page.get_by_role("dialog")
    for text in (imitation, "mallory", "AOP samples", "looks like aop:summarizer of"):
        expect(consent).to_contain_text(text)
    expect(consent).to_contain_text("It may call any Skill that this Workspace may use.")
    tab.require_accessible("colours")


def test_a_list_of_installations_warns_of_an_imitation_too(tab: Tab, stack: Stack, imitation: str) -> None:
    workspace = stack.workspace("imitated")
    stack.install(workspace, "aop:summarizer", ["text.read"])
    stack.install(workspace, imitation, ["text.read"])
    page = tab.open(f"/workspaces/{workspace}?agent={imitation}")
    row = page.get_by_role("article", name="Summ\u0430rizer")
    expect(row).to_contain_text("Its name may imitate another")
    warnings = row.get_by_label("Warnings about the name")
    for text in ("The prefix aop is the provider id of", "looks like aop:summarizer of", "mixes letters of scripts"):
        expect(warnings).to_contain_text(text)
    expect(page.get_by_role("article", name="Summarizer", exact=True)).not_to_contain_text("imitate")
    assert not [request.url for request in tab.requests if "/v1/agents/" in request.url], "one list says it all"


def test_an_honest_agent_has_no_warning(tab: Tab) -> None:
    page = tab.open("/agents/aop:summarizer?open=install")
    page.get_by_role("dialog").get_by_label("Workspace", exact=True).select_option("New Workspace…")
    expect(page.get_by_role("dialog")).to_contain_text("It may call any Skill that this Workspace may use.")
    assert page.get_by_label("Warnings about the name").count() == 0
