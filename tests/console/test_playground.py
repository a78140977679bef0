"""The Playground: an installed Agent tried with a form or JSON, its answer shown as it comes, stopped when told to."""

import json
import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.console import forged_streams as forged
from tests.console.browser import Tab
from tests.console.playground_states import (
    expect_state,
    fill_in,
    playground,
    read_aloud_and_stop,
    run,
    with_many_kinds,
    with_samples,
)
from tests.console.stack import Json, a_card
from tests.console.workspace_states import update

WORDS = "one two three four five six seven eight nine ten "


def _summarizer(tab: Tab, permissions: list[str] | None = None, **search: str) -> str:
    workspace_id = tab.stack.workspace("play")
    tab.stack.install(workspace_id, "aop:summarizer", ["text.read"] if permissions is None else permissions)
    return playground(workspace_id, agent="aop:summarizer", **search)


def _output(page: Page) -> Locator:
    return page.get_by_role("region", name="Output")


def _sent(tab: Tab) -> list[Json]:
    """The bodies of the Invocations the page has made."""
    posts = [request for request in tab.requests if request.method == "POST"]
    return [json.loads(request.post_data or "") for request in posts if request.url.endswith("/invocations")]


def _recorded(tab: Tab, workspace_id: str) -> list[Json]:
    records: list[Json] = tab.stack.caller.get(f"/v1/workspaces/{workspace_id}/invocations").json["items"]
    return records


def _expect_recorded(tab: Tab, address: str, status: str) -> None:
    """The one Invocation of the Workspace comes to that status."""
    records: list[Json] = []
    for _ in range(100):
        records = _recorded(tab, _workspace_of(address))
        if [record["status"] for record in records] == [status]:
            return
        tab.page.wait_for_timeout(50)
    raise AssertionError(f"not {status}: {records}")


def _workspace_of(address: str) -> str:
    return address.split("/")[2]


@pytest.mark.rows("CON-09")
def test_only_enabled_installations_are_offered(tab: Tab) -> None:
    page = tab.open(with_samples(tab.stack))
    options = page.get_by_label("Agent", exact=True).locator("option")
    expect(options).to_have_text(["aop:meeting-brief 1.0.0", "aop:summarizer 1.0.0"])


@pytest.mark.rows("CON-09")
def test_an_agent_that_is_disabled_cannot_be_run_even_when_the_address_names_it(tab: Tab) -> None:
    page = tab.open(with_samples(tab.stack, agent="aop:action-items"))
    expect(page.get_by_text("aop:action-items is disabled in this Workspace.")).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_have_count(0)
    page.get_by_label("Agent", exact=True).select_option("aop:summarizer")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()


def test_a_skill_whose_permissions_were_not_accepted_is_not_offered(tab: Tab) -> None:
    workspace_id = tab.stack.workspace()
    tab.stack.install(workspace_id, "aop:meeting-brief", [])
    page = tab.open(playground(workspace_id, agent="aop:meeting-brief", capability="brief-meeting"))
    expect(page.get_by_text("Brief meeting may not be used in this Workspace.")).to_be_visible()
    expect(page.get_by_text("notes.read")).to_be_visible()
    skills = page.get_by_label("Skill", exact=True)
    expect(skills.locator("option:disabled")).to_have_text(["brief-meeting", "digest-meetings"])
    skills.select_option("write-agenda")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()


def test_the_example_of_a_skill_runs_as_one_json_result_shown_as_text(tab: Tab) -> None:
    page = tab.open(_summarizer(tab, mode="json"))
    run(page)
    expect_state(page, "Succeeded")
    expect(_output(page)).to_contain_text("harbour")
    assert _sent(tab)[0]["stream"] is False


def test_rows_are_shown_as_a_table_and_anything_else_as_a_tree(tab: Tab) -> None:
    address = with_samples(tab.stack, agent="aop:summarizer", capability="rank-sentences", mode="json")
    page = tab.open(address)
    run(page)
    expect(page.get_by_role("columnheader")).to_have_text(["text", "position", "score"])
    expect(page.get_by_role("cell", name="Tea is grown in hills.")).to_be_visible()
    page.get_by_label("Agent", exact=True).select_option("aop:meeting-brief")
    page.get_by_label("Skill", exact=True).select_option("brief-meeting")
    run(page)
    expect_state(page, "Succeeded")
    expect(_output(page)).to_contain_text('title: "Budget meeting"')


