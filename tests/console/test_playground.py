"""The Playground: an installed Agent tried with a form or JSON, its answer shown as it comes, stopped when told to."""

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.console import forged_streams as forged
from tests.console.browser import PLAIN_FILE, Tab
from tests.console.playground_states import (
    choose,
    expect_state,
    fill_in,
    offered,
    playground,
    read_aloud_and_stop,
    recorded,
    run,
    sent,
    summarizer,
    with_samples,
    workspace_of,
)
from tests.console.stack import Json

WORDS = "one two three four five six seven eight nine ten "


def _output(page: Page) -> Locator:
    return page.get_by_role("region", name="Output")


def _expect_recorded(tab: Tab, address: str, status: str) -> None:
    """The one Invocation of the Workspace comes to that status."""
    records: list[Json] = []
    for _ in range(100):
        records = recorded(tab, workspace_of(address))
        if [record["status"] for record in records] == [status]:
            return
        tab.page.wait_for_timeout(50)
    raise AssertionError(f"not {status}: {records}")


@pytest.mark.second_ring
@pytest.mark.rows("CON-09")
def test_only_enabled_installations_are_offered(tab: Tab) -> None:
    page = tab.open(with_samples(tab.stack))
    names = ["Meeting briefaop:meeting-brief 1.0.0", "Summarizeraop:summarizer 1.0.0"]
    expect(offered(page, "Agent")).to_have_text(names)


@pytest.mark.rows("CON-09")
def test_an_agent_that_is_disabled_cannot_be_run_even_when_the_address_names_it(tab: Tab) -> None:
    page = tab.open(with_samples(tab.stack, agent="aop:action-items"))
    expect(page.get_by_text("aop:action-items is disabled in this Workspace.")).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_have_count(0)
    choose(page, "Agent", "Summarizer")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()


@pytest.mark.second_ring
def test_a_skill_whose_permissions_were_not_accepted_is_not_offered(tab: Tab) -> None:
    workspace_id = tab.stack.workspace()
    tab.stack.install(workspace_id, "aop:meeting-brief", [])
    page = tab.open(playground(workspace_id, agent="aop:meeting-brief", capability="brief-meeting"))
    expect(page.get_by_text("Brief meeting may not be used in this Workspace.")).to_be_visible()
    expect(page.get_by_text("notes.read")).to_be_visible()
    expect(offered(page, "Skill").and_(page.locator("[aria-disabled=true]"))).to_contain_text(
        ["brief-meeting: a permission it needs was not accepted", "digest-meetings: a permission it needs"]
    )
    choose(page, "Skill", "agenda")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()


@pytest.mark.second_ring
def test_the_example_of_a_skill_runs_as_one_json_result_shown_as_text(tab: Tab) -> None:
    page = tab.open(summarizer(tab, mode="json"))
    run(page)
    expect_state(page, "Succeeded")
    expect(_output(page)).to_contain_text("harbour")
    assert sent(tab)[0]["stream"] is False


@pytest.mark.second_ring
def test_rows_are_shown_as_a_table_and_anything_else_as_a_tree(tab: Tab) -> None:
    address = with_samples(tab.stack, agent="aop:summarizer", capability="rank-sentences", mode="json")
    page = tab.open(address)
    run(page)
    expect(page.get_by_role("columnheader")).to_have_text(["text", "position", "score"])
    expect(page.get_by_role("cell", name="Tea is grown in hills.")).to_be_visible()
    choose(page, "Agent", "Meeting brief")
    choose(page, "Skill", "Brief meeting")
    run(page)
    expect_state(page, "Succeeded")
    expect(_output(page)).to_contain_text('title: "Budget meeting"')


@pytest.mark.second_ring
def test_chunks_are_shown_as_they_arrive(tab: Tab) -> None:
    page = tab.open(summarizer(tab, capability="read-aloud"))
    fill_in(page, "text", WORDS)
    fill_in(page, "wordsPerMinute", "300")
    run(page)
    expect(_output(page)).to_contain_text("two")
    expect_state(page, "Running")
    expect(_output(page)).not_to_contain_text("ten")
    expect_state(page, "Succeeded")
    expect(_output(page)).to_have_text(WORDS.strip())


@pytest.mark.second_ring
@pytest.mark.rows("CON-07")
def test_stop_ends_the_stream_and_the_ledger_says_canceled(tab: Tab) -> None:
    address = summarizer(tab, capability="read-aloud")
    page = tab.open(address)
    read_aloud_and_stop(page, tab.stack)
    expect_state(page, "Stopped by you")
    expect(page.get_by_text("The output is incomplete.")).to_be_visible()
    _expect_recorded(tab, address, "canceled")


@pytest.mark.second_ring
def test_a_run_goes_on_while_its_trace_is_open_and_can_be_returned_to(tab: Tab) -> None:
    address = summarizer(tab, capability="read-aloud")
    page = tab.open(address)
    fill_in(page, "text", WORDS)
    fill_in(page, "wordsPerMinute", "100")
    run(page)
    expect(_output(page)).to_contain_text("two")
    page.get_by_role("link", name="Trace", exact=True).click()
    runs = page.get_by_role("region", name="Runs of the Playground")
    icon = page.locator('link[rel="icon"]')
    expect(runs).to_contain_text("Running")
    expect(icon).to_have_attribute("href", "/icon-running.svg")
    expect(runs).to_contain_text("Succeeded")
    expect(icon).to_have_attribute("href", "/icon-done.svg")
    runs.get_by_role("link", name="Show the result").click()
    expect(_output(page)).to_have_text(WORDS.strip())
    expect(page.get_by_role("textbox", name="text")).to_have_value(WORDS)
    page.get_by_role("link", name="Trace", exact=True).click()
    page.get_by_role("treeitem").first.wait_for()
    expect(runs).to_have_count(0)  # its end was seen
    expect(icon).to_have_attribute("href", "/icon.svg")
    page.go_back()
    expect(_output(page)).to_have_text(WORDS.strip())
    _expect_recorded(tab, address, "succeeded")


