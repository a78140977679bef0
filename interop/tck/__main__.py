"""`./dev tck --kit DIR [AGENT…]`: the public A2A test kit against the sample Agents, or with `--door` at the door."""

import argparse
import asyncio
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from interop.page import write_section
from interop.tck.door import BRANCHES, checkouts, commit_of, door_table, run_door
from interop.tck.kit import BAR, KIT, CategoryResult, KitFailed, run_category
from tests.agent.samples import SAMPLES, running_sample
from tools.environments import ready
from tools.process_tree import ending_all

EXIT_BAR_MISSED, EXIT_NOT_RUN = 1, 3
_REPOSITORY = "a2aproject/a2a-tck"
_NOT_RUN = f"""FOR-05: not run. It needs a checkout of the public test kit, which is no part of this project:
  git clone --branch 0.3.x https://github.com/{_REPOSITORY} DIR
  ./dev tck --kit DIR"""
_SAMPLES_BRANCH = "0.3.x"
_DOOR_NEEDS = f"""which needs a checkout of the public test kit:
  git clone --branch BRANCH https://github.com/{_REPOSITORY} DIR
  ./dev tck --door --kit DIR --kit DIR"""


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.agents) - set(SAMPLES)):
        parser.error(f"there is no sample Agent {', '.join(unknown)}")
    kits = checkouts(options.kit)
    if options.door:
        return _run_door(kits)
    kit = kits.get(_SAMPLES_BRANCH)
    if kit is None:
        print(_NOT_RUN)
        return EXIT_NOT_RUN
    ready([KIT], print)
    results: dict[str, list[CategoryResult]] = {}
    try:
        for name in options.agents or SAMPLES:
            results[name] = _run_agent(kit.resolve(), name)
    except (KitFailed, subprocess.TimeoutExpired) as problem:
        print(f"FOR-05: not run. The kit came to no result:\n{problem}")
        return EXIT_NOT_RUN
    if not options.agents:
        write_section("test kit", _table(results, commit_of(kit)))
    missed = [name for name, found in results.items() if not all(result.reached for result in found)]
    print(f"FOR-05: missed by {', '.join(missed)}" if missed else "FOR-05: reached")
    return EXIT_BAR_MISSED if missed else 0


def _run_agent(kit: Path, name: str) -> list[CategoryResult]:
    results = []
    with TemporaryDirectory() as folder, running_sample(name, Path(folder)) as sample:
        for category, bar in BAR.items():
            result = run_category(kit, sample, category, Path(folder))
            results.append(result)
            print(f"{name} {category}: {result.count} (passed/failed/skipped), required is {bar}", flush=True)
            print("".join(f"  failed: {failure}\n" for failure in result.failures), end="", flush=True)
    return results


def _table(results: Mapping[str, Sequence[CategoryResult]], commit: str) -> list[str]:
    lines = [
        f"Kit: `{_REPOSITORY}`, branch 0.3.x, commit `{commit}`. Each figure is passed/failed/skipped.",
        "",
        f"| Agent | {' | '.join(BAR)} |",
        f"|---|{'---|' * len(BAR)}",
        f"| required | {' | '.join(str(bar) for bar in BAR.values())} |",
    ]
    for name, found in results.items():
        cells = (f"{result.count}{'' if result.reached else ' (missed)'}" for result in found)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    failures = sorted({failure for found in results.values() for result in found for failure in result.failures})
    return [*lines, "", *(f"- failed: `{failure}`" for failure in failures)]


def _run_door(kits: Mapping[str, Path]) -> int:
    """Both branches write the table; what was not run is said there too."""
    missing = [branch.name for branch in BRANCHES if branch.name not in kits]
    if missing:
        print(f"DOOR-06: branch {' and '.join(missing)} not run, {_DOOR_NEEDS}")
    if not kits:
        return EXIT_NOT_RUN
    ready([KIT], print)
    try:
        results = asyncio.run(run_door(kits))
    except (KitFailed, subprocess.TimeoutExpired) as problem:
        print(f"DOOR-06: not run. The kit came to no result:\n{problem}")
        return EXIT_NOT_RUN
    write_section("door kit", door_table(results))
    failed = [f"{result.branch.name}: {test}" for result in results for test in result.unexcused]
    passed = [f"{result.branch.name}: {test}" for result in results for test in result.outdated]
    print("".join(f"  failed: {one}\n" for one in failed), end="")
    print("".join(f"  excused, but it does not fail: {one}\n" for one in passed), end="")
    print("DOOR-06: missed" if failed or passed else "DOOR-06: every mandatory test of what is offered passes")
    return EXIT_BAR_MISSED if failed or passed else EXIT_NOT_RUN if missing else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev tck", description=__doc__)
    parser.add_argument(
        "--kit",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help=f"a checkout of {_REPOSITORY}, branch 0.3.x; with --door also one of branch 1.0-dev",
    )
    parser.add_argument("--door", action="store_true", help="test the door before an installed Agent")
    parser.add_argument("agents", metavar="AGENT", nargs="*", help=", ".join(SAMPLES))
    return parser


if __name__ == "__main__":
    with ending_all():
        sys.exit(main(sys.argv[1:]))
