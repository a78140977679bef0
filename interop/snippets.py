"""The snippets of `aop connect` for frameworks too large for every run, run as pasted against a platform."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from interop.environments import environment, prepare
from tests.support.platform import LocalPlatform, seed_ports, started_up
from tools.agent_env import agent_python, names

FOLDERS = {"adk": "google-adk", "langchain": "langchain-mcp"}
"""By the name of the snippet: the environment it runs in."""
AGENT, SKILL = "aop:summarizer", "rank-sentences"
ANSWER = "Tea is grown in hills."
"""The first sentence of the result of the Skill's own example."""
_SECONDS = 120


def run_snippets() -> list[str]:
    """Those that did not come to the Agent's answer."""
    prepare(FOLDERS.values(), print)
    for name in names():
        agent_python(name)
    with TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        seed_ports(data)
        with started_up(data, "--no-console") as platform:
            platform.wait_ready()
            problems = [problem for name in FOLDERS for problem in _problems(platform, name)]
            platform.stop()
    return problems


def _problems(platform: LocalPlatform, name: str) -> list[str]:
    connect = [sys.executable, "-P", "-m", "aop", "connect", AGENT, "--skill", SKILL, "--for", name]
    code = subprocess.run(
        [*connect, "--data", str(platform.data)], capture_output=True, text=True, timeout=_SECONDS, check=True
    ).stdout
    ran = subprocess.run(
        [str(environment(FOLDERS[name]).python), "-W", "ignore", "-c", code],
        env={"AOP_TOKEN": platform.run["token"], "HOME": str(platform.data)},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    worked = ran.returncode == 0 and ANSWER in ran.stdout
    print(f"snippet {name}: {'the answer of the Agent' if worked else 'FAILED'}", flush=True)
    return [] if worked else [f"snippet {name}: {ran.stderr[-1000:] or ran.stdout[-1000:]}"]
