"""Keeps units running: starts them, waits until they are ready, starts them again when they die, stops them all."""

import asyncio
import os
import signal
import time
from collections.abc import Callable

from aop.local.problems import UnitFailed
from aop.local.unit import SupervisedUnit
from aop.local.unit_logs import UnitLogs
from aop.processes.child import Child, describe_exit
from aop.processes.keeper import keep_running, until_set

EX_CONFIG = 78
"""The exit code of a unit that refuses its settings or its store: starting it again cannot help."""

_READY_SECONDS = 60.0
_POLL_SECONDS = 0.03
_FIRST_PAUSE = 0.5
_STEADY_SECONDS = 30.0

PidsChanged = Callable[[dict[str, int]], None]


class UnitSupervisor:
    """`async with` bounds the life of every unit: leaving it stops them, the last begun first."""

    def __init__(self, logs: UnitLogs, *, ready_seconds: float = _READY_SECONDS) -> None:
        self._logs = logs
        self._ready_seconds = ready_seconds
        self._groups: list[list[_RunningUnit]] = []
        self._pids_changed: PidsChanged | None = None

    async def __aenter__(self) -> "UnitSupervisor":
        return self

    async def __aexit__(self, *_: object) -> None:
        for group in reversed(self._groups):
            await asyncio.gather(*(unit.stop() for unit in group))

    def begin(self, *units: SupervisedUnit) -> None:
        """Starts them without waiting. What is begun together is also stopped together."""
        group = [_RunningUnit(unit, self._logs, self._ready_seconds, self._report_pids) for unit in units]
        self._groups.append(group)
        for unit in group:
            unit.begin()

    async def start(self, *units: SupervisedUnit) -> None:
        """Starts them together and returns when all are ready; raises UnitFailed when one cannot be."""
        self.begin(*units)
        await self._await_ready(self._groups[-1])

    async def ready(self) -> None:
        """Returns when every unit that was begun is or was ready; raises UnitFailed when one cannot be."""
        await self._await_ready(self._units)

    async def watch(self, pids_changed: PidsChanged) -> None:
        """Until a unit cannot be kept running, which raises UnitFailed. Reports the process ids now and on change."""
        self._pids_changed = pids_changed
        self._report_pids()
        await asyncio.wait({unit.keeper for unit in self._units}, return_when=asyncio.FIRST_COMPLETED)
        _raise_failure(self._units)

    def hurry(self) -> None:
        """Ends every unit at once, without an orderly stop."""
        for unit in self._units:
            unit.force()

    @property
    def _units(self) -> list["_RunningUnit"]:
        return [unit for group in self._groups for unit in group]

    async def _await_ready(self, units: list["_RunningUnit"]) -> None:
        await until_set([unit.first_ready for unit in units], [unit.keeper for unit in self._units])
        _raise_failure(self._units)

    def _report_pids(self) -> None:
        if self._pids_changed is not None:
            self._pids_changed({unit.unit.name: unit.pid for unit in self._units if unit.pid is not None})


class _RunningUnit:
    """One unit, its current process, and the task that keeps it running."""

    keeper: asyncio.Task[None]

    def __init__(self, unit: SupervisedUnit, logs: UnitLogs, ready_seconds: float, changed: Callable[[], None]) -> None:
        self.unit = unit
        self.first_ready = asyncio.Event()
        self._logs = logs
        self._ready_seconds = ready_seconds
        self._changed = changed
        self._child: Child | None = None
        self._log: asyncio.Task[None] | None = None
        self._started = 0.0
        self._pause = _FIRST_PAUSE
        self._why = ""

    @property
    def pid(self) -> int | None:
        return None if self._child is None else self._child.pid

    def begin(self) -> None:
        keeping = keep_running(self._run_once, self._pause_after)
        self.keeper = asyncio.create_task(keeping, name=f"keep {self.unit.name}")

    async def stop(self) -> None:
        self._end_keeper()
        await asyncio.gather(self.keeper, return_exceptions=True)
        if self._child is not None:
            await self._child.stop(self.unit.stop_signal, self.unit.stop_seconds, self.unit.forced_signal)
        await self._end_log()

    def force(self) -> None:
        self._end_keeper()
        if self._child is not None:
            self._child.send(self.unit.forced_signal)

    def _end_keeper(self) -> None:
        """Once: a second cancel would break off the end of a process that is just being started."""
        if not self.keeper.cancelling():
            self.keeper.cancel()

    async def _run_once(self) -> int:
        self._started = time.monotonic()
        try:
            child = self._child = await Child.start(self.unit.launch)
        except OSError as problem:  # no process or descriptor is left; later there may be one
            self._why = f"it could not be started: {problem.strerror}"
            return os.EX_OSERR
        if child.output is not None:
            follow = self._logs.follow(self.unit.called, child.output, visible=self.unit.visible)
            self._log = asyncio.create_task(follow, name=f"log of {self.unit.name}")
        self._changed()
        # One that is not ready in time fails, but not after a restart: it may wait for its store.
        seconds = None if self.first_ready.is_set() else self._ready_seconds
        if await child.becomes_ready(lambda: self.unit.ready(child.pid), _POLL_SECONDS, seconds):
            self.first_ready.set()
            self._logs.say(f"{self.unit.called} is ready (process {child.pid})")
        elif child.exit_code is None:
            raise self._failed(f"was not ready within {self._ready_seconds:g} s")
        code = await child.wait()
        child.send(signal.SIGKILL)  # what it may have left of its group
        await self._end_log()
        self._why = describe_exit(code)
        return code

    def _pause_after(self, code: int) -> float | None:
        if code == EX_CONFIG and self.unit.may_stay_down and self.first_ready.is_set():
            self._stay_down()
            return None
        if code == EX_CONFIG:
            raise self._failed("refuses to run")
        if not self.first_ready.is_set():
            raise self._failed(f"ended before it was ready ({self._why})")
        pause = self._pause if time.monotonic() - self._started <= _STEADY_SECONDS else _FIRST_PAUSE
        self._logs.say(f"{self.unit.called} ended ({self._why}); starting it again in {pause:g} s")
        self._pause = min(2 * pause, self.unit.max_pause_seconds)
        return pause

    def _stay_down(self) -> None:
        self._logs.say(f"{self._with_last_lines('refuses to run and stays stopped; the other units go on')}")
        self._child = None
        for listener in self.unit.launch.listeners:
            listener.close()  # callers are refused at once instead of waiting for nobody
        self._changed()

    def _failed(self, reason: str) -> UnitFailed:
        return UnitFailed(self._with_last_lines(reason))

    def _with_last_lines(self, reason: str) -> str:
        lines = "".join(f"\n  {line}" for line in self._logs.last_lines(self.unit.called))
        return f"{self.unit.called} {reason}{lines and '; its last log lines:'}{lines}"

    async def _end_log(self) -> None:
        """The rest of the output, unless another process holds it open."""
        if self._log is not None:
            await asyncio.wait({self._log}, timeout=1.0)
            self._log.cancel()
            self._log = None


def _raise_failure(units: list[_RunningUnit]) -> None:
    for unit in units:
        if unit.keeper.done():
            unit.keeper.result()