def test_chunks_are_shown_as_they_arrive(tab: Tab) -> None:
    page = tab.open(_summarizer(tab, capability="read-aloud"))
    fill_in(page, "text", WORDS)
    fill_in(page, "wordsPerMinute", "300")
    run(page)
    expect(_output(page)).to_contain_text("two")
    expect_state(page, "Running")
    expect(_output(page)).not_to_contain_text("ten")
    expect_state(page, "Succeeded")
    expect(_output(page)).to_have_text(WORDS.strip())


@pytest.mark.rows("CON-07")
def test_stop_ends_the_stream_and_the_ledger_says_canceled(tab: Tab) -> None:
    address = _summarizer(tab, capability="read-aloud")
    page = tab.open(address)
    read_aloud_and_stop(page, tab.stack)
    expect_state(page, "Stopped by you")
    expect(page.get_by_text("The output is incomplete.")).to_be_visible()
    _expect_recorded(tab, address, "canceled")


@pytest.mark.rows("CON-07")
def test_leaving_the_screen_cancels_what_runs(tab: Tab) -> None:
    address = _summarizer(tab, capability="read-aloud")
    page = tab.open(address)
    fill_in(page, "text", WORDS * 20)
    run(page)
    expect(_output(page)).to_contain_text("two")
    page.get_by_role("link", name="Trace").click()
    _expect_recorded(tab, address, "canceled")


@pytest.mark.rows("CON-07")
def test_stop_also_ends_a_run_that_waits_for_one_result(tab: Tab) -> None:
    address = _summarizer(tab, capability="read-aloud", mode="json")
    page = tab.open(address)
    fill_in(page, "text", WORDS * 20)
    run(page)
    expect_state(page, "Running")
    page.wait_for_timeout(500)
    page.get_by_role("button", name="Stop").click()
    expect_state(page, "Stopped by you")
    page.get_by_role("link", name="Find it among the Invocations").click()
    expect(page.get_by_role("table").get_by_text("Canceled")).to_be_visible()


@pytest.mark.rows("CON-08")
@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([forged.accepted(), forged.chunk(2, "lost"), forged.completed(3)], "Invalid stream"),
        ([forged.accepted(), forged.chunk(1, "x", index=1), forged.completed(2)], "Invalid stream"),
        ([forged.accepted(), forged.chunk(1, "x", traceId="4" * 32), forged.completed(2)], "Invalid stream"),
        ([forged.accepted(), forged.completed(1), forged.completed(2)], "Invalid stream"),
        ([forged.accepted(), forged.chunk(1, "only the beginning")], "Interrupted"),
    ],
    ids=["gap", "chunk gap", "foreign ids", "event after the terminal", "no terminal"],
)
def test_a_stream_that_breaks_its_rules_is_never_a_success(tab: Tab, events: list[Json], state: str) -> None:
    page = tab.open(_summarizer(tab))
    forged.answer_with(page, events)
    run(page)
    expect_state(page, state)
    expect(page.get_by_role("alert")).to_contain_text("Next step")
    expect(page.get_by_text("Succeeded")).to_have_count(0)


def test_thousands_of_chunks_are_shown_without_falling_behind(tab: Tab) -> None:
    count = 8000
    chunks = [forged.chunk(number + 1, f"word{number} ") for number in range(count)]
    page = tab.open(_summarizer(tab))
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


@pytest.mark.rows("CON-06")
def test_violations_stand_next_to_their_fields_until_these_are_changed(tab: Tab) -> None:
    page = tab.open(with_many_kinds(tab.stack))
    fill_in(page, "sentences", "99")
    fill_in(page, "from", "yesterday")
    page.get_by_role("button", name="Add to tags").click()
    page.keyboard.type("x" * 41)
    run(page)
    expect_state(page, "Not accepted")
    for label, pointer, rule in [
        ("text", "/input/text", "required"),
        ("sentences", "/input/sentences", "maximum"),
        ("from", "/input/window/from", "pattern"),
        ("tags 1", "/input/tags/0", "maxLength"),
    ]:
        expect(page.get_by_role("textbox", name=re.compile(f"^{label}"))).to_have_accessible_description(
            re.compile(f"{pointer} breaks {rule}")
        )
    expect(page.get_by_label("language")).to_have_accessible_description(re.compile("/input/language breaks required"))
    expect(page.get_by_role("alert").filter(has_text="VALIDATION_ERROR")).to_contain_text("HTTP 400")
    fill_in(page, "sentences", "9")
    expect(page.get_by_text("/input/sentences")).to_have_count(0)
    expect(page.get_by_text("/input/window/from")).to_be_visible()


