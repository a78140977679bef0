"""`./dev interop [AGENT…]`: Agents of real frameworks behind a platform on this machine; writes docs/interop.md."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from interop.environments import prepare
from interop.frameworks import FRAMEWORKS, Framework
from interop.matrix import Results, run_all, table
from interop.page import write_section
from interop.session import started_session


def main(arguments: Sequence[str]) -> int:
    names = [framework.name for framework in FRAMEWORKS]
    parser = argparse.ArgumentParser(prog="./dev interop", description=__doc__)
    parser.add_argument("agents", metavar="AGENT", nargs="*", help=", ".join(names))
    chosen = parser.parse_args(arguments).agents
    if unknown := sorted(set(chosen) - set(names)):
        parser.error(f"there is no Agent {', '.join(unknown)}")
    frameworks = [framework for framework in FRAMEWORKS if framework.name in chosen or not chosen]
    prepare((framework.folder for framework in frameworks), print)
    with TemporaryDirectory() as folder:
        results = asyncio.run(_run(frameworks, Path(folder)))
    if not chosen:
        write_section("frameworks", table(results))
    misses = [miss for result in results for miss in result.misses()]
    print("\n".join(f"FAILED {miss}" for miss in misses) or "every call came to what it must")
    return 1 if misses else 0


async def _run(frameworks: Sequence[Framework], folder: Path) -> list[Results]:
    """One after the other: each has the machine for itself, so that a time limit is the platform's."""
    results = []
    async with started_session(frameworks, folder) as session:
        for framework in frameworks:
            results.append(await run_all(session, framework))
            print(framework.name, framework.packages, flush=True)
            print("".join(f"  {call}: {outcome}\n" for call, outcome in results[-1].outcomes.items()), flush=True)
    return results


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
