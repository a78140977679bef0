"""What a first visit costs, for every route of the Console: requests, script, and the time until it can be used."""

import sys

import pytest
from _pytest.mark.structures import ParameterSet
from playwright.sync_api import Page, Response

from tests.console.browser import Tab
from tests.console.processor import main_thread
from tests.console.routes import routes
from tests.console.screens import SCREENS, Screen

pytestmark = pytest.mark.second_ring

_MAX_SCRIPT = 250_000
_MAX_REQUESTS = 12
"""The page, its files and everything it asks of the Gateway."""
_MAX_SECONDS = 1.0
_MIN_BUSY, _MAX_BUSY = 0.01, 1.0
"""Processor seconds of the page's main thread."""
_STAMP_CHANGES = """
new MutationObserver(() => { window.changedAt = performance.now() })
  .observe(document, { attributes: true, characterData: true, childList: true, subtree: true })
"""
_NAMED = {screen.name: screen for screen in SCREENS}
VISITS = {
    "/sign-in": _NAMED["sign-in"],
    "/a/$publicAgentId": _NAMED["share"],
    "/": Screen("home", "/", "Proven endpoint"),
    "/discover": _NAMED["discover"],
    "/agents/$agentId": _NAMED["agent"],
    "/publish": _NAMED["publish"],
    "/my-agents": _NAMED["my-agents"],
    "/releases/$releaseId": _NAMED["release"],
    "/workspaces": _NAMED["workspaces"],
    "/workspaces/$workspaceId": _NAMED["workspace"],
    "/workspaces/$workspaceId/playground": _NAMED["playground"],
    "/workspaces/$workspaceId/connect": _NAMED["connect"],
    "/workspaces/$workspaceId/invocations": _NAMED["invocations"],
    "/workspaces/$workspaceId/invocations/$invocationId": _NAMED["invocation"],
    "/workspaces/$workspaceId/traces": _NAMED["traces"],
    "/workspaces/$workspaceId/traces/$traceId": _NAMED["trace"],
    "/workspaces/$workspaceId/people": _NAMED["people"],
    "/status": _NAMED["status"],
    "/tokens": _NAMED["tokens"],
    "/sign-in-code": _NAMED["sign-in-code"],
    "$": _NAMED["not-found"],
}
_USUAL = frozenset({"/sign-in", "/discover", "/workspaces/$workspaceId", "/workspaces/$workspaceId/playground"})
"""What most visits begin with, and the heaviest; the others are visited with the long tests."""


def _marked(route: str) -> str | ParameterSet:
    return route if route in _USUAL else pytest.param(route, marks=pytest.mark.long)


def test_every_route_of_the_console_is_visited_here() -> None:
    assert set(routes()) == set(VISITS)


@pytest.mark.parametrize("route", [_marked(route) for route in VISITS])
def test_a_first_visit_can_be_used_within_a_second_and_stays_within_its_budget(
    new_tab: Tab, route: str, thorough: bool
) -> None:
    screen = VISITS[route]
    if screen.signed_in:
        new_tab.sign_in(new_tab.stack.token)
    link = screen.address(new_tab.stack)
    scripts: dict[str, int] = {}

    def weigh(response: Response) -> None:
        if response.request.resource_type == "script" and response.ok:
            assert response.headers.get("content-encoding", "br") == "br"
            scripts[response.url] = int(response.headers["content-length"])

    new_tab.page.on("response", weigh)
    new_tab.requests.clear()
    with main_thread(new_tab.page) as busy_seconds:
        taken = _seconds_until_usable(new_tab.page, new_tab.stack.console + link, screen)
        busy = busy_seconds()
    asked = [f"{request.method} {request.url}" for request in new_tab.requests]
    counted = "\n  ".join([f"{route}: {len(asked)} requests, {taken:.2f} s, the page busy for {busy:.2f} s", *asked])
    sys.stdout.write(f"{counted}\n")
    assert len(asked) <= _MAX_REQUESTS, counted
    assert 0 < sum(scripts.values()) <= _MAX_SCRIPT, scripts
    assert _MIN_BUSY < busy <= _MAX_BUSY, busy
    # By the clock only where the machine has nothing else to do.
    assert taken <= _MAX_SECONDS or not thorough, taken


def _seconds_until_usable(page: Page, address: str, screen: Screen) -> float:
    """Until its content is there and no longer changes, by the page's own clock."""
    page.add_init_script(_STAMP_CHANGES)
    page.goto(address, wait_until="commit")
    page.get_by_text(screen.shows).filter(visible=True).first.wait_for()
    millis: float = page.evaluate("() => new Promise((idle) => requestIdleCallback(() => idle(window.changedAt)))")
    return millis / 1000
