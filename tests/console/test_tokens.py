"""The page of tokens and sessions, and the code for `aop login --browser`."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.browser import Tab
from tests.console.people import another_account
from tests.console.stack import Stack
from tests.local.caller import Caller

pytestmark = pytest.mark.second_ring


def test_a_token_is_made_shown_once_and_revoked_with_the_keyboard(tab: Tab, stack: Stack) -> None:
    dora = another_account(stack, "dora")
    page = tab.page
    page.goto(dora.sign_in_link("/tokens"))
    expect(page.get_by_role("list", name="Sessions").get_by_role("listitem")).to_have_count(1)
    expect(page.get_by_role("list", name="Sessions")).to_contain_text("used by this tab")
    page.get_by_role("button", name="Create").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Give the token a name.")
    page.get_by_label("Name").fill("nightly run")
    page.get_by_label("Expires after").select_option("90 days")
    page.get_by_label("Name").press("Enter")
    shown = page.get_by_role("dialog", name="The token nightly run")
    expect(shown).to_contain_text("cannot be read again")
    # The session was made with a code of another token, so that it lives no longer than the session.
    expect(shown).to_contain_text("earlier than you asked")
    made = shown.get_by_text(re.compile("^aop_")).inner_text()
    assert Caller(stack.gateway, made).get("/v1/me").json == {"principalId": "dora"}
    shown.get_by_role("button", name="Done").press("Enter")
    assert made not in page.content()
    page.reload()
    row = page.get_by_role("list", name="Tokens").get_by_role("listitem").filter(has_text="nightly run")
    expect(row).to_contain_text("made with another token")
    assert made not in page.content()

    page.get_by_role("button", name="Revoke nightly run").press("Enter")
    page.get_by_role("dialog", name="Revoke nightly run?").get_by_role("button", name="Revoke").press("Enter")
    expect(row).to_have_count(0)
    assert Caller(stack.gateway, made).get("/v1/me").status == 401

    page.get_by_role("list", name="Sessions").get_by_role("button", name="Revoke").press("Enter")
    page.get_by_role("button", name="Revoke and sign out").press("Enter")
    expect(page.get_by_label("Access token")).to_be_visible()


@pytest.mark.rows("CALL-04")
def test_a_code_for_the_command_line_is_shown_after_a_question_that_names_account_and_gateway(
    tab: Tab, stack: Stack
) -> None:
    page = tab.open("/sign-in-code")
    panel = page.get_by_role("region", name="Let a command act as you?")
    for text in (stack.principal, stack.gateway, "aop login --browser"):
        expect(panel).to_contain_text(text)
    assert not [request for request in tab.requests if request.url.endswith("/sign-in-codes")]
    page.get_by_role("button", name="Show a code").press("Enter")
    shown = page.get_by_role("region", name="Your code")
    expect(shown).to_contain_text("It works once")
    code = shown.get_by_text(re.compile(r"^[\w-]{43}$")).inner_text()
    assert code not in page.url
    session = stack.caller.post("/v1/sign-in", {"code": code}).json
    assert session["principalId"] == stack.principal
