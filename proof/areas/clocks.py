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
        found.broken += await problems_of(stage.made, Seen(stage.told, router_lost=True))
    found.figures.append(Figure("credentials judged", len(stage.agent.verdicts)))
    return found


AREA = Area(
    "clocks",
    "Clocks",
    (
        "However the clocks of Agent and Router disagree, exactly the credentials outside their window are refused,"
        " to the microsecond.",
        "A clock that went an hour ahead and came back leaves nothing refused that is in its window.",
        "Deadlines, streams, readiness and the topology watch go by time that passed.",
        "An access token is good until the very moment of its expiry, and a Challenge until its own.",
        "The Ledger's order stays legal, and every step of a publication works, with clocks that go back.",
    ),
    run,
)
