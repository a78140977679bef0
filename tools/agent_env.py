"""The virtual environments of the sample Agents: one per folder of agents/, from its own lock file."""

import re
import sys
from pathlib import Path

from tools.environments import PRIVATE, ROOT, Environment, ready

AGENTS = ROOT / "agents"
_COLD_SECONDS = 15
_BESIDE = re.fullmatch(r"test(-[0-9.]+)", Path(sys.prefix).name) if Path(sys.prefix).parent == PRIVATE else None
"""The environment test-3.13: its tests run beside those of the main one, under another Python. So the Agents that they
start need environments of their own."""


def names() -> list[str]:
    """Every sample Agent that has a lock file."""
    return sorted(path.parent.name for path in AGENTS.glob("*/requirements.lock"))


def folders(name: str) -> tuple[Path, ...]:
    """The Agent's own folder and, for an Agent on a2a-sdk, the package that serves its Skills there."""
    agent = AGENTS / name
    is_on_sdk = "\na2a-sdk" in (agent / "requirements.in").read_text("utf-8")
    return (agent, AGENTS / "a2a-sdk") if is_on_sdk else (agent,)


def environment(name: str) -> Environment:
    """It sees the Agent's folders and this checkout's `aop`, but none of the platform's dependencies."""
    lock = AGENTS / name / "requirements.lock"
    group = f"agents{_BESIDE[1]}" if _BESIDE else "agents"
    paths = (ROOT / "src", *folders(name))
    return Environment(f"{group}/{name}", lock, paths, _COLD_SECONDS, compiled=_BESIDE is None)


def environments() -> list[Environment]:
    return [environment(name) for name in names()]


def agent_python(name: str) -> Path:
    """The interpreter of the Agent's environment, which is made or refreshed first."""
    wanted = environment(name)
    ready([wanted], _to_stderr)
    return wanted.python


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    for agent_name in sys.argv[1:] or names():
        print(agent_python(agent_name))
