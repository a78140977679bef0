"""A unit that runs on a loop and thread of its own, for clients that block."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from aop.serving.unit.unit import Unit
from tests.support.units import running


@contextmanager
def unit_in_thread(build: Callable[[], Awaitable[Unit]]) -> Iterator[str]:
    """Gives the unit's origin."""
    begun, outcome, stops = threading.Event(), list[str | BaseException](), list[Callable[[], object]]()

    async def serve() -> None:
        ended, loop = asyncio.Event(), asyncio.get_running_loop()
        stops.append(lambda: loop.call_soon_threadsafe(ended.set))
        async with running(build) as unit:
            outcome.append(unit.origin)
            begun.set()
            await ended.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as problem:
            outcome.append(problem)
            raise
        finally:
            begun.set()

    thread = threading.Thread(target=run, name="unit for tests")
    thread.start()
    begun.wait()
    try:
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        yield outcome[0]
    finally:
        for stop in stops:
            stop()
        thread.join()
