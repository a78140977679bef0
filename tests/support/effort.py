"""What work costs of a core, said so that a slow or busy machine does not change the answer."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_PIECE = range(200_000)
_PIECE_SECONDS = 0.004
"""What the piece of work takes of an ordinary core."""


@dataclass
class Spent:
    seconds: float = 0.0
    """Processor time of this thread, as an ordinary core would have taken."""


@contextmanager
def effort() -> Iterator[Spent]:
    """Nothing but the block counts: no other thread, and not the collector, which walks through all that tests made."""
    spent = Spent()
    collecting = gc.isenabled()
    gc.disable()
    before = _piece_seconds()
    started = time.thread_time()
    try:
        yield spent
    finally:
        used = time.thread_time() - started
        slowness = max(1.0, before / _PIECE_SECONDS, _piece_seconds() / _PIECE_SECONDS)
        spent.seconds = used / slowness
        if collecting:
            gc.enable()


def _piece_seconds() -> float:
    started = time.thread_time()
    for _ in _PIECE:
        pass
    return time.thread_time() - started
