"""Credentials, delegations, access tokens and Challenges at the edges of their windows, by clocks that disagree."""

import time
from dataclasses import replace
from typing import Any

from aop.control_plane.gateway.tokens import Tokens
from aop.store.database import connect
from proof.area import Figure, proves
from proof.clocks.stage import HOUR, Stage
from tests.support.agent import a_message, data
from tests.support.loop import agent_card
from tests.support.nested import running_parent
from tests.support.publication import Provider
from tests.support.units import Reply

STEPS = (0.5, 1, 4, 5, 6, 30, 55, 58, 59, 60, 61, 64, 65, 66, 301, HOUR)
EDGES = (-HOUR, -1e-6, 0.0, 1e-6, 1.0)
_DAY = 86_400.0


@proves(
    "However the clocks of Agent and Router disagree, exactly the credentials outside their window are"
    " refused, to the microsecond.",
    "A clock that went an hour ahead and came back leaves nothing refused that is in its window.",
)
async def credentials(stage: Stage) -> None:
    """Every difference between the two clocks, made by either of them, and both wrong alike."""
    for size in STEPS:
        for ahead in (size, -size):
            stage.agent.ahead = ahead
            await _present(stage, f"Agent {ahead:+g} s")
            stage.set(stage.made.router, -ahead)
            stage.agent.ahead = 0.0
            await _present(stage, f"Router {-ahead:+g} s")
            stage.agent.ahead = -ahead
            await _present(stage, f"both {-ahead:+g} s")
            stage.set_right()
            await _present(stage, "set right again")
    for edge in EDGES:
        stage.agent.after_issue, stage.agent.before_expiry = edge, None
        await _present(stage, f"{edge:g} s behind the issue")
        stage.agent.after_issue, stage.agent.before_expiry = None, edge
        await _present(stage, f"{edge:g} s before the expiry")
    stage.set_right()


async def _present(stage: Stage, what: str) -> None:
    count = len(stage.agent.judgements)
    stage.agent.forget()
    result = await stage.call()
    (judgement,) = stage.agent.judgements[count:]
    stage.found.hits["credential accepted" if judgement.accepted else "credential refused"] += 1
    stage.found.require(judgement.accepted == judgement.expected, f"{what}: {judgement}")
    expected = ("succeeded", None) if judgement.accepted else ("failed", "AGENT_UNAVAILABLE")
    stage.found.require(
        (result.outcome, result.code) == expected, f"{what}: the caller is told {result.outcome}/{result.code}"
    )


async def delegations(stage: Stage) -> None:
    """A child's Router judges the delegation by its own clock, and never records a child before its parent."""
    for ahead, status in ((-HOUR, 200), (0.0, 200), (30.0, 200), (HOUR, 401)):
        async with running_parent(stage.made.first) as parent:
            stage.set(stage.made.routers[1], ahead)
            if status == 200:
                stage.made.agent.script(a_message(data({"done": True})))
            reply = await replace(parent, router=stage.made.second.router).call(stage.made.first.card["agentId"])
            stage.found.require(reply.status == status, f"child at a Router {ahead:+g} s: {reply.status}")
            stage.found.hits[f"delegation answered {reply.status}"] += 1
        stage.set_right()


@proves("An access token is good until the very moment of its expiry, and a Challenge until its own.")
async def access_tokens(stage: Stage) -> None:
    """Asked without pause across the expiry: good until that very moment of the Control Plane's clock, never after."""
    connection = await connect(stage.made.stores.control_plane, application="test")
    try:
        issued = await Tokens(connection).issue("alice", days=1)
    finally:
        await connection.close()
    expires, token = issued.record.expires_at.timestamp(), issued.token.reveal()

    async def status() -> int:
        return (await stage.made.first.gateway.get("/v1/workspaces", token=token)).status

    ahead = expires - time.time() - 0.5
    stage.set(stage.made.control_plane, ahead)
    last_good, first_bad = 0.0, 0.0
    while not first_bad or time.time() + ahead < expires + 0.2:
        began = time.time() + ahead
        answered = await status()
        ended = time.time() + ahead
        stage.found.hits[f"token answered {answered}"] += 1
        if answered == 200:
            last_good = began
            stage.found.require(began < expires, f"a token was taken {began - expires:.6f} s after its expiry")
        else:
            first_bad = first_bad or ended
            stage.found.require(ended >= expires, f"a token was refused {expires - ended:.6f} s before its expiry")
    stage.found.figures.append(Figure("between the last good and the first refused use", first_bad - last_good, "s"))
    for moved, expected in ((-HOUR, 200), (_DAY, 401), (_DAY - HOUR, 200), (_DAY + HOUR, 401), (0.0, 200)):
        stage.set(stage.made.control_plane, moved)
        found = await status()
        stage.found.require(found == expected, f"token with the clock {moved:+g} s: {found}")
    stage.set_right()


@proves("The Ledger's order stays legal, and every step of a publication works, with clocks that go back.")
async def publication(stage: Stage) -> None:
    """Each step of a whole publication an hour before the one ahead of it, and a Challenge that runs out by a jump."""
    made, clock = stage.made, stage.made.control_plane
    alice = Provider(made.first.gateway, made.first.token, "alice", "provider-of-clocks")
    card = agent_card(made.agent, agent_id="acme:clocks")
    _good(stage, await alice.post("/v1/agents", card), 201, "register")
    stage.set(clock, -HOUR)
    binding = _good(stage, await alice.bind(made.agent.url, "acme:clocks"), 201, "bind")
    spent = await alice.challenge(binding)
    stage.set(clock, 0)
    reply = await alice.complete(spent)
    stage.found.require(reply.status == 409 and reply.code == "CHALLENGE_EXPIRED", f"a late Challenge: {reply.body!r}")
    stage.set(clock, -HOUR)
    challenge = await alice.challenge(binding)
    made.agent.serve(challenge["challengeId"], challenge["proof"])
    stage.set(clock, -2 * HOUR)
    proved = _good(stage, await alice.complete(challenge), 200, "complete")
    stage.set(clock, -3 * HOUR)
    release = _good(stage, await alice.request_release(proved), 201, "release")
    for number, verb in enumerate(("publish", "suspend", "revoke"), 4):
        stage.set(clock, -number * HOUR)
        _good(stage, await alice.act(verb, release), 200, verb)
    stage.set(clock, -8 * HOUR)
    _good(stage, await alice.post("/v1/agents/acme:clocks/versions/1.0.0/disable"), 200, "disable")
    await _installation(stage)
    stage.set_right()


async def _installation(stage: Stage) -> None:
    owner, moved = stage.made.first.owner, []
    await owner.workspace("clocks")
    installed = await owner.install(stage.made.first.card["agentId"], accepted=[], space="clocks")
    name = installed["installationId"]
    for number, status in enumerate(("disabled", "enabled"), 9):
        stage.set(stage.made.control_plane, -number * HOUR)
        moved.append(_good(stage, await owner.set_status(name, status, "clocks"), 200, status))
    stage.set(stage.made.control_plane, -12 * HOUR)
    moved.append(_good(stage, await owner.uninstall(name, "clocks"), 200, "uninstall"))
    times = [each["updatedAt"] for each in (installed, *moved)]
    stage.found.require(times == sorted(set(times)), f"updatedAt goes back with the clock: {times}")


def _good(stage: Stage, reply: Reply, status: int, what: str) -> Any:
    stage.found.hits["step of a publication with the clock going back"] += 1
    stage.found.require(reply.status == status, f"{what} with the clock set back: {reply.status} {reply.body!r}")
    return reply.json
