"""Leaks made on purpose, one in each kind of place: a search that misses one of them proves nothing."""

import asyncio
import sys
import urllib.request
from collections.abc import Sequence

import asyncpg
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from proof.leaks.scene import Scene
from tests.support.canaries import spellings

_WAITS = "import sys; sys.stdin.read()"


async def require_found(scene: Scene) -> None:
    """Plants, searches, and says which kinds of place the search is blind in."""
    secret = f"{scene.canaries.mark}.planted.leak."
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _WAITS, secret, stdin=asyncio.subprocess.PIPE)
    try:
        await _plant(scene, secret)
        found = scene.canaries.search(await scene.places.all(scene.told))
    finally:
        process.kill()
        await process.wait()
    for kind in _KINDS:
        scene.found.hits[f"planted in {kind}"] += any(place.startswith(kind) for _, place in found)


async def _plant(scene: Scene, secret: str) -> None:
    with scene.made.router.log.open("a") as log:
        log.write(f"{sorted(spellings(secret))[0]}\n")
    (scene.made.folder / "left-behind").write_text(secret)
    connection = await asyncpg.connect(scene.made.ledger.superuser)
    try:
        await connection.execute(f"CREATE TABLE gateway.planted AS SELECT '{secret}'::text AS secret")
        await connection.fetch("SELECT * FROM gateway.planted WHERE secret = $1", secret)
    finally:
        await connection.close()
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


_KINDS: Sequence[str] = (
    "log of router",
    "PostgreSQL's log",
    "table",
    "data file",
    "pg_wal",
    "telemetry",
    "process list",
    "file",
)
