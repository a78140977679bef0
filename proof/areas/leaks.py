"""Area `leaks`: a canary in every channel, ten provocations, and a search of everything that is written or shown."""

from proof.area import Area, Figure, Findings, Run
from proof.leaks.canaries import Channel
from proof.leaks.planted import require_found
from proof.leaks.provocations import ALL
from proof.leaks.scene import Scene, opened_scene


async def run(run: Run) -> Findings:
    found = Findings()
    async with opened_scene(run, found) as scene:
        for turn in range(run.pick(1, 5)):
            for provocation, provoke in ALL.items():
                scene.made.agent._scripts.clear()
                await provoke(scene)
                run.say(f"{provocation} {turn + 1}")
        scene.collect()
        await _search(scene)
        await require_found(scene)
    return found


async def _search(scene: Scene) -> None:
    places = await scene.places.all(scene.told)
    scene.found.broken += [f"{what} in {place}" for what, place in sorted(scene.canaries.search(places))]
    channels = {channel for channel, _ in scene.canaries.given.values()}
    marked = {Channel.INPUT, Channel.RESULT, Channel.CHUNK, Channel.ERROR_TEXT, Channel.HEADER, Channel.ADDRESS}
    scene.found.require(channels | marked == set(Channel), f"no canary for {set(Channel) - channels - marked}")
    scene.found.figures += [
        Figure("places searched", len(places), at_least=40),
        Figure("bytes searched", sum(len(content) for _, content in places) / 1e6, "MB"),
        Figure("canaries the platform made itself", len(scene.canaries.given)),
    ]


AREA = Area(
    "leaks",
    "Leaks",
    (
        "Nothing confidential, of 13 kinds, stays or shows anywhere after ten kinds of provocation, in any of 20"
        " spellings: not in the units' logs at debug level, PostgreSQL's log with statements and parameters on, tables,"
        " data files, write-ahead log, metrics, telemetry, error bodies or the process list.",
        "The search is not blind: a leak planted in each kind of place is found.",
    ),
    run,
)
