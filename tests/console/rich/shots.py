"""`./dev shots --rich`: a picture of every screen with rich data, in light and dark, wide and narrow."""

import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from playwright.sync_api import TimeoutError  # noqa: A004  the browser's

from tests.console.browser import WIDE, running_browser
from tests.console.rich.screens import SCREENS
from tests.console.rich.stack import running_rich_stack
from tests.console.shot import LOOKS, take

_LOOKS = {look: ((1440, 900) if size == WIDE else size, scheme) for look, (size, scheme) in LOOKS.items()}


def take_rich(folder: Path, names: Collection[str], looks: Collection[str]) -> int:
    """All screens on one filled stack, or those named; how many of them could not be shown."""
    missed = 0
    with (
        tempfile.TemporaryDirectory() as data,
        running_rich_stack(Path(data)) as rich,
        running_browser() as browser,
    ):
        screens = [screen for route in SCREENS.values() for screen in route(rich)]
        for screen in screens if not names else [screen for screen in screens if screen.name in names]:
            try:
                take(
                    browser, rich.stack, screen, {folder / f"{screen.name}-{look}.png": _LOOKS[look] for look in looks}
                )
            except TimeoutError:
                missed += 1
                sys.stderr.write(f"{screen.name} does not show {screen.shows!r}\n")
    return missed
