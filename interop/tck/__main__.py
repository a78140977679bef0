"""`./dev tck --kit DIR [AGENT…]`: runs a checkout of the public A2A test kit against the sample Agents."""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from interop.page import write_section
from interop.tck.kit import BAR, KIT, CategoryResult, KitFailed, run_category
from tests.agent.samples import SAMPLES, running_sample
from tools.environments import ready

EXIT_BAR_MISSED, EXIT_NOT_RUN = 1, 3
_REPOSITORY = "a2aproject/a2a-tck"
_NOT_RUN = f"""FOR-05: not run. It needs a checkout of the public test kit, which is no part of this project:
  git clone --branch 0.3.x https://github.com/{_REPOSITORY} DIR
  ./dev tck --kit DIR"""


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.agents) - set(SAMPLES)):
        parser.error(f"there is no sample Agent {', '.join(unknown)}")
    if options.kit is None or not (options.kit / "run_tck.py").is_file():
        print(_NOT_RUN)
        return EXIT_NOT_RUN
    ready([KIT], print)
    results: dict[str, list[CategoryResult]] = {}
    try:
        for name in options.agents or SAMPLES:
            results[name] = _run_agent(options.kit.resolve(), name)
    except (KitFailed, subprocess.TimeoutExpired) as problem:
        print(f"FOR-05: not run. The kit came to no result:\n{problem}")
        return EXIT_NOT_RUN
    if not options.agents:
        write_section("test kit", _table(results, _commit(options.kit)))
    missed = [name for name, found in results.items() if not all(result.reached for result in found)]
    print(f"FOR-05: missed by {', '.join(missed)}" if missed else "FOR-05: the bar is reached")
    return EXIT_BAR_MISSED if missed else 0


def _run_agent(kit: Path, name: str) -> list[CategoryResult]:
    results = []
    with TemporaryDirectory() as folder, running_sample(name, Path(folder)) as sample:
        for category, bar in BAR.items():
            result = run_category(kit, sample, category, Path(folder))
            results.append(result)
            print(f"{name} {category}: {result.count} (passed/failed/skipped), the bar is {bar}", flush=True)
            print("".join(f"  failed: {failure}\n" for failure in result.failures), end="", flush=True)
    return results


def _table(results: Mapping[str, Sequence[CategoryResult]], commit: str) -> list[str]:
    lines = [
        f"Kit: `{_REPOSITORY}`, branch 0.3.x, commit `{commit}`. Each cell is passed/failed/skipped.",
        "",
        f"| Agent | {' | '.join(BAR)} |",
        f"|---|{'---|' * len(BAR)}",
        f"| the bar | {' | '.join(str(bar) for bar in BAR.values())} |",
    ]
    for name, found in results.items():
        cells = (f"{result.count}{'' if result.reached else ' (missed)'}" for result in found)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    failures = sorted({failure for found in results.values() for result in found for failure in result.failures})
    return [*lines, "", *(f"- failed: `{failure}`" for failure in failures)]


def _commit(kit: Path) -> str:
    command = ["git", "-C", str(kit), "rev-parse", "--short=7", "HEAD"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return ran.stdout.strip() or "unknown"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev tck", description=__doc__)
    parser.add_argument("--kit", metavar="DIR", type=Path, help=f"a checkout of {_REPOSITORY}, branch 0.3.x")
    parser.add_argument("agents", metavar="AGENT", nargs="*", help=", ".join(SAMPLES))
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
