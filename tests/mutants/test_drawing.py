"""Drawing mutants: by seed alone, spread over the product, each one change that compiles."""

import ast
from collections import Counter
from itertools import groupby

import pytest

from tests.mutants.drawing import all_places, draw, statements
from tests.mutants.mutant import ROOT, Mutant, changed_line, changed_text, stale
from tests.mutants.operators import OPERATORS, changes

SEED, COUNT = 7, 60


@pytest.fixture(scope="module")
def drawn() -> list[Mutant]:
    return draw(SEED, COUNT)


def test_a_seed_gives_one_list_and_another_seed_another(drawn: list[Mutant]) -> None:
    assert draw(SEED, COUNT) == drawn
    assert draw(SEED + 1, COUNT) != drawn


def test_a_list_can_keep_to_some_packages() -> None:
    within = draw(SEED, 10, ["door", "ledger/tree"])
    assert len(within) == 10
    assert all(mutant.file.startswith(("src/aop/door/", "src/aop/ledger/tree/")) for mutant in within)


def test_every_mutant_is_one_change_that_compiles_and_means_something_else(drawn: list[Mutant]) -> None:
    assert len(set(drawn)) == COUNT
    for mutant in drawn:
        before = (ROOT / mutant.file).read_text("utf-8")
        after = changed_text(mutant)
        assert stale(mutant) is None
        assert ast.dump(ast.parse(before)) != ast.dump(ast.parse(after))
        assert f":{changed_line(mutant)} " in mutant.name


def test_each_module_gets_its_share_by_its_statements(drawn: list[Mutant]) -> None:
    of_places = [_room(str(place.path.relative_to(ROOT))) for place in all_places()]
    rooms, found = Counter(of_places), Counter(_room(mutant.file) for mutant in drawn)
    pieces = Counter(room for room, _ in groupby(of_places))  # files of a room lie between its folders
    for room, count in rooms.items():
        share = count * COUNT / rooms.total()
        assert abs(found[room] - share) <= pieces[room] + 1, room


def test_no_kind_of_mistake_crowds_out_the_others(drawn: list[Mutant]) -> None:
    often = Counter(mutant.why for mutant in drawn)
    assert len(often) >= 7
    assert max(often.values()) <= COUNT / 2


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        ("negate a condition", "if ready(): go()", {"if (not ready()): go()"}),
        ("negate a condition", "if not ready(): go()", {"if ready(): go()"}),
        ("change a comparison", "late = now >= end", {"late = (now > end)"}),
        ("off by one", "limit = 8", {"limit = 9", "limit = 7"}),
        ("widen a limit", "seconds: float = 5.0", {"seconds: float = 50.0"}),
        ("and for or", "both = one and other", {"both = (one or other)"}),
        ("true for false", "send(streamed=False)", {"send(streamed=True)"}),
        ("change a calculation", "left -= size", {"left += size"}),
        ("swap arguments", "send(one, other)", {"send(other, one)"}),
        ("drop a statement", "self.names.add(name)", {"pass"}),
        ("change a query", "q = 'SELECT a FROM b WHERE c IS NULL'", {"q = 'SELECT a FROM b WHERE c IS NOT NULL'"}),
    ],
)
def test_an_operator_makes_its_mistake(operator: str, before: str, after: set[str]) -> None:
    (statement,) = ast.parse(before).body
    found = changes(statement, before.encode())[operator]
    assert {before[: change.start] + change.new + before[change.end :] for change in found} == after
    assert operator in OPERATORS


@pytest.mark.parametrize(
    "text",
    [
        '"""A docstring with 5 words."""',
        "import asyncio",
        "if TYPE_CHECKING:\n    limit = 8",
        "def declared() -> int: ...",
        "log.warning('slow', 5)",
        "@dataclass(frozen=True)\nclass Value(Struct, frozen=True):\n    name: Literal[5]",
    ],
)
def test_what_nobody_runs_or_only_people_read_is_left_alone(text: str) -> None:
    found = [changes(statement, text.encode()) for statement in statements(ast.parse(text))]
    assert not any(found)


def _room(file: str) -> str:
    return "/".join(file.split("/")[2:-1][:2])
