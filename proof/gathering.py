"""Puts together what was seen of a world, so that the checker can judge it."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proof.checker import violations
from proof.gauges import descriptors as descriptors_of
from proof.record import TERMINAL_EVENTS, AgentCall, CallResult, History, OutageAnswer, Recorded, Resources
from proof.world import World
from tests.ledger.writing import breaches
from tests.support.agent import ScriptedAgent, credential_of, invocation_of, method_of
from tests.support.canaries import INPUT_CANARY, OUTPUT_CANARY
from tests.support.metrics import numbers
from tests.support.replicas import Replica
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE
from tests.support.waiting import becomes_true

_QUIET_SECONDS = 10.0
_DUMPS = ("invocation", "event", "cancel_request", "checkpoint", "epoch", "epoch_closed")


@dataclass(frozen=True)
class Seen:
    """What only the run itself knows."""

    callers: Sequence[CallResult] = ()
    outage: Sequence[OutageAnswer] = ()
    before: Mapping[str, int] | None = None
    """Descriptors of each unit before the work, as `descriptors` gives them."""
    gateway_killed: Sequence[float] = ()
    router_lost: bool = False
    counts: bool = False
    """No Router began anew, so that their metrics count everything."""
    details: int = 3


async def problems_of(made: World, seen: Seen = Seen()) -> list[str]:  # noqa: B008
    """Every invariant that is broken, once all that was accepted has had its time to end."""
    await settled(made)
    return violations(await history_of(made, seen))


async def settled(made: World, seconds: float = 15.0) -> None:
    """Waits for the last terminal; what is still missing then, the checker reports."""

    async def ended() -> bool:
        return all(row.terminals for row in await made.ledger.recorded())

    with suppress(TimeoutError):
        await becomes_true(ended, seconds)


async def history_of(made: World, seen: Seen) -> History:
    ledger = await made.ledger.recorded()
    return History(
        callers=seen.callers,
        agents=agent_calls(made.agent),
        ledger=ledger,
        details=await _details(made, ledger, seen.details),
        breaches=await breaches(made.stores.router),
        log=_gateway_records(made),
        texts=await _texts(made, seen.callers),
        canaries=_canaries(made),
        counted=await _counted(made) if seen.counts else None,
        resources=await _resources(made, seen.before) if seen.before is not None else (),
        outage=seen.outage,
        gateway_killed=seen.gateway_killed,
        router_lost=seen.router_lost,
    )


def agent_calls(agent: ScriptedAgent) -> list[AgentCall]:
    ahead = time.time() - asyncio.get_running_loop().time()
    return [
        AgentCall(
            request.at + ahead, method_of(request), invocation_of(request), str(credential_of(request).claims["jti"])
        )
        for request in agent.received
    ]


def descriptors(made: World) -> dict[str, int]:
    return {unit.log.stem: descriptors_of(unit.pid) for unit in _living(made)}


def _living(made: World) -> list[Replica]:
    """Those that answer: neither ended nor stopped."""
    return [unit for unit in made.units if unit.process is not None and _state(unit) not in {"", "T", "Z"}]


def _state(unit: Replica) -> str:
    try:
        return Path(f"/proc/{unit.pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


async def _details(made: World, ledger: Sequence[Recorded], number: int) -> list[Any]:
    """The newest ones, one of each outcome first."""
    newest = {row.terminals[0].type: row for row in ledger if row.terminals}
    chosen = {row.invocation_id for row in (*newest.values(), *ledger[-number:])} if number else set()
    replies = [await made.read(f"/invocations/{invocation_id}") for invocation_id in sorted(chosen)]
    return [reply.json for reply in replies if reply.status == 200]


def _gateway_records(made: World) -> list[Any]:
    lines = [line for unit in made.control_planes for line in unit.said.splitlines() if line.startswith("{")]
    records = [json.loads(line) for line in lines]
    return [record for record in records if str(record.get("route", "")).endswith("/invocations")]


async def _texts(made: World, callers: Sequence[CallResult]) -> dict[str, str]:
    texts = {f"the log {unit.log.stem}": unit.said for unit in made.units}
    for table in _DUMPS:
        rows = await made.ledger.rows(f"SELECT {table}::text AS content FROM ledger.{table}")
        texts[f"ledger.{table}"] = "\n".join(row["content"] for row in rows)
    for unit in _living(made):
        texts[f"the metrics of {unit.log.stem}"] = (await unit.unit.get("/metrics")).body.decode()
    texts["error bodies"] = "\n".join(result.body.decode() for result in callers if (result.status or 0) >= 400)
    return texts


def _canaries(made: World) -> dict[str, str]:
    return {
        "access token": made.first.token,
        "Gateway's service token": CONTROL_PLANE_TO_ROUTER,
        "Router's service token": ROUTER_TO_CONTROL_PLANE,
        "input": INPUT_CANARY,
        "output": OUTPUT_CANARY,
    }


async def _counted(made: World) -> dict[str, float]:
    total: Counter[str] = Counter()
    for unit in made.routers:
        for labels, value in (await numbers(unit.unit, "aop_invocations_total")).items():
            total.update({label: int(value) for label in labels if label in TERMINAL_EVENTS.values()})
    return dict(total)


async def _resources(made: World, before: Mapping[str, int]) -> list[Resources]:
    """After at most ten seconds of quiet."""

    async def back() -> bool:
        return all(descriptors_of(unit.pid) <= before.get(unit.log.stem, 0) + 2 for unit in made.routers)

    with suppress(TimeoutError):
        await becomes_true(back, _QUIET_SECONDS)
    found = []
    for unit in _living(made):
        running = await numbers(unit.unit, "aop_invocations_in_flight")
        name, held = unit.log.stem, descriptors_of(unit.pid)
        found.append(Resources(name, before.get(name, 0), held, sum(running.values())))
    return found
