"""The Agent that `aop dev` runs: its process, its log in the terminal, and when it serves."""

import asyncio
import signal
from collections.abc import Mapping

import msgspec

from aop.agent.server.call_log import CallRecord
from aop.cli.provider.agent_started import START_SECONDS, AgentProject, is_served
from aop.cli.shell.output import Output, styled
from aop.cli.shell.problems import CommandProblem
from aop.local.unit_logs import next_line
from aop.net.origin import Endpoint
from aop.processes.child import Child, Launch, describe_exit

_STOP_SECONDS, _LOG_SECONDS = 3.0, 1.0
_MAX_LINE = 4_000


class AgentProcess:
    """At most one runs. It cannot outlive this program."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._child: Child | None = None
        """None as soon as it is to stop."""
        self._last: Child | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, project: AgentProject, environment: Mapping[str, str]) -> None:
        command = (str(project.python), "-m", project.module)
        child = await Child.start(Launch(command, environment, folder=project.directory))
        self._child = self._last = child
        self._tasks = [asyncio.create_task(self._show_log(child)), asyncio.create_task(self._tell_end(child))]

    async def wait_served(self, endpoint: Endpoint) -> None:
        """CommandProblem when it ends first, or does not answer in time; then it does not run any more."""
        child = self._child
        if child is not None and await is_served(child, endpoint):
            return
        ended = child is None or child.exit_code is not None
        await self.stop()
        reason = "ended before it served" if ended else f"does not answer after {START_SECONDS:g} s and was stopped"
        raise CommandProblem(f"the Agent {reason}", code="agent_down", recovery="correct it and save")

    async def stop(self) -> None:
        """What it still wrote is shown."""
        child, self._child = self._child, None
        if child is not None:
            await child.stop(signal.SIGTERM, _STOP_SECONDS)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_LOG_SECONDS)
        for task in self._tasks:
            task.cancel()
        self._tasks = []

    def kill(self) -> None:
        if self._last is not None and self._last.exit_code is None:
            self._last.send(signal.SIGKILL)

    async def _show_log(self, child: Child) -> None:
        while child.output is not None and (line := await next_line(child.output)):
            text = _readable(line)
            if text is not None:
                self._out.show(styled(("agent  ", "cyan"), text))

    async def _tell_end(self, child: Child) -> None:
        code = await child.wait()
        if self._child is child:
            said = f"the Agent ended ({describe_exit(code)}); save a file to start it again"
            self._out.show(styled(("dev    ", "dim"), (said, "yellow")))


def _readable(line: bytes) -> str | None:
    """The record of a call is left out where the platform's own line says the same; a failure has its place."""
    try:
        record = msgspec.json.decode(line, type=CallRecord)
    except (msgspec.MsgspecError, RecursionError):  # the second for a deeply nested line
        return line.decode(errors="replace").rstrip()[:_MAX_LINE]
    if record.error is None:
        return None
    place = "" if record.place is None else f" at {record.place}"
    return f"{record.skill} {record.outcome}: {record.error}{place}, trace {record.trace_id}"
