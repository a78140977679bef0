"""Development tools of this repository; none of them is part of the package."""

import sys
from pathlib import Path

_SOURCES = str(Path(__file__).resolve().parents[1] / "src")
if _SOURCES not in sys.path:  # a tool of the set-up runs before there is an environment
    sys.path.append(_SOURCES)
