"""What runs inside the namespaces: `python -m proof.network.inside SPEC`; prints its findings as JSON."""

import asyncio
import json
import random
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import certifi

from aop.local.state import DatabaseUrls
from proof.area import Figure, Findings
from proof.network import kernel
from proof.network.partitions import PARTITIONS, machines, partition, rough_weather
from proof.network.refused import Way, addresses, cases, require_one_judgement, require_refused
from proof.network.traps import name_server, set_traps
from proof.network.wire import wired
from proof.plan import Plan
from proof.world import ALLOWED, world
from tests.ledger.writing import breaches
from tests.support.authority import Authority


async def refused_addresses(spec: dict[str, Any], found: Findings) -> None:
    """One network in which every address is a listener's; the units' names, roots and allow-list are the test's."""
    folder = Path(spec["folder"])
    chance = random.Random(spec["seed"])
    tried = cases(chance, 3 if spec["full"] else 1, every_way=spec["full"])
    kernel.loopback_up()
    kernel.own_every_address()
    authority = Authority(folder)
    _own_files(folder, authority)
    stores = DatabaseUrls(*spec["stores"])
    allowed = json.dumps([case.name for case in tried if case.way is Way.ALLOWED])
    plan = Plan(control_plane={ALLOWED: allowed}, router={ALLOWED: allowed})
    async with name_server() as names, set_traps() as traps, world(stores, spec["superuser"], folder, plan) as made:
        every = addresses(random.Random(spec["seed"]), 1)
        reached = await traps.reachable(every)
        found.hits["refused addresses where a connection would be noticed"] += len(reached)
        found.figures.append(Figure("refused addresses that no plain connection reaches", len(set(every) - reached)))
        await require_refused(made, names, traps, tried, found)
        await require_one_judgement(made, names, traps, authority, found)
        found.broken += await breaches(stores.router)


def _own_files(folder: Path, authority: Authority) -> None:
    resolving, switching = folder / "resolv.conf", folder / "nsswitch.conf"
    resolving.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    switching.write_text("hosts: dns\npasswd: files\ngroup: files\n")
    kernel.bind_over(resolving, Path("/etc/resolv.conf"))
    if Path("/etc/nsswitch.conf").exists():
        kernel.bind_over(switching, Path("/etc/nsswitch.conf"))
    kernel.bind_over(authority.roots, Path(certifi.where()))


async def lost_packets(spec: dict[str, Any], found: Findings) -> None:
    folder, stores = Path(spec["folder"]), DatabaseUrls(*spec["stores"])
    kernel.loopback_up()
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
