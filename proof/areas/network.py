"""Area `network`: every refused address with a listener on it, names that rebind, and machines that lose each other.

Each part runs in network namespaces of its own, as `python -m proof.areas.network SPEC`, and prints its findings.
"""

import asyncio
import json
import random
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import certifi

from aop.local.state import DatabaseUrls
from proof.area import Area, Figure, Findings, Run
from proof.fault_proxy import FaultProxy
from proof.network.machines import bind_over, loopback_up, own_every_address, wired
from proof.network.partitions import PARTITIONS, machines, partition, rough_weather
from proof.network.refused import Refusals, Way, addresses, cases
from proof.network.traps import name_server, set_traps
from proof.world import ALLOWED, Plan, world
from tests.ledger.writing import breaches
from tests.support.authority import Authority
from tests.support.processes import ProgramFailed, program

_PATIENCE = 900.0


async def run(run: Run) -> Findings:
    """Both parts in namespaces of their own, side by side; a machine that allows none says so as a figure."""
    found = Findings()
    prefix = await _namespace()
    if prefix is None:
        run.say("this machine allows no network namespace with a packet device: NOT RUN")
        found.hits["tried whether this machine allows a network namespace"] += 1
        found.figures.append(Figure("parts that were not run here", len(PARTS)))
        return found
    for one in await asyncio.gather(*(_inside(run, prefix, part) for part in PARTS)):
        found.hits.update(one["hits"])
        found.figures += [Figure(**figure) for figure in one["figures"]]
        found.broken += one["broken"]
    return found


async def _namespace() -> Sequence[str] | None:
    """The command that starts another in new networks and mounts, as root or as a user who may seem to be root."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return None
    trial = "from proof.network import machines; machines.loopback_up(); machines.packet_device('10.99.0.1')"
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
                printed = await program(*prefix, "-m", "proof.areas.network", str(path))
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


async def refused_addresses(spec: dict[str, Any], found: Findings) -> None:
    """One network in which every address is a listener's; the units' names, roots and allow-list are the test's."""
    folder = Path(spec["folder"])
    chance = random.Random(spec["seed"])
    tried = cases(chance, 3 if spec["full"] else 1, every_way=spec["full"])
    loopback_up()
    own_every_address()
    authority = Authority(folder)
    _own_files(folder, authority)
    stores = DatabaseUrls(*spec["stores"])
    allowed = json.dumps([case.name for case in tried if case.way is Way.ALLOWED])
    plan = Plan(control_plane={ALLOWED: allowed}, router={ALLOWED: allowed})
    async with name_server() as names, set_traps() as traps, world(stores, spec["superuser"], folder, plan) as made:
        every = addresses(random.Random(spec["seed"]), 1)
        reached = await traps.reachable(every)
        found.hits["refused addresses where a connection would be noticed"] += len(reached)
        refusals = Refusals(made, names, traps, found)
        await refusals.require_refused(tried)
        await refusals.require_one_judgement(authority)
        found.broken += await breaches(stores.router)


def _own_files(folder: Path, authority: Authority) -> None:
    resolving, switching = folder / "resolv.conf", folder / "nsswitch.conf"
    resolving.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    switching.write_text("hosts: dns\npasswd: files\ngroup: files\n")
    bind_over(resolving, Path("/etc/resolv.conf"))
    if Path("/etc/nsswitch.conf").exists():
        bind_over(switching, Path("/etc/nsswitch.conf"))
    bind_over(authority.roots, Path(certifi.where()))


async def lost_packets(spec: dict[str, Any], found: Findings) -> None:
    folder, stores = Path(spec["folder"]), DatabaseUrls(*spec["stores"])
    loopback_up()
    async with (
        wired(random.Random(spec["seed"]), Path(spec["exchange"])) as wire,
        machines(wire, Path(spec["exchange"]), stores, spec["superuser"], folder) as made,
    ):
        await rough_weather(made, 300 if spec["full"] else 32, found)
        for lost in PARTITIONS if spec["full"] else PARTITIONS[:3:2] + PARTITIONS[3:4]:
            await partition(made, lost, found)
        found.broken += await breaches(stores.router)


PARTS = {"addresses": refused_addresses, "packets": lost_packets}


def main(path: str) -> int:
    spec = json.loads(Path(path).read_text())
    found = Findings()
    asyncio.run(PARTS[spec["part"]](spec, found))
    sys.stdout.write(json.dumps({**vars(found), "figures": [asdict(each) for each in found.figures]}))
    return 0


AREA = Area(
    "network",
    "Network and names",
    run,
    (Refusals.require_refused, Refusals.require_one_judgement, partition, rough_weather),
    alone=True,
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