@pytest.mark.second_ring
@pytest.mark.rows("CON-07")
@pytest.mark.parametrize("left", ["page", "session"])
def test_leaving_the_console_cancels_what_runs(tab: Tab, left: str) -> None:
    address = summarizer(tab, capability="read-aloud")
    page = tab.open(address)
    fill_in(page, "text", WORDS * 20)
    run(page)
    expect(_output(page)).to_contain_text("two")
    if left == "page":
        page.goto(tab.stack.console + PLAIN_FILE)
    else:
        page.get_by_role("link", name="Discover").first.click()
        expect(page.get_by_role("region", name="Runs of the Playground")).to_contain_text("Running")
        page.evaluate("sessionStorage.setItem('aop.token', 'aop_gone')")
        page.get_by_role("link", name="Status").first.click()
        expect(page).to_have_url(re.compile("/sign-in"))
    _expect_recorded(tab, address, "canceled")


@pytest.mark.rows("CON-07")
def test_stop_also_ends_a_run_that_waits_for_one_result(tab: Tab) -> None:
    address = summarizer(tab, capability="read-aloud", mode="json")
    page = tab.open(address)
    fill_in(page, "text", WORDS * 20)
    run(page)
    expect_state(page, "Running")
    page.wait_for_timeout(500)
    page.get_by_role("button", name="Stop").click()
    expect_state(page, "Stopped by you")
    page.get_by_role("link", name="Find it among the Invocations").click()
    expect(page.get_by_role("table").get_by_text("Canceled", exact=True)).to_be_visible()


@pytest.mark.second_ring
def test_thousands_of_chunks_are_shown_without_falling_behind(tab: Tab) -> None:
    count = 8000
    chunks = [forged.chunk(number + 1, f"word{number} ") for number in range(count)]
    page = tab.open(summarizer(tab))
    forged.answer_with(page, [forged.accepted(), *chunks, forged.completed(count + 1)])
    run(page)
    expect_state(page, "Succeeded")
    expect(page.get_by_text("8,000 chunks")).to_be_visible()
    expect(_output(page)).to_contain_text(f"word{count - 1}")
    page.get_by_role("tab", name="Chunks").click()
    rows = page.get_by_role("table", name="Chunks").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("word0")
    assert rows.count() < 100
    rows.nth(2).get_by_role("button").click()
    expect(page.get_by_role("region", name="Chunk 1")).to_contain_text("word1")


@pytest.mark.second_ring
def test_the_trace_of_a_run_is_one_step_away(tab: Tab) -> None:
    page = tab.open(summarizer(tab))
    run(page)
    expect_state(page, "Succeeded")
    page.get_by_role("link", name="Trace", exact=True).click()
    expect(page).to_have_url(re.compile(r"/workspaces/play-\w+/traces/[0-9a-f]{32}$"))


@pytest.mark.second_ring
def test_an_agent_is_chosen_tried_and_stopped_by_keyboard_alone(tab: Tab) -> None:
    page = tab.open(with_samples(tab.stack, agent="aop:meeting-brief"))
    agents = page.get_by_role("combobox", name="Agent", exact=True)
    agents.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("aop%3Asummarizer"))
    expect(agents).to_be_focused()
    _tab_to(page, page.get_by_role("combobox", name="Skill", exact=True))
    page.keyboard.type("read")
    page.keyboard.press("Enter")
    _tab_to(page, page.get_by_role("textbox", name="text"))
    page.keyboard.press("Control+A")
    page.keyboard.type(WORDS * 5)
    _tab_to(page, page.get_by_role("textbox", name="wordsPerMinute"))
    page.keyboard.press("Control+A")
    page.keyboard.type("600")
    page.keyboard.press("Control+Enter")
    expect(_output(page)).to_contain_text("two")
    _tab_to(page, page.get_by_role("button", name="Run", exact=True))
    _tab_to(page, page.get_by_role("button", name="Stop"))
    page.keyboard.press("Space")
    expect_state(page, "Stopped by you")
    expect(page.get_by_text("The Ledger says")).to_contain_text("Canceled")
    _tab_to(page, page.get_by_role("button", name="Run again"))


@pytest.mark.second_ring
def test_the_choice_of_agent_keeps_the_focus_when_cards_come_late(tab: Tab) -> None:
    held: list[Route] = []
    tab.page.route("**/v1/agents/*/versions/*", lambda route: held.append(route))  # noqa: PLW0108  a plain function
    page = tab.open(with_samples(tab.stack, agent="aop:meeting-brief"))
    agents = page.get_by_role("combobox", name="Agent", exact=True)
    agents.focus()
    for _ in range(2):
        tab.wait_until(lambda: held)
        expect(agents).to_be_focused()
        held.pop().continue_()
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()
        expect(agents).to_be_focused()
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
    expect(page).to_have_url(re.compile("aop%3Asummarizer|aop%3Ameeting-brief"))


def _tab_to(page: Page, target: Locator) -> None:
    """Goes on with the Tab key until the target has the focus."""
    for _ in range(20):
        page.keyboard.press("Tab")
        if target.evaluate("(element) => element === document.activeElement"):
            return
    raise AssertionError(f"{target} is not reached with the Tab key")
