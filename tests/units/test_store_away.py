"""A unit that starts while its database is away: it waits, says so, and serves once the database is there."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import msgspec
import pytest

from aop.local.ports import any_free_port
from aop.local.state import DatabaseUrls
from tests.support.waiting import becomes_true, patience
from tests.units.processes import UNITS, environment, start, status_of

pytestmark = pytest.mark.second_ring

_KINDS = [(unit, options) for unit in UNITS for options in ((), ("--workers", "2"))]


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def _line(port: int, url: str) -> AsyncIterator[None]:
    """Lets the database be reached at another port."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
        await asyncio.gather(_pass_on(reader, theirs[1]), _pass_on(theirs[0], writer))

    server = await asyncio.start_server(connected, "127.0.0.1", port)
    yield
    server.close()


def _moved(stores: DatabaseUrls, port: int) -> DatabaseUrls:
    own = f":{urlsplit(stores.router).port}/"
    return DatabaseUrls(*(url.replace(own, f":{port}/") for url in msgspec.structs.astuple(stores)))


@pytest.mark.rows("SOUND-14")
@pytest.mark.parametrize(("unit", "options"), _KINDS)
async def test_a_unit_whose_database_is_away_waits_and_serves_once_it_is_there(
    unit: str, options: tuple[str, ...], stores: DatabaseUrls
) -> None:
    port, path = any_free_port(), "internal/v1/status" if unit == "router" else "v1/workspaces"
    settings = environment(unit, _moved(stores, port))
    origin = f"http://{settings[UNITS[unit][1]]}"
    process = await start(unit, settings, *options)

    async def answers(path: str, status: int) -> None:
        async def is_so() -> bool:
            return await asyncio.to_thread(status_of, f"{origin}/{path}") == status

        await becomes_true(is_so)

    await answers("livez", 200)
    await answers("readyz", 503)
    await answers(path, 503)
    async with _line(port, stores.router):
        await answers(path, 401)
        assert process.returncode is None
        process.send_signal(signal.SIGTERM)
        async with patience():
            _, said = await process.communicate()
    assert process.returncode == 0
    assert said.count(b"the database cannot be reached (ConnectionRefusedError)") == 1
    assert b"Traceback" not in said


@pytest.mark.parametrize(("unit", "options"), _KINDS)
async def test_a_unit_that_waits_for_its_database_stops_when_it_is_told_to(unit: str, options: tuple[str, ...]) -> None:
    settings = environment(unit, None)
    process = await start(unit, settings, *options)

    async def waits() -> bool:
        return await asyncio.to_thread(status_of, f"http://{settings[UNITS[unit][1]]}/livez") == 200

    await becomes_true(waits)
    process.send_signal(signal.SIGTERM)
    async with patience():
        _, said = await process.communicate()
    assert process.returncode == 0
    assert b"unit.listening" not in said
