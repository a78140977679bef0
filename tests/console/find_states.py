"""Discover, the one box, the consent and the own Agents in states worth looking at."""

import re
from collections.abc import Callable

from playwright.sync_api import Page

from tests.console.stack import Stack


def searched(text: str) -> Callable[[Page, Stack], None]:
    """With that text in the one box, and its answer."""

    def act(page: Page, stack: Stack) -> None:
        page.keyboard.press("/")
        page.get_by_role("combobox").fill(text)
        page.get_by_role("dialog").get_by_text(re.compile("aop:summarizer|Looked in")).first.wait_for()

    return act


def into_a_new_workspace(page: Page, stack: Stack) -> None:
    page.get_by_role("dialog").get_by_label("Workspace", exact=True).select_option("New Workspace…")
    page.get_by_role("dialog").get_by_role("checkbox").first.check()


def without_agents(page: Page, stack: Stack) -> None:
    answer: dict[str, list[str]] = {"items": []}
    page.route("**/v1/me/agents*", lambda route: route.fulfill(json=answer, headers=_granted(stack)))
    page.reload()
    page.get_by_text("You have no Agent yet.").wait_for()


def store_is_down(page: Page, stack: Stack) -> None:
    refusal = {"code": "DEPENDENCY_ERROR", "message": "", "traceId": "5" * 32}
    page.route("**/v1/agents?*", lambda route: route.fulfill(status=503, json=refusal, headers=_granted(stack)))
    page.reload()
    page.get_by_role("alert").wait_for()


def _granted(stack: Stack) -> dict[str, str]:
    """What lets the browser read an answer that a test makes up."""
    return {"access-control-allow-origin": stack.console}


def loading(what: str, request: str) -> Callable[[Page, Stack], None]:
    """The answer is on its way for as long as one looks."""

    def act(page: Page, stack: Stack) -> None:
        page.route(request, lambda route: None)
        page.reload()
        page.get_by_role("status", name=f"Loading {what}").wait_for()

    return act
