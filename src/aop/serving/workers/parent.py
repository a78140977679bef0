"""The parent of the workers of a unit: starts them, starts a crashed one again, passes questions on, serves nothing."""

import asyncio
import os
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aop.base.share import WorkerShare
from aop.net.sockets import LISTEN_FDS, LISTEN_PID
from aop.net.worker_sockets import leave_worker_paths
from aop.processes.child import Child, describe_exit
from aop.processes.keeper import keep_running, until_set
from aop.serving.edge.request_log import Level, UnitLog
from aop.serving.workers.connection_counts import ConnectionCounts
from aop.serving.workers.worker_group import ASK_ALL, BUILT, WORKER, ToAll, WorkerPlace, encode, to_all
from aop.serving.workers.worker_link import LinkLost, WorkerLink

MAX_RESTARTS: Final = 5
"""Of one worker within a minute."""
_MINUTE: Final = 60.0
_FIRST_DELAY: Final = 0.1
_CLOSING_SECONDS: Final = 8.0
"""What a worker may take beyond its drain and its grace, before it is killed."""

Keep = Callable[[bytes | None, bytes], bytes]
"""What is stored of the last answer of a worker that is gone, together with that of those before it."""


class WorkersEnded(Exception):
    """The unit ends because a worker does; the text is for the operator, and empty where the worker has said why."""

    def __init__(self, code: int, text: str = "") -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class WorkersPlan:
    """How many workers a unit has, and how each is started."""

    count: int
    command: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(eq=False)
class _Worker:
    """A place among the workers, and the process that now has it."""

    share: WorkerShare
    built: asyncio.Event = field(default_factory=asyncio.Event)
    child: Child | None = None
    link: WorkerLink | None = None
    restarts: deque[float] = field(default_factory=deque)
    last: dict[str, bytes] = field(default_factory=dict)
    silent: int = 0
    """For how many seconds, when it was ended for that."""

    def delay(self, now: float) -> float | None:
        """How long to wait before the next start; None when there were too many."""
        while self.restarts and now - self.restarts[0] > _MINUTE:
            self.restarts.popleft()
        if len(self.restarts) >= MAX_RESTARTS:
            return None
        self.restarts.append(now)
        return float(_FIRST_DELAY * 2 ** (len(self.restarts) - 1))


