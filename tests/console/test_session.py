"""Signing in and out, deep links, and where the token may be."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.browser import Tab


@pytest.mark.rows("CON-02")
def test_the_link_of_aop_up_signs_in_and_the_token_leaves_the_address_at_once(tab: Tab) -> None:
    page = tab.page
    page.goto(tab.stack.sign_in_link)
    expect(page.get_by_role("heading", name="Discover")).to_be_visible()
    assert page.url == f"{tab.stack.console}/discover"
    assert page.evaluate("sessionStorage.getItem('aop.token')") == tab.stack.token
    page.go_back()
    assert tab.stack.token not in page.url


@pytest.mark.rows("CON-02")
def test_the_token_is_in_the_tabs_session_storage_and_nowhere_else(tab: Tab) -> None:
    page = tab.open("/discover")
    for path in ("/agents/aop:summarizer", "/my-agents?provider=aop", "/publish", "/workspaces/demo", "/status"):
        page.goto(tab.stack.console + path)
        page.get_by_role("heading", level=1).first.wait_for()
        assert tab.stack.token not in page.content() + page.url + page.title()
    assert tab.stack.token not in page.evaluate("JSON.stringify({...localStorage}) + document.cookie")
    assert page.evaluate("Object.values(sessionStorage).filter((text) => text.startsWith('aop_')).length") == 1
    for request in tab.requests:
        assert tab.stack.token not in request.url.replace(tab.stack.sign_in_link, "")
        sent = request.headers.get("authorization")
        assert sent is None or request.url.startswith(f"{tab.stack.gateway}/v1/")


@pytest.mark.rows("CON-02")
def test_no_served_file_holds_a_token(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    files = {request.url for request in tab.requests if request.url.startswith(f"{tab.stack.console}/assets/")}
    assert files
    for url in files:
        assert not re.search(r"aop_[0-9A-Za-z]{43}", page.request.get(url).text())


def test_a_deep_link_opened_signed_out_is_reached_after_signing_in(tab: Tab) -> None:
    page = tab.open("/agents/aop:summarizer?tab=use", signed_in=False)
    page.get_by_label("Access token").fill(tab.stack.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{tab.stack.console}/agents/aop:summarizer?tab=use")
    expect(page.get_by_text("AOP_TOKEN").first).to_be_visible()


def test_a_token_the_gateway_does_not_take_is_refused_and_not_kept(tab: Tab) -> None:
    page = tab.open("/sign-in", signed_in=False)
    page.get_by_label("Access token").fill("aop_" + "0" * 43)
    page.get_by_role("button", name="Sign in").click()
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("This token is not valid")
    expect(notice).to_contain_text("UNAUTHENTICATED")
    assert page.evaluate("sessionStorage.getItem('aop.token')") is None


def test_signing_out_removes_the_token_and_what_was_read_with_it(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    page.get_by_role("button", name=tab.stack.principal).click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_label("Access token")).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('aop.token')") is None
    page.goto(f"{tab.stack.console}/discover")
    expect(page.get_by_label("Access token")).to_be_visible()


def test_a_token_that_is_no_longer_taken_leads_to_sign_in_and_says_why(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    page.evaluate("sessionStorage.setItem('aop.token', 'aop_' + '0'.repeat(43))")
    page.get_by_role("link", name="My Agents").click()
    expect(page.get_by_text("You were signed out because the Gateway no longer accepts your token.")).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('aop.token')") is None


def test_the_theme_is_kept_and_the_whole_navigation_works_by_keyboard(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    page.get_by_role("button", name=tab.stack.principal).focus()
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Dark").wait_for()
    page.keyboard.type("Dark")
    page.keyboard.press("Enter")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    page.reload()
    page.get_by_role("article").first.wait_for()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