@pytest.mark.rows("CON-06")
def test_violations_are_listed_at_the_json_view_too(tab: Tab) -> None:
    page = tab.open(_summarizer(tab, view="json"))
    page.get_by_label("Input as JSON").fill('{"text": "x", "sentences": 0, "other": 1}')
    run(page)
    expect(page.get_by_text("/input/sentences breaks minimum")).to_be_visible()
    expect(page.get_by_text("Has a member the Skill does not know.")).to_be_visible()


def test_form_and_json_are_two_views_of_one_input(tab: Tab) -> None:
    page = tab.open(with_many_kinds(tab.stack))
    fill_in(page, "text", "Some text")
    page.get_by_label("language").select_option("de")
    page.get_by_label("quote").select_option("false")
    page.get_by_label("author: null").check()
    page.get_by_role("tab", name="JSON").click()
    box = page.get_by_label("Input as JSON")
    shown: Json = page.evaluate("(element) => JSON.parse(element.value)", box.element_handle())
    assert shown == {
        "text": "Some text", "language": "de", "quote": False, "author": None, "sentences": 3, "window": {}
    }  # fmt: skip
    box.fill('{"text": "Other", "window": {"from": "2026-03-02", "days": 2.5}, "tags": ["a", "b"], "extra": true}')
    page.get_by_role("tab", name="Form").click()
    expect(page.get_by_role("textbox", name="text")).to_have_value("Other")
    expect(page.get_by_role("textbox", name="days")).to_have_value("2.5")
    expect(page.get_by_role("textbox", name="tags 2")).to_have_value("b")
    expect(page.get_by_text("only shown as JSON: extra")).to_be_visible()
    page.get_by_role("tab", name="JSON").click()
    box.fill('{"text": ')
    page.get_by_role("tab", name="Form").click()
    expect(page.get_by_role("alert")).to_contain_text("not a JSON object")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Nothing has run yet.")).to_be_visible()


def test_a_member_without_a_field_of_its_kind_is_edited_as_json(tab: Tab) -> None:
    page = tab.open(with_many_kinds(tab.stack))
    fill_in(page, "text", "Some text")
    page.get_by_label("language").select_option("en")
    fill_in(page, "from", "2026-03-02")
    fill_in(page, "source", '{"url": ')
    expect(page.get_by_role("alert")).to_contain_text("Not JSON")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Nothing has run yet.")).to_be_visible()
    fill_in(page, "source", '{"url": "https://example.org"}')
    run(page)
    expect_state(page, "Failed")
    assert _sent(tab)[0]["input"]["source"] == {"url": "https://example.org"}


@pytest.mark.rows("CON-06")
def test_a_failure_after_acceptance_is_shown_with_its_invocation_and_what_to_do(tab: Tab) -> None:
    page = tab.open(f"{_agent_out_of_reach(tab)}&mode=json")
    run(page)
    expect_state(page, "Failed")
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("AGENT_UNAVAILABLE")
    expect(notice).to_contain_text("HTTP 503")
    expect(notice).to_contain_text("Next step (the provider of the Agent)")
    expect(notice).to_contain_text("Invocation")
    page.get_by_role("link", name="Invocation", exact=True).click()
    expect(page.get_by_text("AGENT_UNAVAILABLE").first).to_be_visible()


def test_a_failure_in_the_stream_is_shown_like_any_other(tab: Tab) -> None:
    page = tab.open(_agent_out_of_reach(tab))
    run(page)
    expect_state(page, "Failed")
    expect(page.get_by_role("alert")).to_contain_text("AGENT_UNAVAILABLE")
    expect(page.get_by_role("alert")).to_contain_text("Next step (the provider of the Agent)")


@pytest.mark.rows("CON-06")
def test_an_installation_disabled_meanwhile_is_refused_with_the_way_on(tab: Tab) -> None:
    workspace_id = tab.stack.workspace()
    installation = tab.stack.install(workspace_id, "aop:summarizer", ["text.read"])
    page = tab.open(playground(workspace_id))
    page.get_by_role("button", name="Run", exact=True).wait_for()
    update(tab.stack, installation, "disabled")
    run(page)
    expect_state(page, "Not accepted")
    expect(page.get_by_role("alert")).to_contain_text("INSTALLATION_DISABLED")
    page.get_by_role("alert").get_by_role("link", name="Open the Workspace").click()
    expect(page.get_by_role("button", name="Enable")).to_be_visible()


