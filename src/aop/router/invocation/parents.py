"""Parents of running children: checked before a child is accepted, watched while it runs."""

import asyncio

from aop.contracts.delegation import DelegationClaims
from aop.contracts.errors import Conflict, Forbidden, Reason, Unauthenticated
from aop.ledger.read.reader import LedgerReader, ParentFacts
from aop.router.invocation.supervisor import InvocationSupervisor
from aop.store.problems import StoreUnavailable

MAX_DEPTH = 16
MAX_IN_ROOT_TASK = 5000
PROBE_SECONDS = 1.0


def require_one_more_child(parent: ParentFacts | None, claims: DelegationClaims) -> None:
    """The parent's facts must agree with the delegation, and the parent must be running and allowed one more child."""
    if parent is None:
        raise Conflict("the parent is not running", reason=Reason.PARENT_NOT_RUNNING)
    named = (claims.workspace_id, claims.agent_id, claims.release_id, claims.root_task_id, claims.trace_id)
    pin, lineage = parent.context.pin, parent.context.lineage
    if named != (pin.workspace, pin.agent, pin.release, lineage.root_task, lineage.trace):
        raise Unauthenticated("the delegation disagrees with its Invocation")
    if not parent.running:
        raise Conflict("the parent is not running", reason=Reason.PARENT_NOT_RUNNING)
    if claims.depth + 1 > MAX_DEPTH:
        raise Forbidden("the lineage may not grow deeper", reason=Reason.DEPTH_LIMIT)
    if parent.invocations_of_root_task >= MAX_IN_ROOT_TASK:
        raise Forbidden("the root Task may not have more Invocations", reason=Reason.FAN_OUT_LIMIT)


class ParentWatch:
    """Ends children whose parent was canceled or timed out on another Router; the supervisor sees to parents here."""

    def __init__(self, ledger: LedgerReader, supervisor: InvocationSupervisor) -> None:
        self._ledger = ledger
        self._supervisor = supervisor

    async def turn(self) -> None:
        await asyncio.sleep(PROBE_SECONDS)
        parents = self._supervisor.parents_elsewhere()
        if not parents:
            return
        try:
            ended = await self._ledger.ended_with_children(parents)
        except StoreUnavailable:
            return  # the next turn will tell; readiness tells of the store
        for parent in ended:
            self._supervisor.stop_children(parent)
