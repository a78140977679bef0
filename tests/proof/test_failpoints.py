"""Failpoints belong to the tests: each still finds its function, and an installed product cannot have one."""

import subprocess
import sys
from pathlib import Path

import pytest

from proof.failpoints import CONTROL_PLANE, ROUTER, Failpoint, FailpointLost, install, replace
from proof.switchboard import Action, Armed, Switchboard

pytestmark = pytest.mark.second_ring

ROOT = Path(__file__).resolve().parents[2]
FIND_ALL = (
    "from proof import failpoints; from proof.switchboard import Switchboard;"
    " failpoints.install([*failpoints.ROUTER, *failpoints.CONTROL_PLANE, *failpoints.IO], Switchboard())"
)


def test_every_failpoint_finds_its_function() -> None:
    """In a process of its own, because it replaces functions of the product."""
    subprocess.run([sys.executable, "-c", FIND_ALL], cwd=ROOT, check=True)
    names = [point.name for point in (*ROUTER, *CONTROL_PLANE)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "place", ["aop.ledger.write.journal:Journal.no_such", "aop.ledger.nowhere:accept", "aop.ledger:x.y"]
)
def test_a_failpoint_whose_function_is_gone_is_an_error_at_once(place: str) -> None:
    with pytest.raises(FailpointLost, match=place.partition(":")[0]):
        install([Failpoint("lost", place, "before")], Switchboard())
    with pytest.raises(FailpointLost):
        replace(place, lambda original: original)


def test_the_product_knows_nothing_of_failpoints() -> None:
    words = ("failpoint", "switchboard", "from proof.", "from proof import")
    sources = [path.read_text("utf-8").lower() for path in (ROOT / "src").rglob("*.py")]
    assert sources
    assert not [word for word in words for text in sources if word in text]


@pytest.mark.parametrize(
    ("text", "armed"),
    [("a.b=kill", Armed("a.b", Action.KILL)), ("io=do-then-raise@7", Armed("io", Action.DO_THEN_RAISE, 7))],
)
def test_an_armed_point_is_written_as_point_and_action(text: str, armed: Armed) -> None:
    assert Armed.read(text) == armed


def test_a_point_acts_at_its_passing_and_once() -> None:
    board = Switchboard()
    board.arm(Armed("here", Action.HOLD, 2))
    assert [board.due(name) for name in ("here", "there", "here", "here")] == [None, None, Action.HOLD, None]
    assert board.passings == ["here", "there", "here", "here"]
