"""How units end: in the reverse order of their start, killed when deaf, and never left behind."""

import asyncio
import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aop.local.supervisor import UnitSupervisor
from aop.local.unit import SupervisedUnit
from tests.local.supervised import always, http_unit, logs, never, python
from tests.support.processes import is_alive, require_none_left
from tests.support.waiting import generous

pytestmark = pytest.mark.second_ring


async def test_units_stop_in_the_reverse_order_of_their_start(tmp_path: Path) -> None:
    code = (
        "import pathlib, signal, sys, time\n"
        "def stop(*_):\n"
        "    with open(sys.argv[1], 'a') as order: order.write(sys.argv[2])\n"
        "    sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, stop)\n"
        "pathlib.Path(sys.argv[1] + sys.argv[2]).touch()\n"
        "time.sleep(60)\n"
    )
    order = tmp_path / "order"

    def unit(name: str) -> SupervisedUnit:
        async def prepared(_: int) -> bool:
            return Path(f"{order}{name}").exists()  # noqa: ASYNC240

        return SupervisedUnit(name, python(tmp_path, code, str(order), name), prepared)

    async with UnitSupervisor(logs(tmp_path)) as supervisor:
        for name in "abc":
            await supervisor.start(unit(name))
    assert order.read_text() == "cba"


async def test_a_unit_deaf_to_sigterm_is_killed_with_everything_it_started(tmp_path: Path) -> None:
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "ignoring = 'import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)'\n"
        "subprocess.Popen([sys.executable, '-c', ignoring])\n"
        "time.sleep(60)\n"
    )
    async with UnitSupervisor(logs(tmp_path)) as supervisor:
        await supervisor.start(SupervisedUnit("deaf", python(tmp_path, code), always, stop_seconds=0.3))
        await asyncio.sleep(0.3)
        began = time.monotonic()
    assert time.monotonic() - began < generous(2)
    require_none_left(str(tmp_path))


async def test_hurry_ends_a_unit_that_takes_its_time(tmp_path: Path) -> None:
    code = (
        "import pathlib, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pathlib.Path(sys.argv[1]).touch()\n"
        "time.sleep(60)\n"
    )

    async def deaf(_: int) -> bool:
        return (tmp_path / "deaf").exists()

    supervisor = UnitSupervisor(logs(tmp_path))
    began = time.monotonic()
    async with supervisor:
        await supervisor.start(
            SupervisedUnit("slow", python(tmp_path, code, str(tmp_path / "deaf")), deaf, stop_seconds=30)
        )
        asyncio.get_running_loop().call_later(0.2, supervisor.hurry)
    assert time.monotonic() - began < generous(5)


@pytest.mark.parametrize("turns", range(6))
def test_hurry_while_a_unit_is_being_started_leaves_no_process_behind(tmp_path: Path, turns: int) -> None:
    async def life() -> None:
        async with UnitSupervisor(logs(tmp_path)) as supervisor:
            supervisor.begin(SupervisedUnit("sleeper", python(tmp_path, "import time; time.sleep(60)"), never))
            for _ in range(turns):
                await asyncio.sleep(0)
            supervisor.hurry()
            await asyncio.sleep(0)

    asyncio.run(life())
    require_none_left(str(tmp_path))
    gc.collect()  # a process whose end nobody awaited would be reported here


async def test_what_begins_together_is_stopped_together(tmp_path: Path) -> None:
    slow = (
        "import pathlib, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (time.sleep(0.6), sys.exit()))\n"
        "pathlib.Path(sys.argv[1]).touch()\n"
        "time.sleep(60)\n"
    )

    def unit(name: str) -> SupervisedUnit:
        async def prepared(_: int) -> bool:
            return (tmp_path / name).exists()

        return SupervisedUnit(name, python(tmp_path, slow, str(tmp_path / name)), prepared)

    async with UnitSupervisor(logs(tmp_path)) as supervisor:
        supervisor.begin(http_unit(tmp_path, "first"))
        supervisor.begin(*map(unit, ("slow-1", "slow-2", "slow-3")))
        await supervisor.ready()
        began = time.monotonic()
    assert 0.5 < time.monotonic() - began < generous(1.5)


def test_a_killed_supervisor_leaves_no_unit_behind(tmp_path: Path) -> None:
    code = f"""
import asyncio, sys
from pathlib import Path

import pytest
from aop.local.supervisor import UnitSupervisor
from aop.local.unit import SupervisedUnit
from tests.local.supervised import always, logs, python

async def main():
    folder = Path({str(tmp_path)!r})
    async with UnitSupervisor(logs(folder)) as supervisor:
        await supervisor.start(SupervisedUnit("sleeper", python(folder, "import time; time.sleep(60)"), always))
        await supervisor.watch(lambda pids: print(pids["sleeper"], flush=True))

asyncio.run(main())
"""
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        pid = int(supervisor.stdout.readline())
        assert is_alive(pid)
        supervisor.kill()
    require_none_left(str(tmp_path))


async def test_a_child_started_while_its_parent_is_already_gone_does_not_run(tmp_path: Path) -> None:
    launch = python(tmp_path, "print('ran')")
    arguments = list(launch.arguments())
    arguments[arguments.index(str(os.getpid()))] = "1"
    orphan = await asyncio.create_subprocess_exec(
        *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, _ = await orphan.communicate()
    assert (out, orphan.returncode) == (b"", 1)
