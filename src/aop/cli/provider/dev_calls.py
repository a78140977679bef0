"""The calls of one Agent, shown as they end: Skill, outcome, reason and trace."""

import asyncio

from aop.base.clock import utc_now
from aop.cli.shell.client_problems import problem_of
from aop.cli.shell.invocation_lines import explained, milliseconds, state_of
from aop.cli.shell.output import Line, styled
from aop.cli.shell.platform import InWorkspace, first
from aop.client import ClientError
from aop.contracts.lineage import TERMINAL_STATUSES, InvocationRecord

_PAUSE_SECONDS = 1.0
_MAX_AT_ONCE = 50


class EndedCalls:
    """Each is shown once; calls from before the start are not."""

    def __init__(self, platform: InWorkspace) -> None:
        self.agent_id: str | None = None
        """Whose calls; None until the Card was read."""
        self._platform = platform
        self._since = utc_now()
        self._seen: dict[str, None] = {}
        self._reachable = True

    async def follow(self) -> None:
        while True:
            await asyncio.sleep(_PAUSE_SECONDS)
            if self.agent_id is None:
                continue
            try:
                self._tell(*await self._newest(self.agent_id))
            except ClientError as error:
                if self._reachable:
                    self._platform.out.problem(problem_of(error, self._platform.destination))
                self._reachable = False
            else:
                self._reachable = True

    async def _newest(self, agent_id: str) -> tuple[list[InvocationRecord], bool]:
        listed = self._platform.client.list_invocations(
            self._platform.workspace_id, agent_id=agent_id, since=self._since
        )
        return await first(listed, _MAX_AT_ONCE)

    def _tell(self, records: list[InvocationRecord], more: bool) -> None:
        ended = [one for one in reversed(records) if one.status in TERMINAL_STATUSES]
        unseen = [one for one in ended if one.invocation_id not in self._seen]
        for record in unseen:
            self._platform.out.show(*_lines(record))
        if more and len(unseen) == _MAX_AT_ONCE:
            self._platform.out.show(styled(("call   there were more; `aop invocations` lists them", "dim")))
        self._seen |= dict.fromkeys(one.invocation_id for one in unseen)
        while len(self._seen) > 2 * _MAX_AT_ONCE:
            del self._seen[next(iter(self._seen))]


def _lines(record: InvocationRecord) -> list[Line]:
    took = f", {milliseconds(record.latency_ms)}" if isinstance(record.latency_ms, int) else ""
    said = styled(("call   ", "green"), f"{record.capability} ", state_of(record), f"{took}, trace {record.trace_id}")
    return [said, *(line for line in explained([record]) if str(line))]
