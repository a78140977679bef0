"""`./dev prove [AREA…] [--quick | --full] [--seed N]`: faults, load and hostile input against the running platform."""

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import asyncpg

from tests.faults import report
from tests.faults.area import Area
from tests.faults.load.soak import HOURS, SOAK, TELLING_HOURS, soak
from tests.faults.proof import Proof, Proved, area_named, area_names, prove, summary
from tests.support.postgres import PostgresForTests, running_postgres

_KEPT = Path(__file__).resolve().parents[2] / ".dev" / "prove"


def main(arguments: Sequence[str] | None = None) -> int:
    known = area_names()
    chosen = _parser([*known, SOAK]).parse_args(arguments)
    if chosen.list:
        _say("\n".join(f"{name:16}  {_area(name).title}" for name in (*known, SOAK)))
        return 0
    seed = random.SystemRandom().randrange(2**31) if chosen.seed is None else chosen.seed
    folder = _KEPT / time.strftime("%Y%m%dT%H%M%S")
    _say(f"seed {seed}, {'full' if chosen.full else 'quick'}")
    proved: list[Proved] = []
    try:
        with tempfile.TemporaryDirectory() as place, running_postgres(Path(place)) as postgres:
            proof = Proof(chosen.full, seed, folder, postgres, _say)
            for name in chosen.areas or known:
                told = chosen.full or (name == SOAK and chosen.hours >= TELLING_HOURS)
                proved.append(_proved(_area(name, chosen.hours), proof, told=told))
    except KeyboardInterrupt:
        _say(f"interrupted, seed {seed}")
        return 130
    _say("\n" + "\n".join(summary(proved)))
    held = not any(one.findings.problems for one in proved)
    if held:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        _say(f"\nagain: ./dev prove {' '.join(_broken(proved))}{' --full' if chosen.full else ''} --seed {seed}")
    return 0 if held else 1


def _area(name: str, hours: float = HOURS) -> Area:
    return soak(hours) if name == SOAK else area_named(name)


def _proved(area: Area, proof: Proof, *, told: bool) -> Proved:
    """`told` renews its section of the report."""
    one = prove(area, proof)
    if told:
        report.keep(one, proof.seed, asyncio.run(_version(proof.postgres)))
    return one


def _broken(proved: Sequence[Proved]) -> list[str]:
    return [one.area.name for one in proved if one.findings.problems]


async def _version(postgres: PostgresForTests) -> str:
    connection = await asyncpg.connect(postgres.url("postgres"))
    try:
        return str(await connection.fetchval("SHOW server_version"))
    finally:
        await connection.close()


def _parser(names: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./dev prove", description="Proves what must hold under faults, load and hostile input."
    )

    def known(name: str) -> str:
        if name not in names:
            raise argparse.ArgumentTypeError(f"there is no area {name!r}")
        return name

    listed = f"of {', '.join(names)}; all but {SOAK} when left out"
    parser.add_argument("areas", nargs="*", metavar="AREA", type=known, help=listed)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="the short form of each area, as in ./dev test (default)")
    size.add_argument("--full", action="store_true", help="at full scale; writes docs/reliability/report.md")
    parser.add_argument("--seed", type=int, metavar="N", help="repeats a run; a random one otherwise, always printed")
    hours = f"how long {SOAK} runs, {HOURS:g} when left out; it is no part of --quick or --full"
    parser.add_argument("--hours", type=float, default=HOURS, metavar="H", help=hours)
    parser.add_argument("--list", action="store_true", help="show the areas and end")
    return parser


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201  the screen is where this command reports


if __name__ == "__main__":
    sys.exit(main())
