"""What a planted bug is: one text of the product, another in its place, and the test that must notice."""

from dataclasses import dataclass

SIMULATED = "tests/faults/simulation/test_simulation.py::test_whatever_happens_around_an_invocation_the_invariants_hold"


@dataclass(frozen=True)
class Mutant:
    """`old` stands exactly once in the file; `why` says what would happen to somebody if nothing caught the bug."""

    name: str
    file: str
    old: str
    new: str
    test: str
    why: str
