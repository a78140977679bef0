"""The examples of the docstrings and of the guide run as they stand, against a running platform."""

import asyncio
import contextlib
import doctest
import importlib
import io
import pkgutil
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

import aop.client
from aop.client import Client, SyncClient
from tests.agent.samples import running_sample
from tests.client.test_operations import methods
from tests.support.loop import Platform
from tests.support.postgres import PostgresForTests
from tests.support.sample_platform import SamplePlatform, origin_of, router_listener, running_sample_platform

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "python-client.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
MODULES = [importlib.import_module(f"aop.client.{module.name}") for module in pkgutil.iter_modules(aop.client.__path__)]


def examples() -> Iterator[doctest.DocTest]:
    for module in MODULES:
        yield from doctest.DocTestFinder().find(module, module.__name__)
    for name, method in methods():
        text = method.__doc__ or ""
        yield doctest.DocTestParser().get_doctest(text, {}, name, None, 0)


EXAMPLES = [test for test in examples() if test.examples]


def run(test: doctest.DocTest, client: SyncClient | None) -> str:
    """What the example said that it should not have; nothing when all is as written."""
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    test.globs = {**test.globs, "client": client}
    runner.run(test, out=report.write)
    return report.getvalue()


@pytest.mark.parametrize("test", EXAMPLES, ids=lambda test: test.name)
async def test_an_example_of_a_docstring_gives_what_it_says(test: doctest.DocTest, platform: Platform) -> None:
    def act() -> str:
        with SyncClient(platform.gateway.origin, platform.token) as client:
            return run(test, client)

    assert await asyncio.to_thread(act) == ""


async def test_there_are_examples_of_both_kinds() -> None:
    names = {test.name for test in EXAMPLES}
    assert {"invoke", "stream", "discover_agents", "aop.client.request.target_of"} <= names


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def samples(
    postgres: PostgresForTests, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[SamplePlatform]:
    """What `./dev up` offers, as far as the guide needs it."""
    urls, listener = await postgres.new_platform(), router_listener()
    with running_sample(
        "action-items", tmp_path_factory.mktemp("sample"), PLATFORM_AGENT_ROUTER_URL=origin_of(listener)
    ) as sample:
        async with running_sample_platform(urls, listener, {sample.name: sample}) as running:
            async with Client(running.gateway.origin, running.owner.token) as client:
                await client.create_workspace("demo")
                await client.install_agent("demo", "aop:action-items", "^1.0.0", accepted_permissions=["notes.read"])
            yield running
    await postgres.drop(urls.migration.rpartition("/")[2])


async def test_every_block_of_the_guide_prints_what_stands_below_it(
    samples: SamplePlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AOP_GATEWAY", samples.gateway.origin)
    monkeypatch.setenv("AOP_TOKEN", samples.owner.token)
    assert len(BLOCKS) == GUIDE.count("```python\n")
    names: dict[str, object] = {"__name__": "guide"}
    for code, expected in BLOCKS:
        printed = io.StringIO()

        def act(code: str = code, printed: io.StringIO = printed) -> None:
            with contextlib.redirect_stdout(printed):
                exec(code, names)  # noqa: S102  (our own text)

        await asyncio.to_thread(act)
        assert printed.getvalue() == expected, code


async def test_the_guide_names_every_method() -> None:
    assert [name for name, _ in methods() if f"`{name}`" not in GUIDE] == []
