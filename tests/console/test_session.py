"""Signing in and out: links that work once, a question before an account changes, and where the token may be."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.console.browser import FLAGS, Tab, kept_keys, opened_page
from tests.console.people import another_account
from tests.console.stack import Stack
from tests.local.caller import Caller
from tools.chromium import find_chromium

_TOKEN = "sessionStorage.getItem('aop.token')"
_KEPT_ELSEWHERE = """async () => JSON.stringify([
  { ...localStorage }, document.cookie, await indexedDB.databases(), await caches.keys(), history.state, name])"""


@pytest.fixture(scope="module")
def rob(stack: Stack) -> Stack:
    """Nobody else signs in with this account, so its sessions can be counted."""
    return another_account(stack, "rob")


def status_of(stack: Stack, token: str) -> int:
    return Caller(stack.gateway, token).get("/v1/me").status


def session_token(page: Page) -> str:
    return str(page.evaluate(_TOKEN))


@pytest.mark.second_ring
@pytest.mark.rows("CON-02", "CALL-04", "CALL-06")
def test_a_sign_in_link_works_once_and_signing_out_revokes_the_session(
    tab: Tab, stack: Stack, browser: Browser
) -> None:
    page, link = tab.page, stack.sign_in_link("/agents/aop:summarizer?tab=use")
    code = link.partition("#code=")[2]
    page.goto(link)
    expect(page.get_by_text(f"You are now {stack.principal}.")).to_be_visible()
    expect(page).to_have_url(f"{stack.console}/agents/aop:summarizer?tab=use")
    token = session_token(page)
    assert token != stack.token
    sent = [request for request in tab.requests if code in (request.post_data or "") + request.url]
    assert [(request.method, request.url) for request in sent] == [("POST", f"{stack.gateway}/v1/sign-in")]

    with opened_page(browser) as other:
        other.goto(link)
        expect(other.get_by_role("heading", name="This sign-in link cannot be used")).to_be_visible()
        expect(other.get_by_role("main")).to_contain_text("aop open")
        other.get_by_role("button", name="Sign in another way").click()
        expect(other.get_by_label("Access token")).to_be_visible()

    page.get_by_role("button", name=stack.principal).click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_label("Access token")).to_be_visible()
    assert kept_keys(page) == []
    assert (status_of(stack, token), status_of(stack, stack.token)) == (401, 200)
    page.goto(f"{stack.console}/discover")
    expect(page.get_by_label("Access token")).to_be_visible()


@pytest.mark.second_ring
@pytest.mark.rows("CALL-04")
def test_a_link_asks_before_another_session_is_replaced(tab: Tab, stack: Stack, rob: Stack) -> None:
    page = tab.page
    page.goto(stack.sign_in_link())
    page.get_by_role("button", name=stack.principal).wait_for()
    mine = session_token(page)

    page.goto(rob.sign_in_link())
    expect(page.get_by_role("heading", name="Switch to rob?")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(f"You are signed in as {stack.principal}.")
    page.get_by_role("button", name=f"Stay {stack.principal}").click()
    expect(page.get_by_text(f"You are still {stack.principal}.")).to_be_visible()
    assert session_token(page) == mine
    assert all(each["madeBy"] != "code" for each in rob.caller.get("/v1/me/tokens").json["items"])

    page.goto(rob.sign_in_link())
    page.get_by_role("button", name="Switch to rob").click()
    expect(page.get_by_text("You are now rob.")).to_be_visible()
    expect(page.get_by_role("button", name="rob")).to_be_visible()
    assert session_token(page) != mine
    assert status_of(stack, mine) == 401

    page.goto(f"{stack.console}/discover#token=aop_{'0' * 43}")
    expect(page.get_by_role("button", name="rob")).to_be_visible()
    page.goto(f"{stack.console}/discover#code=cut")  # the same path: the browser alone would not load the page again
    expect(page.get_by_role("heading", name="This sign-in link cannot be used")).to_be_visible()
    page.get_by_role("button", name="Continue in your session").click()
    expect(page.get_by_role("button", name="rob")).to_be_visible()


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("profile")


def lasting(browser: Browser, folder: Path) -> BrowserContext:
    """A browser that writes its history, cookies, stores and caches to a folder."""
    return browser.browser_type.launch_persistent_context(folder, executable_path=find_chromium(), args=list(FLAGS))


@pytest.mark.rows("CALL-05", "CON-02")
def test_after_a_sign_in_no_token_and_no_usable_code_is_left_in_the_browser(
    browser: Browser, stack: Stack, profile: Path
) -> None:
    link = stack.sign_in_link()
    code = link.partition("#code=")[2]
    context = lasting(browser, profile)
    page = context.new_page()
    page.goto(link)
    page.get_by_text(f"You are now {stack.principal}.").wait_for()
    token = session_token(page)
    for path in ("/agents/aop:summarizer", "/tokens", "/publish", "/workspaces/demo", "/status"):
        page.goto(stack.console + path)
        page.get_by_role("heading", level=1).first.wait_for()
        assert not {token, code} & words(page.content() + page.url + page.title())
    assert not {token, code} & words(page.evaluate(_KEPT_ELSEWHERE))
    assert kept_keys(page) == ["aop.token"]
    context.close()

    with closing(sqlite3.connect(profile / "Default" / "History")) as history:
        visited = [str(url) for (url,) in history.execute("SELECT url FROM urls")]
    assert any(url.startswith(stack.console) for url in visited)
    assert not any(token in url for url in visited)
    # The browser notes the link itself, so what it holds must be of no use.
    assert stack.caller.post("/v1/sign-in", {"code": code}).status == 401
    holders = [path for path in profile.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]
    # Chromium keeps the sessionStorage of a tab in a folder of this name, for a restart with the same tabs.
    assert {path.relative_to(profile).parts[1] for path in holders} <= {"Session Storage"}


def words(text: str) -> set[str]:
    return set(re.findall(r"[\w-]{20,}", text))


@pytest.mark.second_ring
@pytest.mark.rows("CON-02")
def test_no_served_file_and_no_address_holds_a_token(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    files = {request.url for request in tab.requests if request.url.startswith(f"{tab.stack.console}/assets/")}
    assert files
    for url in files:
        assert not re.search(r"aop_[0-9A-Za-z]{43}", page.request.get(url).text())
    for request in tab.requests:
        assert tab.stack.token not in request.url
        sent = request.headers.get("authorization")
        assert sent is None or request.url.startswith(f"{tab.stack.gateway}/v1/")


@pytest.mark.second_ring
def test_a_pasted_token_gives_a_session_and_is_not_kept(tab: Tab, stack: Stack) -> None:
    page = tab.open("/agents/aop:summarizer?tab=use", signed_in=False)
    page.get_by_label("Access token").fill("aop_" + "0" * 43)
    page.get_by_role("button", name="Sign in with a token").click()
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("This token is not valid")
    expect(notice).to_contain_text("UNAUTHENTICATED")
    assert kept_keys(page) == []
    page.get_by_label("Access token").fill(stack.token)
    page.get_by_role("button", name="Sign in with a token").click()
    expect(page).to_have_url(f"{stack.console}/agents/aop:summarizer?tab=use")
    expect(page.get_by_text("AOP_TOKEN").first).to_be_visible()
    assert session_token(page) != stack.token

    page.evaluate("sessionStorage.setItem('aop.token', 'aop_' + '0'.repeat(43))")
    page.get_by_role("link", name="My Agents").click()
    expect(page.get_by_text("You were signed out because the Gateway no longer accepts your session.")).to_be_visible()
    assert page.evaluate(_TOKEN) is None


@pytest.mark.second_ring
def test_a_session_that_cannot_be_revoked_is_told(tab: Tab, stack: Stack) -> None:
    page = tab.page
    page.goto(stack.sign_in_link())
    page.get_by_role("button", name=stack.principal).click()
    page.route("**/v1/me/token", lambda route: route.abort())
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_text("the session was not revoked")).to_be_visible()
    assert kept_keys(page) == []
    tab.problems.clear()  # the browser's own line for the request that did not leave


@pytest.mark.second_ring
def test_the_theme_is_kept_and_the_whole_navigation_works_by_keyboard(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    page.get_by_role("button", name=tab.stack.principal).focus()
    page.keyboard.press("Enter")
    dark = page.get_by_role("menuitem", name="Dark")
    dark.wait_for()
    page.keyboard.type("Dark")
    expect(dark).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_css("color-scheme", "dark")
    page.reload()
    page.get_by_role("article").first.wait_for()
    expect(page.locator("html")).to_have_css("color-scheme", "dark")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
