"""Which running Invocations end with their parent, however their beginnings and ends fall together."""

from typing import Any

import pytest

from aop.contracts.identity import InvocationContext, Lineage
from aop.ledger.model import CANCELED, LOST, SUCCEEDED, TIMED_OUT, LastFact, Opening, Terminal
from aop.router.a2a.outcome import Outcome
from aop.router.invocation.running import RunningInvocation, StopReason
from aop.router.invocation.supervisor import InvocationSupervisor

UNUSED: Any = None


def running(invocation_id: str, parent: str | None = None) -> RunningInvocation:
    lineage = Lineage(invocation_id, "task_1", "1" * 32, parent)
    context = InvocationContext(lineage, UNUSED, UNUSED, "work")
    place = LastFact(context, Opening.STARTED, UNUSED, 2, None, UNUSED)
    return RunningInvocation(UNUSED, b"{}", 0.0, 0.0, place, UNUSED, UNUSED, UNUSED)


async def nothing() -> None:
    pass


@pytest.mark.rows("NEST-12", "NEST-13")
@pytest.mark.parametrize(
    ("end", "reason"),
    [(CANCELED, StopReason.PARENT_ENDED), (TIMED_OUT, StopReason.PARENT_ENDED), (SUCCEEDED, None), (LOST, None)],
)
async def test_a_child_ends_with_its_parent_though_it_begins_after_the_parents_end(
    end: Terminal, reason: StopReason | None
) -> None:
    """Both were in the Ledger in the right order; only the news of them came the other way round."""
    supervisor = InvocationSupervisor()
    parent, early, late, stranger = (
        running("p"),
        running("early", "p"),
        running("late", "p"),
        running("stranger", "elsewhere"),
    )
    for invocation in (parent, early, stranger):
        supervisor.start(invocation, nothing())
    assert supervisor.parents_elsewhere() == ["elsewhere"]
    supervisor.ended(parent, Outcome(end))
    supervisor.start(late, nothing())
    assert [invocation.stop_reason for invocation in (early, late, stranger)] == [reason, reason, None]
    # Until they have ended, the Ledger is asked about their parents, too.
    assert set(supervisor.parents_elsewhere()) == {"p", "elsewhere"}
    for invocation in (early, late, stranger):
        supervisor.ended(invocation, Outcome(CANCELED))
    assert (len(supervisor), supervisor.parents_elsewhere()) == (0, [])
    await supervisor.stop_all()


class CountingId(str):
    """An invocationId that counts how often anything is compared with it."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        CountingId.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


async def test_a_root_call_is_compared_with_no_call_that_ended_before_and_a_child_with_its_parent_alone() -> None:
    supervisor = InvocationSupervisor()
    ended = [running(CountingId(f"inv_{number}")) for number in range(2000)]
    for invocation in ended:
        supervisor.enter(invocation)
        supervisor.ended(invocation, Outcome(CANCELED))
    CountingId.compared = 0
    root, forgotten, late = running("root"), running("early", "inv_0"), running("late", "inv_1999")
    supervisor.enter(root)
    assert CountingId.compared == 0
    supervisor.enter(forgotten)
    supervisor.enter(late)
    assert [one.stop_reason for one in (root, forgotten, late)] == [None, None, StopReason.PARENT_ENDED]
    assert CountingId.compared < 10
