"""Which tests a mutant has to meet, and in which order: those most likely to notice it first."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from tests.mutants.imports import product_modules
from tests.mutants.mutant import ROOT, Mutant, changed_line
from tests.mutants.nearness import Near, all_tests, enclosing_function
from tests.mutants.reach import ABOUT_MUTANTS, Reach, digest

_LAST = ("tests/console/", "tests/docs/", "tests/supply_chain/", "tests/client/test_wheel")
"""They take long, and rarely are the first to notice."""
_START_SECONDS = 2.0


@dataclass(frozen=True)
class _Candidate:
    test: str
    likely: float
    seconds: float

    @property
    def file(self) -> str:
        return self.test.partition("::")[0]


def select_tests(mutant: Mutant, reach: Reach, *, everything: bool) -> list[str]:
    """Every test that reaches the changed block or was not recorded as it is now, then the others of their files.

    What runs when a module is loaded, and what is no Python, may be noticed by any test: then all of them.
    """
    recorded = [name for name in reach.tests if not name.startswith(ABOUT_MUTANTS) and _is_recorded(reach, _file(name))]
    blocks = reach.blocks_at(mutant.file, changed_line(mutant), enclosing_function(mutant)[0])
    reaching = [name for name in recorded if reach.tests[name].blocks & blocks]
    files = {_file(name) for name in reaching}
    mates = [name for name in recorded if _file(name) in files]
    wider = [] if blocks and not everything else recorded
    near = all_tests().to(mutant)
    first = [*_unrecorded(mutant, reach, near), *_recorded(mutant, reach, near, reaching)]
    later = (_recorded(mutant, reach, near, names) for names in (mates, wider))
    return list(dict.fromkeys(name for candidates in (first, *later) for name in _by_file(candidates)))


def _recorded(mutant: Mutant, reach: Reach, near: Near, names: Sequence[str]) -> Iterator[_Candidate]:
    own = reach.blocks_of(_home(mutant))
    for name in names:
        one, (file, _, function) = reach.tests[name], name.partition("::")
        focus = (one.blocks & own).bit_count() / (one.blocks.bit_count() or 1)
        words = near.get((file, function.partition("[")[0]), 0.0)
        yield _Candidate(name, focus + words + _shared_imports(mutant, file), one.seconds)


def _unrecorded(mutant: Mutant, reach: Reach, near: Near) -> Iterator[_Candidate]:
    for (file, function), words in near.items():
        if not _is_recorded(reach, file) and not f"{file}::".startswith(ABOUT_MUTANTS):
            yield _Candidate(f"{file}::{function}", words + _shared_imports(mutant, file), 1.0)


def _is_recorded(reach: Reach, file: str) -> bool:
    return reach.digests.get(file) == digest(ROOT / file)


def _shared_imports(mutant: Mutant, file: str) -> float:
    """Much for a test that loads the changed module and few others."""
    loaded = product_modules(file)
    return 1 / (1 + math.log(len(loaded))) if loaded & _home(mutant) else 0.0


@cache
def _home(mutant: Mutant) -> frozenset[str]:
    """The changed module; of a migration, the modules of its owner."""
    if not mutant.file.startswith("migrations/"):
        return frozenset({mutant.file})
    owner = mutant.file.split("/")[1]
    return frozenset(str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.py") if owner in path.parts)


def _file(test: str) -> str:
    return test.partition("::")[0]


def _by_file(candidates: Iterable[_Candidate]) -> list[str]:
    """File by file, because what the tests of a file share is started once."""
    files: dict[str, list[_Candidate]] = {}
    for candidate in candidates:
        files.setdefault(candidate.file, []).append(candidate)

    def key(file: str) -> tuple[bool, float]:
        seconds = sum(one.seconds for one in files[file]) + _START_SECONDS
        return file.startswith(_LAST), -max(one.likely for one in files[file]) / seconds**0.5

    ordered = (sorted(files[file], key=lambda one: (-one.likely, one.test)) for file in sorted(files, key=key))
    return [one.test for group in ordered for one in group]
