"""`./dev shots`: a picture of every screen, in light, dark and narrow."""

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser

from tests.console.browser import NARROW, WIDE, Scheme, opened_tab, running_browser
from tests.console.screens import SCREENS, Screen
from tests.console.stack import Stack, running_stack

DEFAULT = Path(__file__).resolve().parents[2] / ".dev" / "shots"
LOOKS: dict[str, tuple[tuple[int, int], Scheme]] = {
    "light": (WIDE, "light"),
    "dark": (WIDE, "dark"),
    "narrow": (NARROW, "light"),
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev shots", description=__doc__)
    parser.add_argument("names", nargs="*", help="screens to take; all when none is named")
    parser.add_argument("--to", type=Path, default=DEFAULT, help="folder for the pictures (default: .dev/shots)")
    parser.add_argument("--look", choices=LOOKS, action="append", help="only this look; can be repeated")
    chosen = parser.parse_args(arguments)
    chosen.to.mkdir(parents=True, exist_ok=True)
    screens = [screen for screen in SCREENS if not chosen.names or screen.name in chosen.names]
    for variant in chosen.look or LOOKS:
        # What a screen needs is made for its picture; the next look begins with an empty platform again.
        with (
            tempfile.TemporaryDirectory() as folder,
            running_stack(Path(folder)) as stack,
            running_browser() as browser,
        ):
            for screen in screens:
                path = chosen.to / f"{screen.name}-{variant}.png"
                _take(browser, stack, screen, variant, path)
                sys.stdout.write(f"{path}\n")
    return 0


def _take(browser: Browser, stack: Stack, screen: Screen, variant: str, path: Path) -> None:
    size, scheme = LOOKS[variant]
    with opened_tab(browser, stack, size, scheme) as tab:
        page = tab.open(screen.address(stack), signed_in=screen.signed_in)
        page.get_by_text(screen.shows).filter(visible=True).first.wait_for()
        screen.act(page, stack)
        if not page.get_by_role("dialog").count():
            # As tall as its content, so that what is fixed to the window is where people see it.
            height = page.evaluate("document.documentElement.scrollHeight")
            page.set_viewport_size({"width": size[0], "height": max(size[1], height)})
        page.screenshot(path=path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
