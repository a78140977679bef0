"""What a visit costs: script on the first load, and the time until a screen can be used."""

import re
import time

import pytest
from playwright.sync_api import Response, expect

from tests.console.browser import Tab
from tests.console.screens import SCREENS, Screen

_MOST_SCRIPT = 250_000
_MOST_SECONDS = 1.0
_TRIES = 3
_ADDRESSES = [screen for screen in SCREENS if isinstance(screen.path, str) and "-" not in screen.name]


def test_the_first_load_of_every_screen_stays_within_the_script_budget(tab: Tab) -> None:
    sizes: dict[str, int] = {}

    def weigh(response: Response) -> None:
        if response.request.resource_type == "script" and response.ok:
            sizes[response.url] = int(response.headers["content-length"])
            assert response.headers.get("content-encoding", "gzip") == "gzip"

    tab.page.on("response", weigh)
    for screen in _ADDRESSES:
        # Scripts are kept by the browser for ever: what all screens need is only loaded once, and counted each time.
        tab.open(screen.address(tab.stack))
        tab.page.get_by_text(screen.shows).filter(visible=True).first.wait_for()
        own = {entry["name"] for entry in tab.page.evaluate(_SCRIPTS)}
        assert sum(sizes[url] for url in own) <= _MOST_SCRIPT, screen.name


_SCRIPTS = """performance.getEntriesByType("resource")
  .filter((entry) => entry.name.endsWith(".js")).map((entry) => ({ name: entry.name }))"""


@pytest.mark.parametrize("screen", _ADDRESSES, ids=lambda screen: screen.name)
def test_a_screen_can_be_used_within_a_second(tab: Tab, screen: Screen) -> None:
    tab.open(screen.address(tab.stack), signed_in=screen.signed_in)
    tab.page.get_by_text(screen.shows).filter(visible=True).first.wait_for()
    taken = []
    for _ in range(_TRIES):
        started = time.monotonic()
        tab.page.reload(wait_until="commit")
        expect(tab.page.get_by_text(re.compile(re.escape(screen.shows))).filter(visible=True).first).to_be_visible()
        taken.append(time.monotonic() - started)
    # The machine may be busy with something else; the screen is as fast as its fastest.
    assert min(taken) <= _MOST_SECONDS, taken
