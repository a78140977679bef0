"""The input of the Playground: a form and JSON as two views, checked before it is sent, kept for another run."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.browser import Tab
from tests.console.playground_states import (
    choose,
    expect_state,
    fill_in,
    recorded,
    run,
    sent,
    summarizer,
    with_input,
    with_many_kinds,
    with_samples,
    with_text,
    workspace_of,
)
from tests.console.stack import Json

pytestmark = pytest.mark.second_ring


def test_what_the_schema_refuses_is_said_next_to_the_fields_and_nothing_is_sent(tab: Tab) -> None:
    page = tab.open(with_many_kinds(tab.stack))
    fill_in(page, "sentences", "99")
    fill_in(page, "from", "yesterday")
    page.get_by_role("button", name="Add to tags").click()
    page.keyboard.type("x" * 41)
    expect(page.get_by_text("Is required.")).to_have_count(0)
    run(page)
    expect_state(page, "Nothing was sent: correct 5 values above first.")
    for label, said in [
        ("text", "Is required."),
        ("sentences", "Must be at most 20."),
        ("from", "Does not have the required form."),
        ("tags 1", "Must have at most 40 characters; it has 41."),
    ]:
        expect(page.get_by_role("textbox", name=re.compile(f"^{label}"))).to_have_accessible_description(
            re.compile(re.escape(said))
        )
    expect(page.get_by_label("language")).to_have_accessible_description(re.compile("Is required."))
    expect(page.get_by_role("textbox", name="text")).to_be_focused()
    fill_in(page, "sentences", "9")
    expect(page.get_by_text("Must be at most 20.")).to_have_count(0)
    expect(page.get_by_text("Does not have the required form.")).to_be_visible()
    assert sent(tab) == []


@pytest.mark.rows("CON-06")
def test_what_only_the_gateway_can_tell_stands_next_to_its_field_with_pointer_and_rule(tab: Tab) -> None:
    schema = {"type": "object", "properties": {"code": {"type": "string", "pattern": "^(?:ab)+$", "title": "The code"}}}
    page = tab.open(with_input(tab.stack, "Grouped", schema))
    fill_in(page, "The code", "abc")
    run(page)
    expect_state(page, "Not accepted")
    box = page.get_by_role("textbox", name="The code")
    expect(box).to_have_accessible_description(
        re.compile(r"^(.*)The text does not have the right form. \(/input/code pattern\)$")
    )
    notice = page.get_by_role("alert").filter(has_text="The Skill does not accept this input.")
    expect(notice).to_contain_text("Next step: Correct the marked fields")
    expect(notice.get_by_text("VALIDATION_ERROR")).to_be_hidden()
    notice.get_by_text("Details", exact=True).click()
    expect(notice.get_by_text("VALIDATION_ERROR")).to_be_visible()
    expect(notice).to_contain_text("HTTP 400")
    box.fill("abab")
    expect(box).not_to_have_attribute("aria-invalid", "true")


def test_fields_come_in_the_order_the_schema_requires_them_and_odd_names_are_names(tab: Tab) -> None:
    names = ("alpha", "minutes", "topics", "__proto__", "constructor")
    members = {name: {"type": "string"} for name in names}
    schema = {"type": "object", "required": ["topics", "minutes"], "properties": members}
    page = tab.open(with_input(tab.stack, "Ordered", schema))
    page.get_by_role("textbox", name="topics").wait_for()
    boxes = page.get_by_role("form", name="Invocation").get_by_role("textbox")
    labels = boxes.evaluate_all("(boxes) => boxes.map((box) => box.labels[0].firstChild.textContent)")
    assert labels == ["topics", "minutes", "__proto__", "alpha", "constructor"]
    assert boxes.evaluate_all("(boxes) => boxes.map((box) => box.value)") == [""] * 5
    for name in ("topics", "minutes", "__proto__"):
        fill_in(page, name, name)
    run(page)
    expect_state(page, "Failed")
    assert sent(tab)[0]["input"] == {"topics": "topics", "minutes": "minutes", "__proto__": "__proto__"}


def test_what_was_run_in_this_tab_can_be_filled_in_again_until_the_session_ends(tab: Tab) -> None:
    page = tab.open(summarizer(tab))
    fill_in(page, "text", "First sentence. Second sentence.")
    run(page)
    expect_state(page, "Succeeded")
    page.reload()
    page.get_by_role("button", name="Recent").click()
    page.get_by_role("menuitem").filter(has_text="First sentence").click()
    expect(page.get_by_role("textbox", name="text")).to_have_value("First sentence. Second sentence.")
    kept = "JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"
    assert "First sentence" in page.evaluate("JSON.stringify(sessionStorage)")
    page.evaluate("sessionStorage.setItem('aop.token', 'aop_gone')")
    page.get_by_role("link", name="Status").first.click()
    expect(page).to_have_url(re.compile("/sign-in"))
    assert "First sentence" not in page.evaluate(kept)


def test_the_call_can_be_copied_for_other_programs(tab: Tab) -> None:
    page = tab.open(summarizer(tab))
    fill_in(page, "text", "Copied 'text.")
    fill_in(page, "sentences", "")
    for form, part in {
        "curl": '"input":{"text":"Copied \'"\'"\'text."}',
        "CLI": "aop invoke aop:summarizer summarize",
        "Python": 'client.stream("',
        "TypeScript": "await fetch(",
        "MCP": '"name": "aop_summarizer__summarize_fbc28cbc"',
    }.items():
        page.get_by_role("button", name="Copy as").click()
        page.get_by_role("menuitem", name=form).click()
        expect(page.get_by_text(f"Copied for {form}.")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert part in copied
        assert tab.stack.token not in copied


def test_what_is_wrong_is_listed_at_the_json_view_too(tab: Tab) -> None:
    page = tab.open(summarizer(tab, view="json"))
    page.get_by_label("Input as JSON").fill('{"text": "x", "sentences": 0, "other": 1}')
    run(page)
    expect(page.get_by_text("Must be at least 1.")).to_be_visible()
    expect(page.get_by_text("Has no member “other”.")).to_be_visible()
    assert sent(tab) == []


@pytest.mark.rows("FOR-03")
def test_a_skill_that_takes_a_text_has_a_text_box_and_gets_what_is_typed(tab: Tab) -> None:
    page = tab.open(with_text(tab.stack))
    box = page.get_by_label("Input as text")
    expect(box).to_have_value("Hello")
    expect(page.get_by_role("tab", name="JSON")).to_have_count(0)
    box.fill("x")
    run(page)
    expect(box).to_have_accessible_description(re.compile("Must have at least 2 characters; it has 1."))
    box.fill('Two lines,\n{"not": "JSON"}')
    run(page)
    expect_state(page, "Failed")
    assert [body["input"] for body in sent(tab)] == ['Two lines,\n{"not": "JSON"}']


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
    assert sent(tab)[0]["input"]["source"] == {"url": "https://example.org"}


def test_the_same_input_again_makes_a_new_invocation_with_exactly_that_input(tab: Tab) -> None:
    address = summarizer(tab)
    page = tab.open(address)
    fill_in(page, "text", "First sentence. Second sentence.")
    run(page)
    expect_state(page, "Succeeded")
    fill_in(page, "text", "Something else.")
    page.get_by_role("button", name="Run again").click()
    expect(page.get_by_role("textbox", name="text")).to_have_value("First sentence. Second sentence.")
    expect_state(page, "Succeeded")
    first, second = sent(tab)
    assert first == second
    assert len(recorded(tab, workspace_of(address))) == 2


def test_what_is_tried_and_how_is_in_the_address_and_the_input_never_is(tab: Tab) -> None:
    page = tab.open(with_samples(tab.stack))
    choose(page, "Agent", "Summarizer")
    choose(page, "Skill", "Read aloud")
    page.get_by_label("One JSON result").check()
    fill_in(page, "text", "nobody's business")
    page.get_by_role("tab", name="JSON").click()
    expect(page).to_have_url(re.compile(r"agent=aop%3Asummarizer&capability=read-aloud&mode=json&view=json$"))
    assert "business" not in page.url
    assert "business" not in page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage)")
    page.reload()
    expect(page.get_by_role("combobox", name="Skill", exact=True)).to_have_value("Read aloud")
    expect(page.get_by_label("One JSON result")).to_be_checked()
    expect(page.get_by_label("Input as JSON")).to_be_visible()
