"""Shared parts of all tests: one PostgreSQL per worker, one database per test that asks for it, the order of all."""

import gc
import signal
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings

from aop.local.state import DatabaseUrls
from tests.support.postgres import PostgresForTests, running_postgres
from tests.support.rings import import_share, is_left_out, modules_in
from tests.support.schedule import ByWhatIsShared, by_length
from tools.process_tree import ending_all


def pytest_addoption(parser: pytest.Parser) -> None:
    told = "also every state of every screen in every look, and a cut behind every byte"
    parser.addoption("--thorough", action="store_true", help=told)


def pytest_configure(config: pytest.Config) -> None:
    # How fast values are made says something about the machine and nothing about the product.
    settings.register_profile(
        "any machine", max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("any machine")
    # A shell starts what runs in its background with Ctrl-C ignored, and every process a test starts would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):  # no worker of another one, which ends it
        held = ExitStack()
        held.enter_context(ending_all(lambda _: KeyboardInterrupt()))  # no test may take it for a fault of its own
        config.add_cleanup(held.close)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected lives to the end. So nothing of it is garbage, and nobody needs to look for any in it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return is_left_out(collection_path, config.option.markexpr) or None


def pytest_collectstart(collector: pytest.Collector) -> None:
    worker = getattr(collector.config, "workerinput", None)
    if isinstance(collector, pytest.Session) and worker is not None:
        modules = modules_in(collector.config.args, collector.config.option.markexpr)
        import_share(modules, int(worker["workerid"].removeprefix("gw")), worker["workercount"])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = by_length(items)
    for item in items:
        if isinstance(item, pytest.Function) and "thorough" in item.fixturenames:
            item.add_marker(pytest.mark.thorough)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByWhatIsShared:
    config.option.loadscopereorder = False
    return ByWhatIsShared(config, log)


@pytest.fixture
def thorough(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--thorough"))


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresForTests]:
    with running_postgres(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest_asyncio.fixture
async def stores(postgres: PostgresForTests) -> AsyncIterator[DatabaseUrls]:
    """A database of its own at the current version, as the three logins see it."""
    urls = await postgres.new_platform()
    yield urls
    await postgres.drop(urls.migration.rpartition("/")[2])
