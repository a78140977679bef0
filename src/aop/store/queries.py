"""Statements that stand in an .sql file beside the module that runs them, so that psql and a linter can read them.

Each begins with `-- name: …` and a sentence that says what it gives.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_HEAD: Final = re.compile(r"^-- name: (\w+)\n(?:--.*\n)+", re.MULTILINE)


def queries_beside(module: str) -> Mapping[str, str]:
    """By name, those of the file that has the name of a module and ends in .sql. For `__file__`."""
    _, *parts = _HEAD.split(Path(module).with_suffix(".sql").read_text("utf-8"))
    return dict(zip(parts[::2], parts[1::2], strict=True))
