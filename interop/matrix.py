"""All calls of all Agents: what each must come to, what it came to, and the table of both."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from aop.client import ClientError
from interop.calls import OK, REACHED, Calls
from interop.frameworks import Framework, Way
from interop.script import WAIT_SECONDS
from interop.session import Session

FAILED = "AGENT_EXECUTION_FAILED"
IN_STREAM = ("stream", "error_in_stream", "cancel_in_stream", "time_limit_in_stream")


@dataclass
class Results:
    """What each call of one Agent came to; `problem` when it could not even be published."""

    framework: Framework
    outcomes: dict[str, str] = field(default_factory=dict)
    problem: str | None = None

    def misses(self) -> Iterator[str]:
        """Every outcome that is not what it must be."""
        if self.problem is not None:
            yield f"{self.framework.name}: {self.problem}"
        required = requirements(self.framework)
        for call, outcome in self.outcomes.items():
            if not outcome.startswith(required[call]):
                yield f"{self.framework.name} {call}: {outcome}, and not {required[call]}"


def requirements(framework: Framework) -> Mapping[str, str]:
    """With a blocking send nobody knows the Task before the end, so only the front can cancel it."""
    by_front = f"canceled, {REACHED}" if framework.way is Way.FRONT else "canceled"
    every = {
        "answer": OK,
        "stream": OK,
        "error": FAILED,
        "error_in_stream": FAILED,
        "cancel": by_front,
        "cancel_in_stream": f"canceled, {REACHED}",
        "time_limit": "TIMEOUT",
        "time_limit_in_stream": "TIMEOUT",
    }
    missing = {*framework.left_out, *(() if framework.streams else IN_STREAM)}
    offered = {call: outcome for call, outcome in every.items() if call not in missing}
    return {**offered, **framework.deviations}


async def run_all(session: Session, framework: Framework, calls: Sequence[str] | None = None) -> Results:
    """Publishes, installs and makes these calls, or all that the Agent offers."""
    results = Results(framework)
    try:
        async with session.installed(framework) as agent:
            chosen = [call for call in requirements(framework) if calls is None or call in calls]
            await _make(agent, chosen, results.outcomes, WAIT_SECONDS if framework.one_at_a_time else 0)
    except (ClientError, RuntimeError, TimeoutError) as problem:
        results.problem = f"{type(problem).__name__}: {problem}"
    return results


async def _make(agent: Calls, chosen: Sequence[str], outcomes: dict[str, str], rest_seconds: float) -> None:
    slow = [call for call in chosen if call.startswith("time_limit")]
    for call in chosen:
        if call not in slow:
            outcomes[call] = await getattr(agent, call)()
        if call.startswith("cancel"):
            await asyncio.sleep(rest_seconds)
    # They only wait, so they wait together.
    ended = await asyncio.gather(*(getattr(agent, call)() for call in slow))
    outcomes |= dict(zip(slow, ended, strict=True))


def table(results: Sequence[Results]) -> list[str]:
    columns = ("JSON", "stream", "error", "cancel, JSON", "cancel, stream", "time limit")
    calls = ("answer", "stream", "error", "cancel", "cancel_in_stream", "time_limit")
    lines = [
        f"| Agent | Packages | A2A | Behind | {' | '.join(columns)} |",
        f"|---|---|---|---|{'---|' * len(columns)}",
    ]
    for result in results:
        framework = result.framework
        cells = [result.outcomes.get(call, "—") for call in calls]
        words = [f"{framework.name}", framework.packages, framework.protocol, framework.way.value, *cells]
        lines.append(f"| {' | '.join(words)} |")
    return lines