class Parent:
    def __init__(
        self,
        plan: WorkersPlan,
        listeners: Sequence[socket.socket],
        by_worker: Sequence[socket.socket],
        log: UnitLog,
        kept: Mapping[str, Keep],
    ) -> None:
        """`by_worker` has one for each, or none; `kept` names the questions whose last answer outlives a worker."""
        self._plan = plan
        self._listeners = listeners
        self._by_worker = by_worker
        self._log = log
        self._kept = kept
        self._ended: dict[str, bytes] = {}
        self._workers = [_Worker(WorkerShare(number + 1, plan.count)) for number in range(plan.count)]
        self._stopping = False
        self._started = False
        self._connections = ConnectionCounts.opened(plan.count)

    async def run(self, stop: asyncio.Event, stop_seconds: float) -> None:
        """Until `stop` is set; WorkersEnded when a worker cannot be kept running.

        `stop_seconds` is what a worker may take to end.
        """
        told, keepers = asyncio.create_task(stop.wait()), set[asyncio.Task[None]]()
        try:
            # One first: what refuses the unit as a whole is then said once.
            for some in (self._workers[:1], self._workers[1:]):
                keepers |= {self._keep(worker) for worker in some}
                await until_set([worker.built for worker in some], {told, *keepers})
                if stop.is_set() or any(keeper.done() for keeper in keepers):
                    break
            else:
                self._started = True
                self._log.event("unit.workers_started", cause=f"{self._plan.count} workers")
                await asyncio.wait({told, *keepers}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            told.cancel()
            await self._stop(keepers, stop_seconds + _CLOSING_SECONDS)
        for keeper in keepers:
            if not keeper.cancelled():
                keeper.result()

    def _keep(self, worker: _Worker) -> asyncio.Task[None]:
        return asyncio.create_task(
            keep_running(lambda: self._run_once(worker), lambda code: self._pause_after(worker, code))
        )

    def _pause_after(self, worker: _Worker, code: int) -> float | None:
        if self._stopping:
            return None
        why = f"it answered nothing for {worker.silent} s" if worker.silent else describe_exit(code)
        ended = f"worker {worker.share.number} ended ({why})"
        if code == os.EX_CONFIG or not self._started:
            raise WorkersEnded(code if code > 0 else 1, "" if code > 0 else ended)
        delay = worker.delay(time.monotonic())
        if delay is None:
            raise WorkersEnded(1, f"{ended} after {MAX_RESTARTS} restarts within a minute")
        self._log.event("worker.ended", level=Level.WARNING, cause=f"{ended}; it is started again in {delay:g} s")
        return delay

    async def _run_once(self, worker: _Worker) -> int:
        if self._stopping:  # the pause before this start was longer than the unit lives
            return os.EX_OK
        # Descriptors keep their numbers in the process that inherits them, so that WORKER can name them. Its end of the
        # link is closed here once it has it: with a copy open, the end of that process would not end the link.
        ours, theirs = socket.socketpair()
        with theirs:
            listeners, by_worker = (
                tuple(listener.fileno() for listener in some) for some in (self._listeners, self._by_worker)
            )
            place = WorkerPlace(worker.share, theirs.fileno(), self._connections.descriptor, listeners, by_worker)
            environment = {**self._plan.environment, WORKER: place.text(os.getpid())}
            for name in (LISTEN_FDS, LISTEN_PID):
                environment.pop(name, None)
            # Settings and secrets are inherited with the environment; the command names nothing but the unit.
            process = await asyncio.create_subprocess_exec(
                *self._plan.command,
                env=environment,
                pass_fds=(place.link, place.counts, *place.listeners, *place.by_worker),
            )

        async def answer(question: str, body: bytes) -> bytes | None:
            return await self._answer(worker, question, body)

        child = worker.child = Child(process)
        worker.silent = 0
        link = worker.link = await WorkerLink.on(ours, answer)
        beside = {asyncio.create_task(one) for one in (link.run(), _end_frozen(worker, link, child))}
        try:
            code = await child.wait()
        finally:
            worker.link = worker.child = None
            self._connections.end(worker.share.number)
            for task in beside:
                task.cancel()
            await asyncio.wait(beside)
        for question, last in worker.last.items():
            self._ended[question] = self._kept[question](self._ended.get(question), last)
        worker.last.clear()
        return code

    async def _answer(self, worker: _Worker, question: str, body: bytes) -> bytes | None:
        if question == BUILT:
            worker.built.set()
            if not self._started:  # whoever accepts first has all that wait, and keeps them
                await asyncio.gather(*(one.built.wait() for one in self._workers))
            return b""
        if question != ASK_ALL:
            return None
        message = to_all(body)
        answers = await asyncio.gather(*(self._ask(one, message) for one in self._workers))
        kept = [self._ended[message.question]] if message.question in self._ended else []
        return encode([*answers, *kept])

    async def _ask(self, worker: _Worker, message: ToAll) -> bytes | None:
        link = worker.link
        if link is None:
            return None
        try:
            answer = await link.ask(message.question, message.body, message.seconds)
        except LinkLost:
            return None
        if message.question in self._kept and worker.link is link:
            worker.last[message.question] = answer
        return answer

    async def _stop(self, keepers: set[asyncio.Task[None]], stop_seconds: float) -> None:
        """All together, so that none takes work that another one has refused."""
        self._stopping = True
        leave_worker_paths(self._by_worker)
        for listener in self._listeners:
            listener.close()
        for worker in self._workers:
            worker.built.set()  # nobody waits for another one any more
        children = [worker.child for worker in self._workers if worker.child is not None]
        await asyncio.gather(*(child.stop(signal.SIGTERM, stop_seconds) for child in children))
        for keeper in keepers:
            keeper.cancel()  # one that waits before a restart
        await asyncio.gather(*keepers, return_exceptions=True)


async def _end_frozen(worker: _Worker, link: WorkerLink, child: Child) -> None:
    """By force: a stopped process takes no other signal."""
    worker.silent = await link.silence()
    child.send(signal.SIGKILL)
