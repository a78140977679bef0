"""The virtual environments of the sample Agents: one per folder of agents/, from its own lock file."""

import sys
from pathlib import Path

from tools.environments import ROOT, Environment, ready

AGENTS = ROOT / "agents"
_COLD_SECONDS = 15


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
    return Environment(f"agents/{name}", lock, (ROOT / "src", *folders(name)), _COLD_SECONDS)


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
