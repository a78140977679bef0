"""`./dev interop [AGENT…]`: frameworks behind a platform, A2A and MCP clients at its door; writes docs/interop.md."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from interop.callers import CALLERS, SdkCaller, made
from interop.door import callers_table, plan_for, problems
from interop.environments import prepare
from interop.frameworks import FRAMEWORKS, Framework
from interop.matrix import Results, run_all, table
from interop.mcp import FOLDER as MCP
from interop.mcp import run_mcp
from interop.page import write_section
from interop.session import started_session
from interop.snippets import run_snippets
from tests.support.door_agents import agents_at_door
from tests.support.postgres import PostgresForTests, running_postgres
from tools.process_tree import ending_all


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
    misses = [miss for result in results for miss in result.misses()]
    if not chosen:
        write_section("frameworks", table(results))
        misses += [*_run_callers(), *_run_mcp(), *run_snippets()]
    print("\n".join(f"FAILED {miss}" for miss in misses) or "every call came to what it must")
    return 1 if misses else 0


def _run_callers() -> list[str]:
    """All clients at the door of one platform, and what came to something else than it must."""
    prepare((caller.folder for caller in CALLERS), print)
    with TemporaryDirectory() as folder, running_postgres(Path(folder)) as postgres:
        outcomes = asyncio.run(_called(postgres))
    write_section("door clients", callers_table(outcomes))
    return [f"{caller.name} {problem}" for caller, found in outcomes.items() for problem in problems(caller, found)]


def _run_mcp() -> list[str]:
    """The MCP client for TypeScript and the conformance suite of MCP."""
    prepare([MCP], print)
    with TemporaryDirectory() as folder, running_postgres(Path(folder)) as postgres:
        outcomes = asyncio.run(run_mcp(postgres))
    write_section("mcp", outcomes.table())
    return outcomes.problems()


async def _called(postgres: PostgresForTests) -> dict[SdkCaller, dict[str, Any]]:
    async with agents_at_door(postgres) as agents:
        plan = plan_for(agents.chat, agents.typed)
        return {caller: await made(caller, agents.door.platform.token, plan) for caller in CALLERS}


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
    with ending_all():
        sys.exit(main(sys.argv[1:]))
