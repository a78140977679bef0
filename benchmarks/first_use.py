"""The stopwatch of a newcomer: an ordinary user with empty caches, from nothing to an own Agent that answers."""

import time
from collections.abc import Mapping, Sequence

from benchmarks._first_use_ways import WAYS, Way
from benchmarks._newcomer import Newcomer, Running, StepFailed, newcomer
from benchmarks.measure import Figure, Report

LIMIT_RUNNING, LIMIT_ANSWER, LIMIT_CHANGE, LIMIT_SILENCE = 60.0, 150.0, 15.0, 3.0
_AGENT, _SKILLS = "local:my-agent", "my-agent/my_agent/skills.py"
_BEFORE, _AFTER = "Hello, ", "Good day, "
_TITLE = "Seconds of an ordinary user with empty caches; the change counts from the first answer"


def run(user: str, ways: Sequence[str] = ()) -> Report:
    rows: list[Mapping[str, Figure]] = []
    targets: dict[str, bool] = {}
    for name in ways or WAYS:
        with newcomer(user) as somebody:
            row, kept = _measured(somebody, name, WAYS[name])
        rows.append(row)
        targets |= kept
    return Report("first_use", _TITLE, rows, targets)


def _measured(somebody: Newcomer, name: str, way: Way) -> tuple[dict[str, Figure], dict[str, bool]]:
    way.prepare(somebody)
    begun = time.monotonic()
    up, aop = way.install(somebody)
    installed = time.monotonic() - begun
    platform = somebody.start(*up)
    platform.wait_until(lambda: "The platform is running" in platform.output)
    running = time.monotonic() - begun
    agent = _own_agent(somebody, aop)
    answered = time.monotonic() - begun
    _changed_agent(somebody, aop, agent)
    changed = time.monotonic() - begun - answered
    silence = somebody.max_silence()
    print(f"{name}: the longest silence, {silence.seconds:.1f} s, was after {silence.after!r}", flush=True)
    row: dict[str, Figure] = {
        "way": name,
        "installed": installed,
        "platform runs": running,
        "own Agent answers": answered,
        "changed Agent answers": changed,
        "longest silence": silence.seconds,
    }
    return row, {
        f"{name}: the platform runs within {LIMIT_RUNNING:.0f} s": running <= LIMIT_RUNNING,
        f"{name}: an own Agent answers within {LIMIT_ANSWER:.0f} s": answered <= LIMIT_ANSWER,
        f"{name}: a changed Agent answers within {LIMIT_CHANGE:.0f} s more": changed <= LIMIT_CHANGE,
        f"{name}: no silence is longer than {LIMIT_SILENCE:.0f} s": silence.seconds <= LIMIT_SILENCE,
    }


def _own_agent(somebody: Newcomer, aop: Sequence[str]) -> Running:
    """The commands of the quickstart."""
    somebody.run(*aop, "init", "my-agent")
    agent = somebody.start(*aop, "agent", "run", "my-agent")
    agent.wait_until(lambda: "serving " in agent.output)
    somebody.run(*aop, "publish", "my-agent/card.json")
    somebody.run(*aop, "install", _AGENT, "--yes")
    if (said := _called(somebody, aop)) is None or _BEFORE not in said:
        raise StepFailed(f"the Agent answered with {said}")
    return agent


def _changed_agent(somebody: Newcomer, aop: Sequence[str], agent: Running) -> None:
    """As `aop dev` does it: its start counts, and so does everything between the save and the new answer."""
    agent.stop()
    dev = somebody.start(*aop, "dev", "my-agent", "--yes")
    dev.wait_until(lambda: "the Workspace " in dev.output)
    skills = somebody.folder / _SKILLS
    skills.write_text(skills.read_text("utf-8").replace(_BEFORE, _AFTER), "utf-8")
    dev.wait_until(lambda: _AFTER in (_called(somebody, aop) or ""))


def _called(somebody: Newcomer, aop: Sequence[str]) -> str | None:
    """The answer, or None while there is none: for a moment after a save nobody listens."""
    try:
        return somebody.run(*aop, "invoke", _AGENT, "greet", '{"name": "Ada"}')
    except StepFailed:
        return None
