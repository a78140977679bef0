"""The schema processes of a unit: few, started when first needed, of low priority, ended at the caller's deadline."""

import asyncio
import heapq
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import msgspec

import aop
from aop.cards.jobs import Job, Reply, TooMuchWork
from aop.processes.child import Child
from aop.processes.frames import framed, read_frame

MAX_PROCESSES = 2
_encode = msgspec.msgpack.Encoder().encode
_replies: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)
_SOURCE = str(Path(aop.__file__).resolve().parents[1])


_QueueEntry = tuple[int, int, asyncio.Future[None]]
"""In the queue: the size of the job, when it came, and the future that is set when its turn has come."""


class ProcessLost(Exception):
    """The process ended instead of answering."""


class SchemaWorkers:
    """Does jobs outside the event loop, the smallest that waits first. A job ends its process when its caller no
    longer waits; a process that dies is replaced, and its job tried once more, because a job changes nothing."""

    def __init__(
        self,
        processes: int = MAX_PROCESSES,
        *,
        lost: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.processes = processes
        """How many jobs can run at the same time."""
        self._free = processes
        self._lost = lost
        self._idle: list[_Process] = []
        self._started: list[_Process] = []
        self._waiting: list[_QueueEntry] = []
        self._order = count()
        self._closed = False

    @property
    def running(self) -> int:
        """Jobs whose turn has come."""
        return self.processes - self._free

    @property
    def waiting(self) -> int:
        """Jobs whose turn has not come."""
        return len(self._waiting)

    async def run(self, job: Job, size: int) -> Reply:
        """The job with the smallest size goes first. TooMuchWork also when it used up its processor time."""
        async with self._turn(size):
            for last in (False, True):
                process = await self._process()
                try:
                    return await self._ask(process, job)
                except ProcessLost:
                    status = await process.ended()
                    if status == -signal.SIGPROF or last:
                        self._lost(status)
                        return TooMuchWork()
                    if self._closed:
                        return TooMuchWork()
        raise AssertionError("a job is tried twice at most")

    async def close(self) -> None:
        """Ends what runs; no process is started from here on."""
        self._closed = True
        self._idle.clear()
        for process in self._started:
            await process.ended()
        self._started.clear()

    async def _ask(self, process: "_Process", job: Job) -> Reply:
        try:
            reply = await process.ask(job)
        except ProcessLost:
            raise
        except BaseException:  # the deadline of the caller has passed, or the caller has left: what runs is of no use
            process.send(signal.SIGKILL)
            raise
        self._idle.append(process)
        return reply

    async def _process(self) -> "_Process":
        self._started = [process for process in self._started if process.exit_code is None]
        while self._idle:
            process = self._idle.pop()
            if process.exit_code is None:
                return process
        process = await _Process.spawn()
        self._started.append(process)  # not before: the list may be another one by now
        if self._closed:
            process.send(signal.SIGKILL)
        return process

    @asynccontextmanager
    async def _turn(self, size: int) -> AsyncIterator[None]:
        if self._free > 0:
            self._free -= 1
        else:
            turn = asyncio.get_running_loop().create_future()
            place = (size, next(self._order), turn)
            heapq.heappush(self._waiting, place)
            try:
                await turn
            except asyncio.CancelledError:
                self._leave(place)
                raise
        try:
            yield
        finally:
            self._pass_on()

    def _leave(self, place: _QueueEntry) -> None:
        if place in self._waiting:
            self._waiting.remove(place)  # else it would count as one that waits
            heapq.heapify(self._waiting)
        elif not place[-1].cancelled():
            self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class _Process(Child):
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        super().__init__(process)
        if process.stdin is None or process.stdout is None:
            raise AssertionError("started with pipes")
        self._requests, self._replies = process.stdin, process.stdout

    @classmethod
    async def spawn(cls) -> "_Process":
        """Nothing is inherited: no variable, no descriptor but the pipes."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-s", "-m", "aop.cards.process"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={"PYTHONPATH": _SOURCE},
            close_fds=True,
        )
        return cls(process)

    async def ask(self, job: Job) -> Reply:
        try:
            self._requests.write(framed(_encode(job)))
            await self._requests.drain()
            return _replies.decode(await read_frame(self._replies))
        except (OSError, asyncio.IncompleteReadError, msgspec.DecodeError):
            raise ProcessLost from None

    async def ended(self) -> int:
        """Its exit status; waits for it, and ends it should it still run."""
        self.send(signal.SIGKILL)
        return await self.wait()
