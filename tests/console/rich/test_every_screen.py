"""Every route with rich data: accessible in light and dark from 390 to 1440 px, and unharmed by what others wrote."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.cli.hostile_text import hidden_in
from tests.console.browser import LookedAt, Scheme, Tab
from tests.console.hands import require_visible_focus
from tests.console.rich.hostile_cards import CAUGHT
from tests.console.rich.screens import SCREENS, opened
from tests.console.rich.stack import Rich
from tests.console.shot import DRAWN
from tests.console.test_text_safety import ALL_TEXT

pytestmark = pytest.mark.long

_WIDTHS = (1440, 1024, 768, 390)
_ENDS = (_WIDTHS[0], _WIDTHS[-1])
# Dark is another set of colours and nothing else.
_SCHEMES: dict[Scheme, LookedAt] = {"light": "everything", "dark": "colours"}
_CAUGHT = """(id) => window[id] !== undefined || document.getElementById(id) !== null
  || [...document.querySelectorAll('[href], [src]')].some((each) =>
    /^\\s*(javascript|data|vbscript):/i.test(each.getAttribute('href') ?? each.getAttribute('src') ?? ''))"""
_MAX_STOPS = 120


@pytest.mark.rows("SAFE-10")
@pytest.mark.parametrize("route", SCREENS)
def test_every_screen_is_accessible_at_every_width_and_runs_nothing_of_a_card(tab: Tab, rich: Rich, route: str) -> None:
    found = []
    for place, screen in enumerate(SCREENS[route](rich)):
        page = opened(tab, screen)
        for width, scheme in _looks(is_first=place == 0):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate(DRAWN)
            found += [f"{screen.name} at {width} px, {scheme}: {each}" for each in _problems(tab, _SCHEMES[scheme])]
        assert not page.evaluate(_CAUGHT, CAUGHT), screen.name
        assert hidden_in(page.evaluate(ALL_TEXT)) == [], screen.name
    assert not found, "\n".join(found)


def _looks(*, is_first: bool) -> Iterator[tuple[int, Scheme]]:
    """All of them for the usual screen of a route; for its further states light and wide, dark and narrow."""
    if is_first:
        yield from ((width, scheme) for width in _WIDTHS for scheme in _SCHEMES)
    else:
        yield from zip(_ENDS, _SCHEMES, strict=True)


def _problems(tab: Tab, looked_at: LookedAt) -> list[str]:
    try:
        tab.require_accessible(looked_at)
    except AssertionError as problem:
        return [str(problem)]
    return []


@pytest.mark.parametrize("route", SCREENS)
def test_the_tab_key_leads_through_every_screen_with_a_focus_that_can_be_seen(tab: Tab, rich: Rich, route: str) -> None:
    for screen in SCREENS[route](rich):
        stops = list(_stops(opened(tab, screen)))
        assert stops, screen.name


def _stops(page: Page) -> Iterator[str]:
    for _ in range(_MAX_STOPS):
        page.keyboard.press("Tab")
        stop = require_visible_focus(page)
        if stop is None:
            return
        yield stop
