"""The rings of the tests: which modules one of them leaves out, and how its workers share the import of the others."""

import importlib
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tools.test_run import FIRST, SECOND

ROOT = Path(__file__).resolve().parents[2]
_WHOLE_MODULE = re.compile(r"^pytestmark\b.*\bmark\.(second_ring|long)\b", re.MULTILINE)
RINGS = frozenset({FIRST.tests, SECOND.tests})


def is_left_out(module: Path, marks: str) -> bool:
    """No test of the module is in the ring with these marks, so that nobody needs to import it."""
    if marks not in RINGS or not module.match("test_*.py"):
        return False
    text = module.read_text("utf-8")
    return _WHOLE_MODULE.search(text) is not None if marks == FIRST.tests else "mark.second_ring" not in text


def modules_in(places: Sequence[str], marks: str) -> list[Path]:
    """The modules that a run of these places with these marks imports."""
    roots = [ROOT / place.partition("::")[0] for place in places]
    found = [path for root in roots for path in ([root] if root.is_file() else root.rglob("test_*.py"))]
    return sorted(path for path in set(found) if not is_left_out(path, marks))


def import_share(modules: Sequence[Path], number: int, count: int) -> None:
    """Imports those of one worker before it collects all of them.

    pytest rewrites the assertions of a module when it first imports it, and keeps the result in a file. That is half of
    the time of a collection. All workers collect in the same order, so without shares each would rewrite each module.
    """
    for module in modules[number::count]:
        with suppress(Exception):  # the collection imports it again, and says what is wrong
            importlib.import_module(".".join(module.relative_to(ROOT).with_suffix("").parts))
