"""Every screen: WCAG 2.2 AA by axe in light, dark and at 390 px, and no scrolling sideways.

axe is most of the work, so every run has it in light; in dark and at 390 px it runs with the long tests.
"""

import pytest
from playwright.sync_api import Page

from tests.console.browser import LookedAt, Tab
from tests.console.screens import SCREENS, Screen
from tests.console.shot import DRAWN, LOOKS

pytestmark = pytest.mark.second_ring

# Dark is another set of colours and nothing else; narrow is another layout in the colours of light.
DIFFERS_IN: dict[str, LookedAt] = {"light": "everything", "dark": "colours", "narrow": "everything but colours"}
_BEGUN_BY_A_THEME = """(theme) => {
  document.documentElement.dataset.theme = theme
  return document.getAnimations().map((each) => `${each.transitionProperty} of ${each.effect.target.tagName}`)
}"""


def _is_further_state(screen: Screen) -> bool:
    return any(screen.name.startswith(f"{other.name}-") for other in SCREENS)


FURTHER = [screen for screen in SCREENS if _is_further_state(screen)]
MARKED = [pytest.param(screen, marks=pytest.mark.long) if screen in FURTHER else screen for screen in SCREENS]


@pytest.mark.parametrize("screen", MARKED, ids=lambda screen: screen.name)
def test_every_screen_is_accessible(tab: Tab, screen: Screen) -> None:
    page = _opened(tab, screen)
    _bring(page, "light")
    tab.require_accessible(DIFFERS_IN["light"])
    _bring(page, "narrow")
    tab.require_no_sideways_scrolling()


@pytest.mark.long
@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.name)
def test_every_screen_is_accessible_in_dark_and_on_a_telephone(tab: Tab, screen: Screen) -> None:
    page = _opened(tab, screen)
    for look in ("dark", "narrow"):
        _bring(page, look)
        tab.require_accessible(DIFFERS_IN[look])


def test_who_asked_for_less_motion_sees_a_change_at_once(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    page.evaluate(DRAWN)
    assert page.evaluate(_BEGUN_BY_A_THEME, "dark") == []
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    assert page.evaluate(_BEGUN_BY_A_THEME, "light"), "for everybody else buttons change slowly"


def _opened(tab: Tab, screen: Screen) -> Page:
    page = tab.open(screen.address(tab.stack), signed_in=screen.signed_in)
    page.get_by_text(screen.shows).filter(visible=True).first.wait_for()
    screen.act(page, tab.stack)
    return page


def _bring(page: Page, name: str) -> None:
    (width, height), scheme = LOOKS[name]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.evaluate(DRAWN)
