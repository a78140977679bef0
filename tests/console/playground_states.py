"""The Playground in states worth looking at: what is chosen, filled in, running or over."""

import json
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

from tests.console.browser import Tab
from tests.console.stack import Json, Stack, a_card
from tests.console.workspace_states import update

MANY_KINDS: Json = {
    "type": "object",
    "required": ["text", "language", "window"],
    "properties": {
        "text": {"type": "string", "description": "What is to be summarized.", "minLength": 1},
        "language": {"enum": ["en", "de", "fr"], "description": "The language of the summary."},
        "sentences": {"type": "integer", "minimum": 1, "maximum": 20, "default": 3},
        "quote": {"type": "boolean", "description": "Whether sentences are taken over as they are."},
        "tags": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 40}},
        "window": {"$ref": "#/$defs/window"},
        "author": {"type": ["string", "null"], "maxLength": 80},
        "source": {"oneOf": [{"type": "string"}, {"type": "object", "properties": {"url": {"type": "string"}}}]},
    },
    "$defs": {
        "window": {
            "type": "object",
            "required": ["from"],
            "properties": {
                "from": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
                "days": {"type": "number", "minimum": 0},
            },
        }
    },
}


def playground(workspace_id: str, **search: str) -> str:
    query = f"?{urlencode(search)}" if search else ""
    return f"/workspaces/{workspace_id}/playground{query}"


def with_samples(stack: Stack, **search: str) -> str:
    """The three sample Agents installed, one of them disabled."""
    workspace_id = stack.workspace("play")
    stack.install(workspace_id, "aop:summarizer", ["text.read"])
    stack.install(workspace_id, "aop:meeting-brief", ["notes.read"])
    update(stack, stack.install(workspace_id, "aop:action-items", ["notes.read"]), "disabled")
    return playground(workspace_id, **search)


def with_many_kinds(stack: Stack) -> str:
    """A Skill whose input has a field of every kind; its Agent does not run."""
    return with_input(stack, "Many kinds", MANY_KINDS)


def with_text(stack: Stack) -> str:
    """A Skill that takes a text; its Agent does not run."""
    return with_input(stack, "Chat", {"type": "string", "minLength": 2, "examples": ["Hello"]})


def with_input(stack: Stack, name: str, schema: Json) -> str:
    """A Skill with that schema; its Agent does not run."""
    skill = {**a_card(stack)["skills"][0], "inputSchema": schema}
    release = stack.publish(name=name, skills=[skill])
    workspace_id = stack.workspace("kinds")
    stack.install(workspace_id, release["agentId"], ["text.read"])
    return playground(workspace_id)


def choose(page: Page, label: str, name: str) -> None:
    """An Agent or a Skill by its name."""
    page.get_by_role("combobox", name=label, exact=True).fill(name)
    page.get_by_role("option", name=name).first.click()


def offered(page: Page, label: str) -> Locator:
    """What the choice offers when it is opened."""
    page.get_by_role("combobox", name=label, exact=True).click()
    return page.get_by_role("option")


def fill_in(page: Page, label: str, text: str) -> None:
    page.get_by_role("textbox", name=label).fill(text)


def run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def expect_state(page: Page, state: str) -> None:
    """How the run ended, or that it goes on."""
    expect(page.get_by_role("status").filter(has_text=state).first).to_be_visible()


def run_to_its_end(page: Page, stack: Stack) -> None:
    run(page)
    expect_state(page, "Succeeded")


def open_choice(page: Page, stack: Stack) -> None:
    offered(page, "Agent").first.wait_for()


def run_and_go_elsewhere(page: Page, stack: Stack) -> None:
    """To the Trace of a Skill that takes its time; its end comes there."""
    fill_in(page, "text", "one two three four five six seven eight nine ten ")
    fill_in(page, "wordsPerMinute", "600")
    run(page)
    page.get_by_role("link", name="Trace", exact=True).click()
    expect(page.get_by_role("region", name="Runs of the Playground")).to_contain_text("Succeeded")


def read_aloud_and_stop(page: Page, stack: Stack) -> None:
    fill_in(page, "text", "one two three four five six seven eight nine ten " * 20)
    fill_in(page, "wordsPerMinute", "600")
    run(page)
    expect(page.get_by_role("region", name="Output")).to_contain_text("two")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("The Ledger says")).to_contain_text("Canceled")


def run_what_is_wrong(page: Page, stack: Stack) -> None:
    """Nothing the form asks for is there: nothing is sent."""
    page.get_by_role("button", name="Clear").click()
    run(page)
    expect_state(page, "Nothing was sent")


def run_what_fails(page: Page, stack: Stack) -> None:
    """The endpoint of this Agent serves proofs and nothing else."""
    fill_in(page, "text", "Some text.")
    page.get_by_label("language").select_option("de")
    fill_in(page, "from", "2026-03-02")
    run(page)
    expect_state(page, "Failed")


def summarizer(tab: Tab, permissions: list[str] | None = None, **search: str) -> str:
    workspace_id = tab.stack.workspace("play")
    tab.stack.install(workspace_id, "aop:summarizer", ["text.read"] if permissions is None else permissions)
    return playground(workspace_id, agent="aop:summarizer", **search)


def sent(tab: Tab) -> list[Json]:
    """The bodies of the Invocations the page has made."""
    posts = [request for request in tab.requests if request.method == "POST"]
    return [json.loads(request.post_data or "") for request in posts if request.url.endswith("/invocations")]


def recorded(tab: Tab, workspace_id: str) -> list[Json]:
    records: list[Json] = tab.stack.caller.get(f"/v1/workspaces/{workspace_id}/invocations").json["items"]
    return records


def workspace_of(address: str) -> str:
    return address.split("/")[2]
