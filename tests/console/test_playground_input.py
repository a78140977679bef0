"""The input of the Playground: a form and JSON as two views, violations beside their fields, the same input again."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.browser import Tab
from tests.console.playground_states import (
    expect_state,
    fill_in,
    recorded,
    run,
    sent,
    summarizer,
    with_many_kinds,
    with_samples,
    with_text,
    workspace_of,
)
from tests.console.stack import Json


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
            re.compile(rf"{pointer} .*\({rule}\)")
        )
    expect(page.get_by_label("language")).to_have_accessible_description(
        re.compile(r"/input/language is required \(required\)")
    )
    expect(page.get_by_role("alert").filter(has_text="VALIDATION_ERROR")).to_contain_text("HTTP 400")
    fill_in(page, "sentences", "9")
    expect(page.get_by_text("/input/sentences")).to_have_count(0)
    expect(page.get_by_text("/input/window/from")).to_be_visible()


@pytest.mark.rows("CON-06")
def test_violations_are_listed_at_the_json_view_too(tab: Tab) -> None:
    page = tab.open(summarizer(tab, view="json"))
    page.get_by_label("Input as JSON").fill('{"text": "x", "sentences": 0, "other": 1}')
    run(page)
    expect(page.get_by_text("/input/sentences is too small (minimum)")).to_be_visible()
    expect(page.get_by_text("has an unknown member")).to_be_visible()


@pytest.mark.rows("FOR-03")
def test_a_skill_that_takes_a_text_has_a_text_box_and_gets_what_is_typed(tab: Tab) -> None:
    page = tab.open(with_text(tab.stack))
    box = page.get_by_label("Input as text")
    expect(box).to_have_value("Hello")
    expect(page.get_by_role("tab", name="JSON")).to_have_count(0)
    box.fill("x")
    run(page)
    expect_state(page, "Not accepted")
    expect(box).to_have_accessible_description(re.compile(r"/input .*\(minLength\)"))
    box.fill('Two lines,\n{"not": "JSON"}')
    run(page)
    expect_state(page, "Failed")
    assert [body["input"] for body in sent(tab)] == ["x", 'Two lines,\n{"not": "JSON"}']


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
