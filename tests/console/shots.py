"""`./dev shots`: a picture of every screen, in light, dark and narrow; with `--rich` of those with much to show."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.console.browser import running_browser
from tests.console.rich.shots import take_rich
from tests.console.screens import SCREENS
from tests.console.shot import LOOKS, take
from tests.console.stack import running_stack
from tools.process_tree import ending_all

DEFAULT = Path(__file__).resolve().parents[2] / ".dev" / "shots"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev shots", description=__doc__)
    parser.add_argument("names", nargs="*", help="screens to take; all when none is named")
    parser.add_argument("--to", type=Path, default=DEFAULT, help="folder for the pictures (default: .dev/shots)")
    parser.add_argument("--look", choices=LOOKS, action="append", help="only this look; can be repeated")
    parser.add_argument("--rich", action="store_true", help="with the data of a large company; wide is then 1440 px")
    chosen = parser.parse_args(arguments)
    chosen.to.mkdir(parents=True, exist_ok=True)
    if chosen.rich:
        return 1 if take_rich(chosen.to, chosen.names, chosen.look or tuple(LOOKS)) else 0
    screens = [screen for screen in SCREENS if not chosen.names or screen.name in chosen.names]
    for variant in chosen.look or LOOKS:
        # What a screen needs is made for its picture; the next look begins with an empty platform again.
        with (
            tempfile.TemporaryDirectory() as folder,
            running_stack(Path(folder)) as stack,
            running_browser() as browser,
        ):
            for screen in screens:
                take(browser, stack, screen, {chosen.to / f"{screen.name}-{variant}.png": LOOKS[variant]})
    return 0


if __name__ == "__main__":
    with ending_all():
        sys.exit(main(sys.argv[1:]))
