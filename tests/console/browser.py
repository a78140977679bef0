"""One browser tab with guards: what it may ask, what it may log, where the token may be."""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, expect, sync_playwright

from tests.console.stack import Stack
from tests.support import issuer
from tests.support.waiting import PATIENCE_SECONDS
from tools.chromium import find_chromium

AXE = Path(__file__).resolve().parents[2] / "console" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
WIDE, NARROW = (1280, 800), (390, 844)
PLAIN_FILE = "/icon.svg"
"""Of the Console's origin, without its scripts."""
_MILLISECONDS = PATIENCE_SECONDS * 1000
expect.set_options(timeout=_MILLISECONDS)
Scheme = Literal["light", "dark"]

LookedAt = Literal["everything", "colours", "everything but colours"]
_STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_RULES: dict[LookedAt, dict[str, Any]] = {
    "everything": {"runOnly": _STANDARDS},
    "colours": {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}},
    "everything but colours": {"runOnly": _STANDARDS, "rules": {"color-contrast": {"enabled": False}}},
}
_ENDLESS = """() => document.getAnimations()
  .filter((each) => each.effect.getComputedTiming().endTime === Infinity).length"""

# A refusal of the Gateway is part of many tests; Chromium also writes it to the console.
_REFUSED = re.compile(r"^Failed to load resource: the server responded with a status of [45]\d\d")


@dataclass
class Tab:
    page: Page
    stack: Stack
    requests: list[Request] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def open(self, path: str = "/", *, signed_in: bool = True) -> Page:
        """Opens an address of the Console, with a session unless told otherwise."""
        if signed_in and not self.has_token():
            self.sign_in(self.stack.token)
        self.page.goto(self.stack.console + path)
        return self.page

    def sign_in(self, token: str) -> None:
        """As if this tab had a session: with the token at its place. The ways to get there have tests of their own."""
        if not self.page.url.startswith(self.stack.console):
            self.page.goto(self.stack.console + PLAIN_FILE)
        self.page.evaluate("(token) => sessionStorage.setItem('aop.token', token)", token)

    def has_token(self) -> bool:
        if not self.page.url.startswith(self.stack.console):
            return False
        return bool(self.page.evaluate("sessionStorage.getItem('aop.token') !== null"))

    def wait_until(self, happened: Callable[[], object]) -> None:
        """For what the page does not show, such as a request that is held back."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not happened():
            assert time.monotonic() < deadline
            self.page.wait_for_timeout(10)

    def require_accessible(self, looked_at: LookedAt = "everything") -> None:
        """axe finds nothing against WCAG 2.2 AA, nothing sticks out at the side, nothing moves for ever."""
        assert self.page.evaluate(_ENDLESS) == 0, "less motion was asked for"
        self.page.evaluate("() => Promise.all(document.getAnimations().map((each) => each.finished.catch(() => 0)))")
        if self.page.evaluate("typeof axe === 'undefined'"):
            self.page.evaluate(AXE.read_text("utf-8") + "; undefined")
        found = self.page.evaluate(
            "(rules) => axe.run({ ...rules, resultTypes: ['violations'] }).then((found) => found.violations)",
            _RULES[looked_at],
        )
        violations = [_violation(violation) for violation in found]
        assert not violations, "\n".join(violations)
        self.require_no_sideways_scrolling()

    def require_no_sideways_scrolling(self) -> None:
        wide, room = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= room, f"{self.page.url} is {wide} px wide in a window of {room}"

    def require_clean(self) -> None:
        """Nothing was logged as an error; nobody was asked but the Gateway and the configured OpenID provider."""
        assert not self.problems, "\n".join(self.problems)
        strangers = [request.url for request in self.requests if not self._is_expected(request)]
        assert not strangers, f"asked of somebody else: {strangers}"

    def _is_expected(self, request: Request) -> bool:
        parts = urlsplit(request.url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin == self.stack.gateway:
            return parts.path.startswith("/v1/")
        if origin == issuer.origin(self.stack.issuer_port):
            return True
        return origin == self.stack.console and request.method == "GET"

    def note(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not _REFUSED.match(message.text):
            self.problems.append(f"{message.type}: {message.text}")

    def note_error(self, error: Error) -> None:
        self.problems.append(f"page error: {error}")

    def note_request(self, request: Request) -> None:
        self.requests.append(request)


def _violation(violation: dict[str, Any]) -> str:
    nodes = [f"{node['html'][:200]} ({node['failureSummary']})" for node in violation["nodes"]]
    return json.dumps({"rule": violation["id"], "nodes": nodes}, indent=1)


@contextmanager
def running_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened_page(browser: Browser, size: tuple[int, int] = WIDE, scheme: Scheme = "light") -> Iterator[Page]:
    """A page with storage of its own."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(_MILLISECONDS)
    try:
        yield context.new_page()
    finally:
        context.close()


@contextmanager
def guarded(page: Page, stack: Stack) -> Iterator[Tab]:
    """What the page logs and asks is noted; not judged in the end, which is the fixture's doing."""
    tab = Tab(page, stack)
    guards: dict[Any, Any] = {"console": tab.note, "pageerror": tab.note_error, "request": tab.note_request}
    for event, guard in guards.items():
        page.on(event, guard)
    try:
        yield tab
    finally:
        for event, guard in guards.items():
            page.remove_listener(event, guard)


@contextmanager
def opened_tab(browser: Browser, stack: Stack, size: tuple[int, int] = WIDE, scheme: Scheme = "light") -> Iterator[Tab]:
    with opened_page(browser, size, scheme) as page, guarded(page, stack) as tab:
        yield tab


def kept_keys(page: Page) -> list[str]:
    """What the Console keeps in the tab's sessionStorage, beside how far people scrolled."""
    keys: list[str] = page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('aop.')).sort()")
    return keys


def emptied(page: Page, stack: Stack) -> None:
    """As a new page would be, except that it has the scripts of the Console at hand."""
    page.unroute_all(behavior="ignoreErrors")
    page.goto(stack.console + PLAIN_FILE)  # a page of another origin would be another process, without the scripts
    page.evaluate("() => { sessionStorage.clear(); localStorage.clear() }")
    page.context.clear_cookies()
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.set_default_timeout(_MILLISECONDS)
