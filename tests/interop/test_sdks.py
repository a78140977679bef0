"""An Agent on an official SDK, as its documentation shows it, works in every mode: a short `./dev interop`."""

import asyncio
from pathlib import Path

import pytest

from interop.environments import prepare
from interop.frameworks import FRAMEWORKS, Framework, Way
from interop.matrix import Results, run_all
from interop.session import started_session

SHORT = [framework for framework in FRAMEWORKS if framework.short]
CALLS = ("answer", "stream", "error", "cancel_in_stream")
# Only the front knows the Task of a call that is not a stream.
BY_FRONT = ("cancel",)


def calls_of(framework: Framework) -> tuple[str, ...]:
    return (*CALLS, *BY_FRONT) if framework.way is Way.FRONT else CALLS


@pytest.mark.rows("FOR-01", "FOR-02", "FRONT-01", "SOUND-10")
@pytest.mark.long
async def test_agents_of_the_official_sdks_answer_stream_fail_and_are_canceled(tmp_path: Path) -> None:
    prepare({framework.folder for framework in SHORT}, print)
    async with started_session(SHORT, tmp_path) as session:

        async def run(framework: Framework) -> Results:
            return await run_all(session, framework, calls_of(framework))

        results = await asyncio.gather(*map(run, SHORT))
    assert [miss for result in results for miss in result.misses()] == []
    assert all(set(calls_of(result.framework)) == set(result.outcomes) for result in results)
