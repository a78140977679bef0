"""Units that come back: with much left open behind them, or with settings and keys that are wrong."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from aop.ledger.epochs import MAX_CLOSED_AT_ONCE
from proof.area import Figure
from proof.processes.stage import READY_SECONDS, Stage
from tests.ledger.writing import an_acceptance, writing
from tests.support.replicas import Replica
from tests.support.settings import principals
from tests.support.waiting import becomes_true

OPEN_ROWS = (MAX_CLOSED_AT_ONCE - 1, MAX_CLOSED_AT_ONCE, MAX_CLOSED_AT_ONCE + 1, 5 * MAX_CLOSED_AT_ONCE // 2)
"""Around the number of Invocations that are closed at once, and well beyond it."""


@dataclass(frozen=True)
class Mistake:
    """`ends` when the unit must refuse to start, and name the setting; else it starts and nothing is accepted."""

    unit: str
    setting: str
    value: str
    ends: bool


_TOKEN = "a-token-nobody-knows"  # it is wrong on purpose
MISTAKES: Mapping[str, Mistake] = {
    "Router: a signing key that is none": Mistake(
        "router", "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL", "c2hvcnQ", True
    ),
    "Router: a blank id": Mistake("router", "PLATFORM_ROUTER_ID", " ", True),
    "Router: a password that is wrong": Mistake("router", "PLATFORM_ROUTER_DATABASE_URL", "wrong password", True),
    "Router: another token for the Control Plane": Mistake(
        "router", "PLATFORM_CONTROL_PLANE_SERVICE_TOKEN", _TOKEN, False
    ),
    "Router: another token for its callers": Mistake(
        "router", "PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON", principals("control-plane", _TOKEN), False
    ),
    "Control Plane: another token for the Router": Mistake(
        "control-plane", "PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN", _TOKEN, False
    ),
    "Control Plane: a password that is wrong": Mistake(
        "control-plane", "PLATFORM_DATABASE_URL", "wrong password", True
    ),
    "Control Plane: a destination that is no origin": Mistake(
        "control-plane", "PLATFORM_ROUTER_INTERNAL_ORIGIN", "http://127.0.0.1:1/path", True
    ),
}


async def many_open_rows(stage: Stage, size: int) -> None:
    """A Router that died with so many invocations running is ready again in time, and all of them have ended."""
    stage.run.say(f"a return with {size} invocations open")
    await stage.made.router.kill()
    async with writing(stage.made.stores.router, router_id="router-1") as written:
        await asyncio.gather(*(written.journal.accept(an_acceptance()) for _ in range(size)))
    still_open = [row for row in await stage.made.ledger.recorded() if not row.terminals]
    stage.found.hits["invocations left open by a Router that died"] += len(still_open)
    seconds = await stage.made.router.restart()
    stage.found.figures.append(Figure(f"ready again with {size} open rows", seconds, "s", at_most=READY_SECONDS))
    await stage.require_sound("a return with many open rows")


async def wrong_settings(stage: Stage, most: int | None) -> None:
    """Never a start that half works: an exit that names the setting, or nothing accepted until it is mended."""
    names = list(MISTAKES) if most is None else stage.run.random.sample(list(MISTAKES), most)
    for name in names:
        stage.run.say(f"started wrongly: {name}")
        await _mistaken(stage, name, MISTAKES[name])
    await stage.require_sound("units that were started wrongly")


async def _mistaken(stage: Stage, name: str, mistake: Mistake) -> None:
    unit = stage.made.router if mistake.unit == "router" else stage.made.control_plane
    await unit.kill()
    right, said = unit.settings[mistake.setting], len(unit.said)
    wrong = right.replace("test-password", "not-the-password") if mistake.value == "wrong password" else mistake.value
    unit.settings[mistake.setting] = wrong
    try:
        await (_ends if mistake.ends else _accepts_nothing)(stage, unit, name)
    finally:
        unit.settings[mistake.setting] = right
        await unit.kill()
        await unit.restart()
        await stage.made.router.ready()
    told = unit.said[said:]
    if mistake.ends:
        stage.found.require(mistake.setting in told, f"{name}: {mistake.setting} was not named")
    stage.found.require(not wrong.strip() or wrong not in told, f"{name}: the value was said")
    stage.found.hits[f"started wrongly: {name}"] += 1


async def _ends(stage: Stage, unit: Replica, name: str) -> None:
    await unit.start()
    try:
        stage.found.require(await unit.ended(10) not in {0, -9}, f"{name}: ended as if it had worked")
    except TimeoutError:
        stage.found.broken.append(f"{name}: it runs")


async def _accepts_nothing(stage: Stage, unit: Replica, name: str) -> None:
    async def listens() -> bool:
        with suppress(Exception):
            return (await unit.unit.get("/livez")).status == 200
        return False

    recorded = len(await stage.made.ledger.recorded())
    await unit.start()
    await becomes_true(listens, 15)
    told = await stage.call("answers")
    stage.found.require((told.status, told.code) == (503, "DEPENDENCY_ERROR"), f"{name}: {told.status} {told.code}")
    stage.found.require(told.invocation_id is None, f"{name}: an id before acceptance")
    stage.found.require(len(await stage.made.ledger.recorded()) == recorded, f"{name}: something was recorded")
