"""Area `leaks`: a canary in every channel, eleven provocations, and a search of everything that is written or shown."""

import asyncio
import sys
import urllib.request

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from proof.area import Area, Figure, Findings, Run, proves
from proof.leaks.places import Channel
from proof.leaks.provocations import ALL
from proof.leaks.scene import Scene, opened_scene
from tests.support.canaries import spellings
from tests.support.postgres import session

_WAITS = "import sys; sys.stdin.read()"
_KINDS = ("log of router", "PostgreSQL's log", "table", "data file", "pg_wal", "telemetry", "process list", "file")
"""Of places, in each of which a leak is planted."""


async def run(run: Run) -> Findings:
    found = Findings()
    async with opened_scene(run, found) as scene:
        for turn in range(run.pick(1, 5)):
            for provoke in ALL:
                scene.provocation = provoke.__name__.replace("_", "-")
                scene.made.agent._scripts.clear()
                await provoke(scene)
                run.say(f"{scene.provocation} {turn + 1}")
        scene.collect()
        await _search(scene)
        await require_found(scene)
    return found


@proves(
    "Nothing confidential, of 14 kinds, stays or shows anywhere after eleven kinds of provocation, in any of 20"
    " spellings: not in the units' logs at debug level, PostgreSQL's log with statements and parameters on,"
    " tables, data files, write-ahead log, metrics, telemetry, error bodies or the process list."
)
async def _search(scene: Scene) -> None:
    places = await scene.places.all(scene.results)
    scene.found.broken += [f"{what} in {place}" for what, place in sorted(scene.canaries.search(places))]
    channels = {channel for channel, _ in scene.canaries.values.values()}
    marked = {Channel.INPUT, Channel.RESULT, Channel.CHUNK, Channel.ERROR_TEXT, Channel.HEADER, Channel.ADDRESS}
    scene.found.require(channels | marked == set(Channel), f"no canary for {set(Channel) - channels - marked}")
    scene.found.figures += [
        Figure("places searched", len(places), at_least=40),
        Figure("bytes searched", sum(len(content) for _, content in places) / 1e6, "MB"),
        Figure("canaries the platform made itself", len(scene.canaries.values)),
    ]


@proves("The search is not blind: a leak planted in each kind of place is found.")
async def require_found(scene: Scene) -> None:
    """Plants, searches, and says which kinds of place the search is blind in."""
    secret = f"{scene.canaries.mark}.planted.leak."
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _WAITS, secret, stdin=asyncio.subprocess.PIPE)
    try:
        await _plant(scene, secret)
        found = scene.canaries.search(await scene.places.all(scene.results))
    finally:
        process.kill()
        await process.wait()
    for kind in _KINDS:
        scene.found.hits[f"planted in {kind}"] += any(place.startswith(kind) for _, place in found)


async def _plant(scene: Scene, secret: str) -> None:
    with scene.made.router.log.open("a") as log:
        log.write(f"{sorted(spellings(secret))[0]}\n")
    (scene.made.folder / "left-behind").write_text(secret)
    async with session(scene.made.ledger.superuser) as connection:
        await connection.execute(f"CREATE TABLE gateway.planted AS SELECT '{secret}'::text AS secret")
        await connection.fetch("SELECT * FROM gateway.planted WHERE secret = $1", secret)
    await asyncio.to_thread(_export, scene, secret)


def _export(scene: Scene, secret: str) -> None:
    """As a unit sends a span."""
    request = ExportTraceServiceRequest()
    sent = request.resource_spans.add()
    sent.resource.attributes.add(key="service.name").value.string_value = "planted"
    sent.scope_spans.add().spans.add(name=secret)
    target = f"http://127.0.0.1:{scene.places.collector.port}/v1/traces"
    with urllib.request.urlopen(urllib.request.Request(target, request.SerializeToString()), timeout=5) as answer:
        answer.read()


AREA = Area("leaks", "Leaks", run, (_search, require_found))
