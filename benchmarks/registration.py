"""What a registration of a 4 kB Agent Card and an exact read of it cost the Control Plane in CPU time."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from itertools import count

import uvloop

from aop.net.http import HttpClient, Target
from benchmarks._control_plane import BenchedControlPlane, control_plane
from benchmarks.measure import Figure, Report, Round, cpu_micros_of, interleaved

CALLERS = 8
CALLS = 400
ROUNDS = 7
LIMIT_REGISTER_MILLIS = 3.0
LIMIT_READ_MILLIS = 1.0
CARD_BYTES = 4096

_VOCABULARY = (
    "about account across after agent answer article before between book brief business call case check claim "
    "clear client close code collect compare contract correct customer daily deliver detail document draft each "
    "early email every exact field figure file final find first follow form found from general given group handle "
    "help history image import include into invoice item keep know language large later legal letter level line "
    "list long many market matter meaning meeting message method model month more name need never next note "
    "number often only open order other over page paper part people period place plain plan point policy price "
    "product project proof public question quick quote rather reader reason record reply report request research "
    "result review rule sales section send sense sentence several share short show side since small source stage "
    "start state still story study subject summary support table take team text than that their them there they "
    "thing think this through time title today topic total trade travel under until update useful value version "
    "visit watch week what when where which while will with word work world would write year your"
)
_SKILLS = ("summarize", "translate", "classify")


def run() -> Report:
    median, size = uvloop.run(_run())
    rows: list[Mapping[str, Figure]] = [{"call": name, "CPU ms": f"{millis:.3f}"} for name, millis in median.items()]
    return Report(
        "registration",
        f"CPU of the Control Plane per call, Card of {size} bytes, {CALLERS} callers",
        rows,
        {
            f"a registration costs at most {LIMIT_REGISTER_MILLIS:.0f} ms of CPU": median["register"]
            <= LIMIT_REGISTER_MILLIS,
            f"an exact read costs at most {LIMIT_READ_MILLIS:.0f} ms of CPU": median["exact read"] <= LIMIT_READ_MILLIS,
        },
    )


async def _run() -> tuple[dict[str, float], int]:
    async with control_plane("benchmark-service-token") as unit:
        caller = _Caller(unit)
        numbers = count()
        size = len(_card(unit.principal, 0))

        async def register() -> None:
            await caller.ask("POST", "/v1/agents", 201, _card(unit.principal, next(numbers)))

        async def read() -> None:
            body = await caller.ask("GET", "/v1/agents/benchmark:agent-7/versions/1.0.0", 200)
            assert len(body) >= CARD_BYTES - 256

        rounds = {"register": _round(unit.pid, register), "exact read": _round(unit.pid, read)}
        median = await interleaved(rounds, ROUNDS)
        await caller.close()
        return {name: micros / 1000 for name, micros in median.items()}, size


def _round(pid: int, once: Callable[[], Awaitable[None]]) -> Round:
    async def calls() -> None:
        for _ in range(CALLS // CALLERS):
            await once()

    async def work() -> None:
        await asyncio.gather(*(calls() for _ in range(CALLERS)))

    return lambda: cpu_micros_of(pid, work, CALLS)


class _Caller:
    def __init__(self, unit: BenchedControlPlane) -> None:
        self._client = HttpClient(idle_seconds=60, connect_seconds=5)
        self._target = Target("http", "127.0.0.1", unit.port, "127.0.0.1")
        self._headers = (
            (b"authorization", f"Bearer {unit.token}".encode()),
            (b"content-type", b"application/json"),
        )

    async def ask(self, method: str, path: str, status: int, body: bytes = b"") -> bytes:
        deadline = asyncio.get_running_loop().time() + 30
        answer = await self._client.request(
            self._target, method, path, headers=self._headers, body=body, deadline=deadline, max_body=1 << 20
        )
        assert answer.status == status, answer.body
        return answer.body

    async def close(self) -> None:
        await self._client.close()


def _card(owner: str, number: int) -> bytes:
    """A Card of three Skills, made up as those of real Agents are; no two hold the same prose or the same schemas."""
    card = {
        "schemaVersion": "0.2",
        "agentId": f"benchmark:agent-{number}",
        "name": f"Document desk {number}",
        "description": _prose(number, 300),
        "owner": {"id": owner, "displayName": "Benchmark Research"},
        "version": "1.0.0",
        "protocol": {
            "type": "a2a",
            "version": "0.3.0",
            "transport": "JSONRPC",
            "endpoint": f"https://agents.example.com/{number}",
        },
        "skills": [_skill(name, number) for name in _SKILLS],
        "authentication": {"type": "http_bearer"},
        "permissions": [{"id": "documents.read", "description": ""}],
        "limits": {"timeoutMs": 60000, "maxInputBytes": 1048576, "maxOutputBytes": 1048576, "streaming": True},
    }
    missing = CARD_BYTES - len(json.dumps(card, separators=(",", ":")))
    card["permissions"] = [{"id": "documents.read", "description": _prose(-number, missing)}]
    return json.dumps(card, separators=(",", ":")).encode()


def _prose(number: int, length: int) -> str:
    """Words in an order that no other Card has."""
    return " ".join(random.Random(number).choices(_VOCABULARY.split(), k=length))[: length - 1] + "."


def _skill(name: str, number: int) -> Mapping[str, object]:
    text = {"type": "string", "minLength": 1, "maxLength": 100000 + number}
    document = {"type": "object", "required": ["text"], "properties": {"title": {"type": "string"}, "text": text}}
    language = {"type": "string", "pattern": "^[a-z]{2}$"} if name == "translate" else {"type": "string"}
    return {
        "id": name,
        "name": name.title(),
        "description": _prose(number + len(name), 90),
        "inputSchema": {
            "type": "object",
            "description": _prose(number + 20, 60),
            "required": ["documents"],
            "additionalProperties": False,
            "properties": {
                "documents": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/document"}},
                "language": {"description": _prose(number + 30, 50), **language},
                "tone": {"description": _prose(number + 40, 50), "enum": ["plain", "formal", "warm"]},
            },
            "$defs": {"document": document},
        },
        "outputSchema": {
            "type": "object",
            "description": _prose(number + 50, 60),
            "required": ["result"],
            "properties": {"result": text, "confidence": {"type": "number", "minimum": 0, "maximum": 1}},
        },
        "requiredPermissions": ["documents.read"],
    }
