"""Area `processes`: our own units killed, frozen, stopped and started wrongly, at every stage and under load."""

from proof.area import Area, Figure, Findings, Run
from proof.processes.kills import kill_at_points, kill_at_random
from proof.processes.outlived import control_planes_end, stop_router, zombie
from proof.processes.returns import OPEN_ROWS, many_open_rows, wrong_settings
from proof.processes.stage import READY_SECONDS, staged


async def run(run: Run) -> Findings:
    found = Findings()
    async with staged(run, found) as stage:
        await kill_at_points(stage, run.pick(1, 10), None if run.full else 4)
        await kill_at_random(stage, run.pick(1, 60))
        await zombie(stage, run.pick(1, 10))
        await control_planes_end(stage, run.pick(1, 5))
        await stop_router(stage)
        await wrong_settings(stage, None if run.full else 2)
        for size in OPEN_ROWS if run.full else OPEN_ROWS[2:3]:
            await many_open_rows(stage, size)
        longest = max(stage.restarts)
    found.figures.append(Figure("longest return of a killed Router", longest, "s", at_most=READY_SECONDS))
    found.figures.append(Figure("calls that callers made", len(stage.told)))
    return found


AREA = Area(
    "processes",
    "Our processes",
    (
        "However and whenever a unit dies, every accepted invocation has exactly one terminal once its Router is back.",
        "No terminal is made up: what callers were told is what the Ledger holds.",
        "A frozen Router that wakes up behind its successor adds nothing and ends by itself.",
        "A Router that died with 2,500 invocations running is ready again within 5 s, and all of them have ended.",
        "A unit started with a wrong key or setting ends and names the setting, or accepts nothing until it is mended.",
    ),
    run,
)
