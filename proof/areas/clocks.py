"""Area `clocks`: the clocks of Agent, Routers and Control Planes jumped by an hour and by steps around each window."""

from proof.area import Area, Figure, Findings, Run
from proof.clocks.running import deadlines, restart_into_the_past, storm, streams, unaffected
from proof.clocks.stage import staged
from proof.clocks.windows import access_tokens, credentials, delegations, publication
from proof.gathering import Seen, problems_of


async def run(run: Run) -> Findings:
    found = Findings()
    async with staged(run, found) as stage:
        for _ in range(run.pick(1, 10)):
            await credentials(stage)
            await delegations(stage)
        run.say("windows done")
        await access_tokens(stage)
        await publication(stage)
        await deadlines(stage)
        await streams(stage, run.pick(2, 40))
        await unaffected(stage)
        await storm(stage, run.pick(2, 120))
        await restart_into_the_past(stage)
        found.broken += await problems_of(stage.made, Seen(stage.results, router_lost=True))
    found.figures.append(Figure("credentials judged", len(stage.agent.judgements)))
    return found


AREA = Area("clocks", "Clocks", run, (credentials, unaffected, access_tokens, publication))
