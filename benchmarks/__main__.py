"""`./dev bench [NAME…] [--calls N] [--json] [--write]`: runs benchmarks, all when none is named, shows the results.

Three run only when they are named: `./dev bench memory [--minutes N]`, which takes an hour,
`./dev bench first_use --user NAME [--way WAY]`, which needs a second user of the machine, and
`./dev bench calls [--callers N] [--functions]`, which measures nothing but counts.
"""

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from typing import Any

import benchmarks
from benchmarks import _pages
from benchmarks._first_use_ways import WAYS
from benchmarks._newcomer import StepFailed
from benchmarks.measure import Report
from tools.process_tree import ending_all

_LONG = frozenset({"open_streams", "discovery", "figures", "first_use", "growth", "ledger", "lists", "memory", "tree"})
"""Those that take minutes."""
_OF_CALLS = frozenset({"figures", "growth", "lists", "tree"})
"""Those whose Ledger may have another number of Invocations."""
_OF_A_USER = "first_use"
_OF_AN_HOUR = "memory"
_COUNTING = "calls"
_NAMED_ONLY = frozenset({_OF_A_USER, _OF_AN_HOUR, _COUNTING})


def main() -> int:
    parser = _parser()
    chosen = parser.parse_args()
    if problem := _problem(chosen):
        parser.error(problem)
    sizes: list[Any] = [size for size in (chosen.calls, chosen.minutes, chosen.callers) if size is not None]
    if chosen.user is not None:
        sizes = [chosen.user, chosen.way or ()]
    with ending_all():
        return _measure(chosen.names or [name for name in _names() if name not in _NAMED_ONLY], sizes, chosen)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./dev bench", description="Benchmarks; the long ones: " + ", ".join(sorted(_LONG))
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"of {', '.join(_names())}; all but {' and '.join(sorted(_NAMED_ONLY))} when left out",
    )
    parser.add_argument(
        "--calls", type=int, metavar="N", help=f"Invocations in the Ledger of {' and '.join(sorted(_OF_CALLS))}"
    )
    parser.add_argument(
        "--minutes", type=int, metavar="N", help=f"of load, for {_OF_AN_HOUR} alone; an hour when left out"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of tables")
    parser.add_argument(
        "--write",
        action="store_true",
        help=f"also write figures and plots to docs/performance/; those of {_COUNTING}, which a test keeps",
    )
    parser.add_argument("--user", metavar="NAME", help=f"whose first use is timed; for {_OF_A_USER} alone")
    parser.add_argument(
        "--way", action="append", choices=list(WAYS), help=f"of {_OF_A_USER}, can be repeated; all when left out"
    )
    parser.add_argument(
        "--callers", type=int, metavar="N", help=f"at once, for {_COUNTING} alone; measured three times above one"
    )
    parser.add_argument("--functions", action="store_true", help=f"also the calls of each function, for {_COUNTING}")
    return parser


def _problem(chosen: argparse.Namespace) -> str | None:
    """What is wrong with the options, one by one and together."""
    unknown, of_calls = set(chosen.names) - set(_names()), chosen.names and _OF_CALLS.issuperset(chosen.names)
    counts, above_zero = chosen.names == [_COUNTING], "is a number above 0, for"
    problems = {
        f"there is no benchmark {', '.join(sorted(unknown))}": bool(unknown),
        f"--calls {above_zero} {' and '.join(sorted(_OF_CALLS))} alone": _is_wrong(chosen.calls, of_calls),
        f"{_OF_A_USER} runs alone, with --user NAME": (chosen.user is not None) != (chosen.names == [_OF_A_USER])
        or (chosen.way and chosen.user is None),
        f"--minutes {above_zero} {_OF_AN_HOUR} alone": _is_wrong(chosen.minutes, chosen.names == [_OF_AN_HOUR]),
        f"--callers {above_zero} {_COUNTING} alone": _is_wrong(chosen.callers, counts),
        f"the figures of {_COUNTING} are written for one caller": chosen.write
        and counts
        and chosen.callers not in {None, 1},
        f"--functions is for {_COUNTING} alone": chosen.functions and not counts,
    }
    return next((problem for problem, is_so in problems.items() if is_so), None)


def _is_wrong(number: int | None, belongs: bool) -> bool:
    return number is not None and not (number > 0 and belongs)


def _measure(names: Sequence[str], sizes: Sequence[Any], chosen: argparse.Namespace) -> int:
    kept = True
    for name in names:
        try:
            benchmark = importlib.import_module(f"benchmarks.{name}")
            options = {"functions": True} if chosen.functions else {}
            report: Report = benchmark.run(*sizes, **options)
        except StepFailed as failed:
            sys.exit(f"{name}: {failed}")
        print(report.as_json() if chosen.json else report.as_table() + "\n", flush=True)
        if chosen.write and name == _COUNTING:
            benchmark.keep(report)
            continue
        if chosen.write:
            _pages.keep(report, beside_others=bool(chosen.way))
        kept = kept and all(report.targets.values())
    return 0 if kept else 1


def _names() -> list[str]:
    """A benchmark is a module of this package with a `run() -> Report`."""
    found = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    return sorted(name for name in found if not name.startswith("_") and name != "measure")


if __name__ == "__main__":
    sys.exit(main())
