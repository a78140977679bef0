"""Signing in at an OpenID provider, against a real one: PKCE, refresh, expiry and sign-out."""

import re
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page, Request, expect

from tests.console.browser import Tab, kept_keys
from tests.console.stack import Stack
from tests.support.issuer import CLIENT_ID, PASSWORD, PREFIX, TOKEN_SECONDS, USER, running_issuer

pytestmark = pytest.mark.second_ring

PRINCIPAL = PREFIX + USER
_KEPT = "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, location.href])"


@pytest.fixture(scope="module")
def issuer(stack: Stack) -> Iterator[str]:
    with running_issuer(stack.issuer_port, stack.console) as origin:
        yield origin


def press_sign_in(page: Page, issuer: str) -> None:
    page.get_by_role("button", name=f"Sign in with {urlsplit(issuer).netloc}").click()


def sign_in_at_provider(page: Page) -> None:
    page.get_by_label("Login").fill(USER)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def sign_out_at_provider(page: Page) -> None:
    page.wait_for_load_state("networkidle")  # whatever the provider still sends for this page renews its session
    page.get_by_role("button", name="Logout").click()


def token_requests(tab: Tab) -> list[dict[str, str]]:
    asked = [request for request in tab.requests if request.url.endswith("/oauth/token") and request.method == "POST"]
    return [dict(parse_qsl(request.post_data or "")) for request in asked]


def answers_of(page: Page) -> list[dict[str, Any]]:
    """Those of the token endpoint from now on."""
    answers: list[dict[str, Any]] = []

    def note(request: Request) -> None:
        if request.url.endswith("/oauth/token") and request.method == "POST":
            response = request.response()
            assert response is not None
            answers.append(response.json())

    page.on("requestfinished", note)
    return answers


def test_a_person_signs_in_at_the_provider_and_out_again(new_tab: Tab, issuer: str) -> None:
    tab, page, stack = new_tab, new_tab.page, new_tab.stack
    page.clock.install()
    answers = answers_of(page)
    tab.open("/workspaces", signed_in=False)
    press_sign_in(page, issuer)
    page.wait_for_url(f"{issuer}/**")
    sign_in_at_provider(page)
    expect(page.get_by_text(f"You are now {PRINCIPAL}.")).to_be_visible()
    expect(page).to_have_url(f"{stack.console}/workspaces")
    expect(page.get_by_role("button", name=PRINCIPAL)).to_be_visible()
    require_pkce_and_nothing_kept_but_the_access_token(tab, answers)

    # Refresh: shortly before the token expires, a request renews it first. The provider's tokens differ by the second.
    time.sleep(1)
    page.clock.fast_forward((TOKEN_SECONDS - 20) * 1000)
    page.get_by_role("link", name="Discover").click()
    page.get_by_role("article").first.wait_for()
    renewals = [form for form in token_requests(tab) if form["grant_type"] == "refresh_token"]
    assert len(renewals) == 1, "several requests began together, and one renewed the token"
    tab.wait_until(lambda: len(answers) == 2)
    kept = page.evaluate(_KEPT)
    assert answers[1]["access_token"] in kept
    assert answers[0]["access_token"] not in kept

    # Expiry: a reload forgets the refresh token, so the end of the access token is the end of the session.
    page.reload()
    page.get_by_role("article").first.wait_for()
    page.clock.fast_forward(2 * TOKEN_SECONDS * 1000)
    page.get_by_role("link", name="My Agents").click()
    expect(page.get_by_text("Your session has ended. Sign in again.")).to_be_visible()
    assert kept_keys(page) == []

    # The provider still knows the person; signing out ends its session, too.
    press_sign_in(page, issuer)
    page.get_by_role("button", name=PRINCIPAL).click()
    page.get_by_role("menuitem", name="Sign out").click()
    sign_out_at_provider(page)
    expect(page).to_have_url(f"{stack.console}/sign-in")
    assert kept_keys(page) == []
    assert not [request.url for request in tab.requests if re.search(r"eyJ[\w-]+\.", request.url)], (
        "a token in an address"
    )
    press_sign_in(page, issuer)
    expect(page.get_by_label("Login")).to_be_visible()


def require_pkce_and_nothing_kept_but_the_access_token(tab: Tab, answers: list[dict[str, Any]]) -> None:
    tab.wait_until(lambda: answers)  # the page has its answer before this list has it
    began = next(request for request in tab.requests if "/oauth/authorize?" in request.url)
    query = parse_qs(urlsplit(began.url).query)
    assert (query["code_challenge_method"], query["client_id"]) == (["S256"], [CLIENT_ID])
    first = token_requests(tab)[0]
    assert first["grant_type"] == "authorization_code"
    assert len(first["code_verifier"]) == 43
    kept = tab.page.evaluate(_KEPT)
    assert answers[0]["access_token"] in kept
    assert not [name for name in ("refresh_token", "id_token") if answers[0][name] in kept]
    assert first["code"] not in kept


@pytest.mark.rows("CALL-04")
def test_an_answer_that_this_tab_did_not_ask_for_signs_nobody_in(tab: Tab) -> None:
    page = tab.open("/sign-in?code=stolen&state=forged", signed_in=False)
    expect(page.get_by_role("alert")).to_contain_text("This tab did not begin this sign-in")
    assert page.url == f"{tab.stack.console}/sign-in"
    assert kept_keys(page) == []
    assert token_requests(tab) == []


def test_a_provider_that_does_not_answer_is_told(tab: Tab) -> None:
    """Here nobody runs it."""
    page = tab.open("/sign-in", signed_in=False)
    page.route("**/.well-known/openid-configuration", lambda route: route.abort())
    press_sign_in(page, f"http://127.0.0.1:{tab.stack.issuer_port}")
    expect(page.get_by_role("alert")).to_contain_text("could not be reached from this browser")
    tab.problems.clear()  # the browser's own line for the request that did not arrive
