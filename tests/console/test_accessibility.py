"""Every screen: WCAG 2.2 AA by axe in light, dark and at 390 px, and no scrolling sideways."""

import pytest

from tests.console.browser import LookedAt, Tab
from tests.console.screens import SCREENS, Screen
from tests.console.shot import DRAWN, LOOKS

# Dark is another set of colours and nothing else; narrow is another layout in the colours of light.
DIFFERS_IN: dict[str, LookedAt] = {"light": "everything", "dark": "colours", "narrow": "everything but colours"}


def _is_further_state(screen: Screen) -> bool:
    return any(screen.name.startswith(f"{other.name}-") for other in SCREENS)


FURTHER = [screen for screen in SCREENS if _is_further_state(screen)]
MARKED = [pytest.param(screen, marks=pytest.mark.long) if screen in FURTHER else screen for screen in SCREENS]


@pytest.mark.parametrize("screen", MARKED, ids=lambda screen: screen.name)
def test_every_screen_is_accessible(tab: Tab, screen: Screen) -> None:
    page = tab.open(screen.address(tab.stack), signed_in=screen.signed_in)
    page.get_by_text(screen.shows).filter(visible=True).first.wait_for()
    screen.act(page, tab.stack)
    for look, looked_at in DIFFERS_IN.items():
        (width, height), scheme = LOOKS[look]
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.evaluate(DRAWN)
        tab.require_accessible(looked_at)
