"""Every sample Agent as a running program, once per test run."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from aop.net.http import HttpClient
from tests.agent.samples import SAMPLES, RunningSample, running_sample
from tests.support.waiting import PATIENCE_SECONDS


@pytest.fixture(scope="session", params=SAMPLES)
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSample]:
    with running_sample(request.param, tmp_path_factory.mktemp(request.param)) as running:
        yield running


@pytest_asyncio.fixture
async def client() -> AsyncIterator[HttpClient]:
    opened = HttpClient(idle_seconds=2, connect_seconds=PATIENCE_SECONDS)
    yield opened
    await opened.close()
