"""`aop up` whose disk is full, and whose PostgreSQL dies again and again."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import asyncpg
import pytest

from tests.local.units_alone import started_units
from tests.support.platform import LocalPlatform, seed_ports
from tests.support.volumes import filled, volume
from tests.support.waiting import PATIENCE_SECONDS, generous

_FULL_SECONDS = 20
_KILLS, _KILLS_SECONDS = 6, 100
_NUMBERS = count(1)


def _status(url: str, token: str = "", body: bytes | None = None) -> int:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    try:
        with urlopen(Request(url, body, headers), timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
            return int(answer.status)
    except HTTPError as refused:
        return refused.code
    except OSError:
        return 0


def _readiness(platform: LocalPlatform) -> set[int]:
    return {_status(platform.run[unit] + "/readyz") for unit in ("gateway", "router")}


def _write(platform: LocalPlatform) -> bool:
    """Opens one more Workspace, and reads its Ledger by way of the Router."""
    run, space = platform.run, f"space-{next(_NUMBERS)}"
    workspaces = f"{run['gateway']}/v1/workspaces"
    if _status(workspaces, run["token"], json.dumps({"workspaceId": space}).encode()) != 201:
        return False
    return _status(f"{workspaces}/{space}/invocations", run["token"]) == 200


def _is_good(platform: LocalPlatform) -> bool:
    return _readiness(platform) == {200} and _write(platform)


def _has_database(platform: LocalPlatform) -> bool:
    async def connected() -> None:
        await (await asyncpg.connect(platform.run["databaseUrls"]["router"])).close()

    try:
        asyncio.run(connected())
    except (OSError, asyncpg.PostgresError):
        return False
    return True


def _seconds_until(condition: Callable[[], bool]) -> float:
    began = time.monotonic()
    while not condition():
        assert time.monotonic() < began + PATIENCE_SECONDS
        time.sleep(0.1)
    return time.monotonic() - began


@pytest.mark.long
@pytest.mark.rows("SOUND-12")
def test_a_full_disk_does_not_end_it_and_nothing_is_ready_until_there_is_room(tmp_path: Path) -> None:
    with volume(tmp_path / "disk", "400m") as place, started_units(_with_ports(place / "data")) as platform:
        platform.wait_ready()
        assert _is_good(platform)
        before = platform.run["pids"]["router"]
        with filled(place):
            until = time.monotonic() + _FULL_SECONDS
            os.kill(before, signal.SIGKILL)
            while time.monotonic() < until:
                _write(platform)
                time.sleep(0.1)
            assert _readiness(platform) == {503}
            assert platform.process.poll() is None
        assert _seconds_until(lambda: _is_good(platform)) < generous(5)
        _seconds_until(lambda: platform.run["pids"]["router"] != before)
        assert platform.stop() == 0
        assert platform.output.count("run.json cannot be written (No space left on device)") == 1
        assert "Traceback" not in platform.output


@pytest.mark.long
@pytest.mark.rows("SOUND-14")
def test_a_postgresql_that_dies_again_and_again_holds_nobody_up_once_it_is_back(tmp_path: Path) -> None:
    """A unit that starts in between finds it away: a Control Plane each second time."""
    with started_units(_with_ports(tmp_path / "data")) as platform:
        platform.wait_ready()
        for number in range(_KILLS):
            pids, began = platform.run["pids"], time.monotonic()
            os.kill(pids["postgres"], signal.SIGKILL)
            if number % 2:
                os.kill(pids["control-plane"], signal.SIGKILL)
            _seconds_until(lambda: _has_database(platform))
            assert _seconds_until(lambda: _write(platform)) < generous(5)
            time.sleep(max(0.0, began + _KILLS_SECONDS / _KILLS - time.monotonic()))
        assert platform.stop() == 0
        ended = [line for line in platform.output.splitlines() if " ended (" in line and "postgres" not in line]
        assert len(ended) == _KILLS // 2, "no unit ended but those that were killed"


def _with_ports(data: Path) -> Path:
    seed_ports(data)
    return data
