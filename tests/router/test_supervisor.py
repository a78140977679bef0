"""Which running Invocations end with their parent, however their beginnings and ends fall together."""

from typing import Any

import pytest

from aop.contracts.identity import InvocationContext, Lineage
from aop.ledger.model import CANCELED, LOST, SUCCEEDED, TIMED_OUT, Opening, Place, Terminal
from aop.router.a2a.outcome import Outcome
from aop.router.invocation.running import RunningInvocation, StopReason
from aop.router.invocation.supervisor import InvocationSupervisor

UNUSED: Any = None


def running(invocation_id: str, parent: str | None = None) -> RunningInvocation:
    lineage = Lineage(invocation_id, "task_1", "1" * 32, parent)
    context = InvocationContext(lineage, UNUSED, UNUSED, "work")
    place = Place(context, Opening.STARTED, UNUSED, 2, None, UNUSED)
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
