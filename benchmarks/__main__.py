"""`python -m benchmarks [name] [--json]`: runs one benchmark, or all of them, and prints what it found."""

import argparse
import importlib
import pkgutil
import sys

import benchmarks


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("name", nargs="?", choices=_names(), help="one benchmark; all when left out")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of tables")
    chosen = parser.parse_args()
    kept = True
    for name in [chosen.name] if chosen.name else _names():
        report = importlib.import_module(f"benchmarks.{name}").run()
        print(report.as_json() if chosen.json else report.as_table() + "\n", flush=True)
        kept = kept and all(report.targets.values())
    return 0 if kept else 1


def _names() -> list[str]:
    """A benchmark is a module of this package with a `run() -> Report`."""
    found = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    return sorted(name for name in found if not name.startswith("_") and name != "measure")


if __name__ == "__main__":
    sys.exit(main())
