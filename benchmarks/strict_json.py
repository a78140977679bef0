"""What strictness costs: the strict parser beside the plain ones, on good bodies and on hostile ones."""

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from aop.base.json import JsonRefused, parse
from benchmarks.measure import Figure, Report, interleaved

ROUNDS = 9
BYTES_PER_ROUND = 4 << 20
LIMIT_RATIO = 1.5
LIMIT_HOSTILE_MILLIS = 1000.0

_MEGABYTE = 1 << 20
_GOOD = {
    "request, 1 kB": json.dumps(
        {
            "agentId": "com.example.summary",
            "capability": "summarize",
            "stream": False,
            "input": {
                "text": "A sentence: with a colon, and a comma. " * 22,
                "limits": [1, 2.5, 3],
                "style": {"tone": "dry"},
            },
        }
    ).encode(),
    "Card, 12 kB": json.dumps(
        {
            "skills": [
                {
                    "id": f"skill-{number}",
                    "description": "Does one thing and says so.",
                    "inputSchema": {
                        "type": "object",
                        "properties": {"text": {"type": "string", "maxLength": 4000}, "score": {"minimum": 0.5}},
                        "required": ["text"],
                    },
                    "requiredPermissions": ["read", "write"],
                }
                for number in range(48)
            ]
        }
    ).encode(),
    "numbers, 256 kB": json.dumps([number * 1.5 for number in range(36_000)]).encode(),
}
_HOSTILE = {
    "1 MiB of [": b"[" * _MEGABYTE,
    "1 MiB, one number": b"9" * _MEGABYTE,
    "1 MiB, late repeated member": b"[" + b"{}," * (_MEGABYTE // 3) + b'{"a":1,"a":1}]',
    "1 MiB, overflowing numbers": b"[" + b"1e400," * (_MEGABYTE // 6) + b"1]",
    "1 MiB of backslashes": b'"' + b"\\" * _MEGABYTE,
}


def run() -> Report:
    rows: list[Mapping[str, Figure]] = []
    ratios: list[float] = []
    for name, body in _GOOD.items():
        median = asyncio.run(interleaved(_rounds(body), ROUNDS))
        ratios.append(median["strict"] / median["json.loads"])
        rows.append({"body": name, **median, "strict / json.loads": f"{ratios[-1]:.2f}"})
    worst = 0.0
    for name, body in _HOSTILE.items():
        micros = min(_once(body) for _ in range(3))
        worst = max(worst, micros / 1000)
        rows.append({"body": name, "strict": micros, "json.loads": "-", "msgspec": "-", "strict / json.loads": "-"})
    return Report(
        "strict_json",
        "µs CPU per body",
        rows,
        {
            f"strict reading costs at most {LIMIT_RATIO} times a plain json.loads": max(ratios) <= LIMIT_RATIO,
            f"a hostile megabyte is judged within {LIMIT_HOSTILE_MILLIS:.0f} ms": worst <= LIMIT_HOSTILE_MILLIS,
        },
    )


def _rounds(body: bytes) -> dict[str, Callable[[], Awaitable[float]]]:
    count = max(1, BYTES_PER_ROUND // len(body) // 4)

    def measured(read: Callable[[bytes], object]) -> Callable[[], Awaitable[float]]:
        async def measure() -> float:
            before = time.process_time_ns()
            for _ in range(count):
                read(body)
            return (time.process_time_ns() - before) / 1000 / count

        return measure

    return {"strict": measured(parse), "json.loads": measured(json.loads), "msgspec": measured(msgspec.json.decode)}


def _once(body: bytes) -> float:
    before = time.process_time_ns()
    with contextlib.suppress(JsonRefused):
        parse(body)
    return (time.process_time_ns() - before) / 1000
