"""`./dev prove [AREA…] [--quick | --full] [--seed N]`: faults, load and hostile input against the running platform."""

import argparse
import random
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from proof import report
from proof.area import HOURS
from proof.areas.soak import JUDGED_HOURS
from proof.runner import SOAK, Order, Proved, area_named, area_names, prove_all, summary
from tools.process_tree import ending_all

_KEPT = Path(__file__).resolve().parents[1] / ".dev" / "prove"


def main(arguments: Sequence[str] | None = None) -> int:
    names = area_names()
    chosen = _parser([*names, SOAK]).parse_args(arguments)
    if chosen.list:
        _say("\n".join(f"{name:16}  {area_named(name).title}" for name in (*names, SOAK)))
        return 0
    if chosen.ring:
        _say("--ring stands alone")
        return 2
    if chosen.index:
        report.INDEX.write_text(report.index(), "utf-8")
        return 0
    seed = random.SystemRandom().randrange(2**31) if chosen.seed is None else chosen.seed
    folder = _KEPT / time.strftime("%Y%m%dT%H%M%S")
    started = time.monotonic()
    _say(f"seed {seed}, {'full' if chosen.full else 'quick'}")
    proved: list[Proved] = []
    try:
        listed = list(dict.fromkeys(chosen.areas or names))
        with ending_all():
            for one in prove_all(listed, Order(chosen.full, seed, folder, chosen.hours)):
                proved.append(one)
                if chosen.full or (one.area.name == SOAK and chosen.hours >= JUDGED_HOURS):
                    report.keep(one, seed)
    except KeyboardInterrupt:
        _say(f"interrupted, seed {seed}")
        return 130
    _say("\n" + "\n".join(summary(proved)) + f"\n\n{(time.monotonic() - started) / 60:.1f} minutes")
    broken = [one.area.name for one in proved if one.findings.problems]
    if broken:
        _say(f"\nagain: ./dev prove {' '.join(broken)}{' --full' if chosen.full else ''} --seed {seed}")
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def _parser(names: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./dev prove", description="Proves what must hold under faults, load and hostile input."
    )

    def area_name(name: str) -> str:
        if name not in names:
            raise argparse.ArgumentTypeError(f"there is no area {name!r}")
        return name

    listed = f"of {', '.join(names)}; all but {SOAK} when left out"
    parser.add_argument("areas", nargs="*", metavar="AREA", type=area_name, help=listed)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="the short form of each area, as in ./dev test (default)")
    size.add_argument("--full", action="store_true", help="at full scale; writes docs/reliability/report.md")
    parser.add_argument("--seed", type=int, metavar="N", help="repeats a run; a random one otherwise, always printed")
    hours = f"how long {SOAK} runs, {HOURS:g} when left out; it is no part of --quick or --full"
    parser.add_argument("--hours", type=float, default=HOURS, metavar="H", help=hours)
    parser.add_argument("--index", action="store_true", help="write proof/INDEX.md, what proves which promise, and end")
    parser.add_argument("--list", action="store_true", help="show the areas and end")
    # Read by ./dev, which runs pytest and the checks for it.
    parser.add_argument("--ring", action="store_true", help="without anything else: the second ring of the tests")
    return parser


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201  the screen is where this command reports


if __name__ == "__main__":
    sys.exit(main())
