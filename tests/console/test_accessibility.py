"""Every screen: WCAG 2.2 AA by axe in light, dark and at 390 px, and no scrolling sideways."""

import pytest

from tests.console.browser import Tab
from tests.console.screens import SCREENS, Screen
from tests.console.shots import LOOKS


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.name)
def test_every_screen_is_accessible(tab: Tab, screen: Screen) -> None:
    page = tab.open(screen.address(tab.stack), signed_in=screen.signed_in)
    page.get_by_text(screen.shows).filter(visible=True).first.wait_for()
    screen.act(page, tab.stack)
    for (width, height), scheme in LOOKS.values():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.screenshot()  # has everything drawn: until then Chromium may tell colours of the look before
        tab.require_accessible()
