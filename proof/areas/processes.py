"""Area `processes`: our own units killed, frozen, stopped and started wrongly, at every stage and under load."""

from proof.area import Area, Figure, Findings, Run
from proof.processes.kills import control_planes_end, kill_at_points, kill_at_random, stop_router, zombie
from proof.processes.stage import OPEN_ROWS, READY_SECONDS, Stage, many_open_rows, staged, wrong_settings


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
    found.figures.append(Figure("calls that callers made", len(stage.results)))
    return found


AREA = Area(
    "processes", "Our processes", run, (kill_at_points, Stage.require_sound, zombie, many_open_rows, wrong_settings)
)
