"""Area `network`: every refused address with a listener on it, names that rebind, and machines that lose each other."""

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from proof.area import Area, Figure, Findings, Run
from proof.fault_proxy import FaultProxy

_PARTS = ("addresses", "packets")
_PATIENCE = 900.0


class PartBrokeOff(Exception):
    """The program inside the namespaces did not come to its end; what it said is the text."""


async def run(run: Run) -> Findings:
    """Both parts in namespaces of their own, side by side; a machine that allows none says so as a figure."""
    found = Findings()
    prefix = await _namespace()
    if prefix is None:
        run.say("this machine allows no network namespace with a packet device: NOT RUN")
        found.hits["asked whether this machine allows a network namespace"] += 1
        found.figures.append(Figure("parts that were not run here", len(_PARTS)))
        return found
    told = await asyncio.gather(*(_inside(run, prefix, part) for part in _PARTS))
    for one in told:
        found.hits.update(one["hits"])
        found.figures += [Figure(**figure) for figure in one["figures"]]
        found.broken += one["broken"]
    return found


async def _namespace() -> Sequence[str] | None:
    """The command that starts another in new networks and mounts, as root or as a user who may seem to be root."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return None
    trial = "from proof.network import kernel; kernel.loopback_up(); kernel.packet_device('10.99.0.1')"
    for more in ((), ("--user", "--map-root-user")):
        prefix = (unshare, *more, "--net", "--mount", "--", sys.executable)
        process = await asyncio.create_subprocess_exec(
            *prefix, "-c", trial, stderr=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL
        )
        if await process.wait() == 0:
            return prefix
    return None


async def _inside(run: Run, prefix: Sequence[str], part: str) -> dict[str, Any]:
    folder = run.folder / part
    folder.mkdir()
    stores = await run.postgres.new_platform()
    database = stores.migration.rpartition("/")[2]
    # A short path: an address of a socket holds a hundred characters.
    with tempfile.TemporaryDirectory(prefix="aop") as place:
        async with _passage(run.postgres.url(database), Path(place)) as through:
            urls = [through(url) for url in (stores.control_plane, stores.router, stores.migration)]
            spec = {"part": part, "full": run.full, "seed": run.seed, "folder": str(folder), "stores": urls}
            spec |= {"superuser": through(run.postgres.url(database)), "exchange": f"{place}/exchange"}
            path = Path(place) / "spec.json"
            path.write_text(json.dumps(spec))
            told = await _started(prefix, path, folder)
    await run.postgres.drop(database)
    return told


@asynccontextmanager
async def _passage(url: str, place: Path) -> AsyncIterator[Callable[[str], str]]:
    """From any network to the database: a socket of the file system, which belongs to no network."""
    target = urlsplit(url).port
    assert target is not None
    proxy = FaultProxy("127.0.0.1", target)
    server = await asyncio.start_unix_server(proxy.meet, place / ".s.PGSQL.5432")

    def through(url: str) -> str:
        parts = urlsplit(url)
        return f"postgresql://{parts.username}:{parts.password}@{parts.path}?host={place}&port=5432"

    try:
        yield through
    finally:
        server.close()
        proxy.close()


async def _started(prefix: Sequence[str], spec: Path, folder: Path) -> dict[str, Any]:
    with (folder / "inside.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(*prefix, "-m", "proof.network.inside", str(spec)), stdout=asyncio.subprocess.PIPE, stderr=log
        )
        try:
            async with asyncio.timeout(_PATIENCE):
                told, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    if process.returncode:
        raise PartBrokeOff((folder / "inside.log").read_text(errors="replace")[-2000:])
    found: dict[str, Any] = json.loads(told)
    return found


AREA = Area(
    "network",
    "Network and names",
    (
        "With a listener on every address, no name, literal, mixed answer or allowed name leads the proof fetch or a"
        " call to a refused one.",
        "A name that is public when it is judged and private when it is asked again is looked up once for each piece of"
        " work, and every connection of it goes to the judged address.",
        "Machines that lose each other in one or both directions get typed failures in time, and work again once they"
        " are back.",
        "Lost, late and reordered packets change nothing but the time a call takes.",
    ),
    run,
    alone=True,
)
