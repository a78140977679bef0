"""`./dev mutants draw|record|run`: small mistakes by seed, and whether the ordinary tests notice them."""

import argparse
import asyncio
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.mutants import reach, report
from tests.mutants.drawing import draw
from tests.mutants.mutant import ROOT, Mutant
from tests.mutants.order import select_tests
from tests.mutants.trial import Judge, Trial
from tests.mutants.twin import Twin
from tools.process_tree import ending_all


def main(arguments: Sequence[str] | None = None) -> int:
    # A shell lets what it starts in the background ignore Ctrl-C, and so would the programs under test.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chosen = _parser().parse_args(arguments)
    with ending_all():
        return {"draw": _draw, "record": _record, "run": _run}[chosen.command](chosen)


def _draw(chosen: argparse.Namespace) -> int:
    if chosen.list.exists():
        _say(f"{chosen.list} is there already: a list is drawn once, before any test is run on it")
        return 2
    report.write_list(chosen.list, chosen.seed, _commit(), draw(chosen.seed, chosen.count, chosen.within))
    _say(f"{chosen.count} mutants of seed {chosen.seed} in {chosen.list}")
    return 0


def _record(chosen: argparse.Namespace) -> int:
    found = asyncio.run(reach.record(chosen.paths, chosen.at_once, _say))
    _say(f"{len(found.tests)} tests and {len(found.blocks)} blocks of the product in {reach.RECORD.relative_to(ROOT)}")
    return 0


def _run(chosen: argparse.Namespace) -> int:
    mutants = report.read_list(chosen.list)
    if not reach.is_current():
        _say("what was recorded is not of this product; record it first for shorter runs: ./dev mutants record")
    numbers = chosen.only or range(1, len(mutants) + 1)
    trials = asyncio.run(_judged({number: mutants[number - 1] for number in numbers}, chosen))
    _say(report.summary(trials.values()))
    return 0


async def _judged(mutants: dict[int, Mutant], chosen: argparse.Namespace) -> dict[int, Trial]:
    reached, waiting = reach.load(), list(mutants.items())
    trials = report.read_trials(chosen.report, mutants) if chosen.only else {}

    async def take(twin: Twin) -> None:
        await asyncio.to_thread(twin.renew)
        judge = Judge(twin, reached)
        while waiting:
            number, mutant = waiting.pop(0)
            tests = await asyncio.to_thread(select_tests, mutant, reached, everything=chosen.all_tests)
            trials[number] = trial = await judge.judge(mutant, tests)
            _say(f"{number:3} {trial.outcome:16} {trial.seconds:6.0f} s  {mutant.name}  {trial.test or ''}")
            report.write_trials(chosen.report, trials)

    await asyncio.gather(*(take(Twin(str(number))) for number in range(chosen.at_once)))
    return trials


def _commit() -> str:
    only_then = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    return only_then.stdout.strip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev mutants", description="Small mistakes by seed, and who notices them.")
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="write a list of mutants, before any test is run on them")
    drawing.add_argument("list", type=Path, metavar="LIST", help="the file to write")
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--count", type=int, default=40)
    drawing.add_argument(
        "--within", nargs="*", default=[], metavar="PACKAGE", help="packages of aop; all when left out"
    )
    recording = commands.add_parser("record", help="run the tests once and record what each of them reaches")
    recording.add_argument("paths", nargs="*", metavar="PATH", help="files or folders of tests; all when left out")
    running = commands.add_parser("run", help="run the ordinary tests on each mutant of a list")
    running.add_argument("list", type=Path, metavar="LIST")
    running.add_argument("--report", type=Path, required=True, help="a .json file; a .md file is written beside it")
    running.add_argument("--only", type=int, nargs="*", metavar="NUMBER", help="these mutants of the list again")
    only_then = "before a mutant counts as survived, also the tests that do not reach it"
    running.add_argument("--all-tests", action="store_true", help=only_then)
    for each in (recording, running):
        each.add_argument("--at-once", type=int, default=2, metavar="N", help="how many twins work at a time")
    return parser


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201  the screen is where this command reports


if __name__ == "__main__":
    sys.exit(main())
