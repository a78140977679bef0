"""Area `network`: every refused address with a listener on it, names that rebind, and machines that lose each other."""

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from proof.area import Area, Figure, Findings, ProgramFailed, Run, program
from proof.fault_proxy import FaultProxy
from proof.network.partitions import partition, rough_weather
from proof.network.refused import require_one_judgement, require_refused

_PARTS = ("addresses", "packets")
_PATIENCE = 900.0


async def run(run: Run) -> Findings:
    """Both parts in namespaces of their own, side by side; a machine that allows none says so as a figure."""
    found = Findings()
    prefix = await _namespace()
    if prefix is None:
        run.say("this machine allows no network namespace with a packet device: NOT RUN")
        found.hits["tried whether this machine allows a network namespace"] += 1
        found.figures.append(Figure("parts that were not run here", len(_PARTS)))
        return found
    for one in await asyncio.gather(*(_inside(run, prefix, part) for part in _PARTS)):
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
        with suppress(ProgramFailed):
            await program(*prefix, "-c", trial)
            return prefix
    return None


async def _inside(run: Run, prefix: Sequence[str], part: str) -> dict[str, Any]:
    folder = run.folder / part
    folder.mkdir()
    # A short path: an address of a socket holds a hundred characters.
    with tempfile.TemporaryDirectory(prefix="aop") as place:
        async with run.stores() as (stores, superuser), _store_socket(superuser, Path(place)) as through:
            urls = [through(url) for url in (stores.control_plane, stores.router, stores.migration)]
            spec = {"part": part, "full": run.full, "seed": run.seed, "folder": str(folder), "stores": urls}
            spec |= {"superuser": through(superuser), "exchange": f"{place}/exchange"}
            path = Path(place) / "spec.json"
            path.write_text(json.dumps(spec))
            async with asyncio.timeout(_PATIENCE):
                printed = await program(*prefix, "-m", "proof.network.inside", str(path))
    found: dict[str, Any] = json.loads(printed)
    return found


@asynccontextmanager
async def _store_socket(url: str, place: Path) -> AsyncIterator[Callable[[str], str]]:
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


AREA = Area(
    "network", "Network and names", run, (require_refused, require_one_judgement, partition, rough_weather), alone=True
)
