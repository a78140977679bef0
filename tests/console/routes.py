"""The addresses of the Console, read from its source: a new one is in every test that goes through all of them."""

import re
from pathlib import Path

_SOURCE = Path(__file__).resolve().parents[2] / "console" / "src" / "app" / "routes.tsx"


def routes() -> tuple[str, ...]:
    return tuple(re.findall(r'\bpath: "([^"]+)"', _SOURCE.read_text("utf-8")))
