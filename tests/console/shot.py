"""One picture of a screen, and the looks that pictures are taken in."""

import sys
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import Browser

from tests.console.browser import NARROW, WIDE, Scheme, opened_tab
from tests.console.screens import Screen
from tests.console.stack import Stack

DRAWN = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
"""Until then Chromium may tell, and show, colours of the look before."""
LOOKS: dict[str, tuple[tuple[int, int], Scheme]] = {
    "light": (WIDE, "light"),
    "dark": (WIDE, "dark"),
    "narrow": (NARROW, "light"),
    "narrow-dark": (NARROW, "dark"),
}


def take(
    browser: Browser, stack: Stack, screen: Screen, pictures: Mapping[Path, tuple[tuple[int, int], Scheme]]
) -> None:
    """The screen is opened once and then brought into each look."""
    first, _ = next(iter(pictures.values()))
    with opened_tab(browser, stack, first) as tab:
        page = tab.open(screen.address(stack), signed_in=screen.signed_in)
        page.get_by_text(screen.shows).filter(visible=True).first.wait_for()
        screen.act(page, stack)
        for path, (size, scheme) in pictures.items():
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate(DRAWN)
            if not page.get_by_role("dialog").count():
                # As tall as its content, so that what is fixed to the window is where people see it.
                height = page.evaluate("document.documentElement.scrollHeight")
                page.set_viewport_size({"width": size[0], "height": max(size[1], height)})
            page.screenshot(path=path)
            sys.stdout.write(f"{path}\n")