def test_the_same_input_again_makes_a_new_invocation_with_exactly_that_input(tab: Tab) -> None:
    address = _summarizer(tab)
    page = tab.open(address)
    fill_in(page, "text", "First sentence. Second sentence.")
    run(page)
    expect_state(page, "Succeeded")
    fill_in(page, "text", "Something else.")
    page.get_by_role("button", name="Run again").click()
    expect(page.get_by_role("textbox", name="text")).to_have_value("First sentence. Second sentence.")
    expect_state(page, "Succeeded")
    first, second = _sent(tab)
    assert first == second
    assert len(_recorded(tab, _workspace_of(address))) == 2


def test_what_is_tried_and_how_is_in_the_address_and_the_input_never_is(tab: Tab) -> None:
    page = tab.open(with_samples(tab.stack))
    page.get_by_label("Agent", exact=True).select_option("aop:summarizer")
    page.get_by_label("Skill", exact=True).select_option("read-aloud")
    page.get_by_label("One JSON result").check()
    fill_in(page, "text", "nobody's business")
    page.get_by_role("tab", name="JSON").click()
    expect(page).to_have_url(re.compile(r"agent=aop%3Asummarizer&capability=read-aloud&mode=json&view=json$"))
    assert "business" not in page.url
    assert "business" not in page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage)")
    page.reload()
    expect(page.get_by_label("Skill", exact=True)).to_have_value("read-aloud")
    expect(page.get_by_label("One JSON result")).to_be_checked()
    expect(page.get_by_label("Input as JSON")).to_be_visible()


def test_the_trace_of_a_run_is_one_step_away(tab: Tab) -> None:
    page = tab.open(_summarizer(tab))
    run(page)
    expect_state(page, "Succeeded")
    page.get_by_role("link", name="Trace").click()
    expect(page).to_have_url(re.compile(r"/workspaces/play-\w+/traces/[0-9a-f]{32}$"))


def test_an_agent_is_chosen_tried_and_stopped_by_keyboard_alone(tab: Tab) -> None:
    page = tab.open(with_samples(tab.stack, agent="aop:meeting-brief"))
    agents = page.get_by_label("Agent", exact=True)
    agents.focus()
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile("aop%3Asummarizer"))
    expect(agents).to_be_focused()
    _tab_to(page, page.get_by_label("Skill", exact=True))
    page.keyboard.type("read")
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


def test_the_choice_of_agent_keeps_the_focus_when_cards_come_late(tab: Tab) -> None:
    held: list[Route] = []
    tab.page.route("**/v1/agents/*/versions/*", lambda route: held.append(route))  # noqa: PLW0108  a plain function
    page = tab.open(with_samples(tab.stack, agent="aop:meeting-brief"))
    agents, skills = page.get_by_label("Agent", exact=True), page.get_by_label("Skill", exact=True)
    agents.focus()
    for name in ("Meeting brief", "Summarizer"):
        while not held:
            page.wait_for_timeout(10)
        expect(skills).to_be_hidden()
        expect(agents).to_be_focused()
        held.pop().continue_()
        expect(page.get_by_role("link", name=f"About {name}")).to_be_visible()
        expect(agents).to_be_focused()
        page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile("aop%3Asummarizer"))


def _tab_to(page: Page, target: Locator) -> None:
    """Goes on with the Tab key until the target has the focus."""
    for _ in range(20):
        page.keyboard.press("Tab")
        if target.evaluate("(element) => element === document.activeElement"):
            return
    raise AssertionError(f"{target} is not reached with the Tab key")


def _agent_out_of_reach(tab: Tab) -> str:
    """An Agent whose endpoint answers nothing but proofs, with an example to run."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "examples": [{"text": "x"}]}
    skill = {**a_card(tab.stack)["skills"][0], "inputSchema": schema}
    release = tab.stack.publish(skills=[skill])
    workspace_id = tab.stack.workspace()
    tab.stack.install(workspace_id, release["agentId"], ["text.read"])
    return playground(workspace_id, agent=release["agentId"])
