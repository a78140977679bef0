"""Fills a replay memory with a million live ids in a process of its own, and prints what that costs."""

import gc
import json
import time
from pathlib import Path

from aop.agent import ReplayMemory
from aop.agent.replay import MAX_LIVE
from aop.base.ids import new_id

TTL_SECONDS = 60
PIECE = 50_000
NOW = 2_000_000_000.0


def measure() -> dict[str, float]:
    """A minute of credentials as fast as they can come: each lives its minute, so all are alive together."""
    memory = ReplayMemory()
    before = _resident_bytes()
    pieces, slowest = [], 0.0
    refused = 0
    for start in range(0, MAX_LIVE, PIECE):
        ids = [new_id("jti") for _ in range(PIECE)]
        began = time.perf_counter()
        for number, jti in enumerate(ids, start):
            asking = time.perf_counter()
            refused += not memory.admits(jti, int(NOW) + 1 + TTL_SECONDS * number // MAX_LIVE, NOW)
            slowest = max(slowest, time.perf_counter() - asking)
        pieces.append((time.perf_counter() - began) / PIECE)
    del ids
    gc.collect()
    return {
        "live ids": len(memory),
        "refused before it was full": refused,
        "bytes each": (_resident_bytes() - before) / len(memory),
        "first microseconds": min(pieces[:4]) * 1e6,
        "last microseconds": min(pieces[-4:]) * 1e6,
        "slowest milliseconds": slowest * 1e3,
        **_at_the_end(memory),
    }


def _at_the_end(memory: ReplayMemory) -> dict[str, float]:
    """Full it admits nothing and forgets nothing; once all have expired, dropping them is spread over later calls."""
    full = memory.admits("one more", int(NOW) + TTL_SECONDS, NOW)
    repeated = 0
    later, slowest, calls = NOW + TTL_SECONDS + 1, 0.0, 0
    while len(memory) > calls:
        began = time.perf_counter()
        memory.admits(f"later {calls}", int(later) + TTL_SECONDS, later)
        slowest = max(slowest, time.perf_counter() - began)
        calls += 1
        repeated += memory.admits("later 0", int(later) + TTL_SECONDS, later)
    return {
        "admitted when full": float(full),
        "admitted twice": float(repeated),
        "calls until all are dropped": float(calls),
        "slowest dropping milliseconds": slowest * 1e3,
    }


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


if __name__ == "__main__":
    print(json.dumps(measure()))  # noqa: T201
