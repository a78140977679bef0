"""Units as processes: their settings, their start, their end and what they answer."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.request import Request, urlopen

import msgspec

from aop.local.ports import any_free_port
from aop.local.state import DatabaseUrls
from tests.support.settings import control_plane_environment, router_environment
from tests.support.waiting import PATIENCE_SECONDS, patience

UNITS = {
    "control-plane": ("PLATFORM_DATABASE_URL", "PLATFORM_LISTEN_ADDRESS", control_plane_environment),
    "router": ("PLATFORM_ROUTER_DATABASE_URL", "PLATFORM_ROUTER_LISTEN_ADDRESS", router_environment),
}


def environment(unit: str, stores: DatabaseUrls | None, **changes: str | None) -> dict[str, str]:
    database, address, make = UNITS[unit]
    if stores is not None:
        changes.setdefault(database, stores.router if unit == "router" else stores.control_plane)
    changes.setdefault(address, f"127.0.0.1:{any_free_port()}")
    return make(**changes)


async def start(unit: str, settings: dict[str, str], *options: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "aop", unit, *options),
        env={**settings, "PATH": os.defpath},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )


def status_of(url: str, token: str | None = None) -> int:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    try:
        with urlopen(Request(url, headers=headers), timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
            return int(answer.status)
    except OSError as failure:
        return int(getattr(failure, "code", 0))


@dataclass(frozen=True)
class Ended:
    code: int
    said: str


async def run_to_end(unit: str, settings: dict[str, str], *options: str) -> Ended:
    process = await start(unit, settings, *options)
    async with patience():
        _, said = await process.communicate()
    return Ended(process.returncode or 0, said.decode())


def wrong_login(stores: DatabaseUrls) -> DatabaseUrls:
    """A database that is there, and refuses these."""
    return DatabaseUrls(*(url.replace(":test-password@", ":another@") for url in msgspec.structs.astuple(stores)))


@asynccontextmanager
async def served(
    unit: str, settings: dict[str, str], *options: str
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    process = await start(unit, settings, *options)
    origin = f"http://{settings[UNITS[unit][1]]}"
    try:
        async with patience():
            # A Router is ready only with a Control Plane to watch; here each unit runs alone.
            path = "livez" if unit == "router" else "readyz"
            while await asyncio.to_thread(status_of, f"{origin}/{path}") != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        yield process, origin
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
