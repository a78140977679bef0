"""The supervisor, with small stand-in units: readiness, restarts, stopping, and its own violent end."""

import asyncio
import errno
import json
import os
import re
import signal
import socket
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest

from aop.local.log_lines import LogLines
from aop.local.problems import UnitFailed
from aop.local.supervisor import UnitSupervisor
from aop.local.terminal import LineTerminal
from aop.local.unit import SupervisedUnit
from aop.local.unit_logs import UnitLogs
from aop.net.sockets import listening_socket
from aop.processes.child import Child, Launch
from tests.local.supervised import always, http_unit, logs, never, python
from tests.support.processes import is_alive, require_none_left
from tests.support.waiting import becomes_true, generous, patience


@pytest.mark.second_ring
async def test_start_returns_when_the_unit_answers_ready_and_leaving_stops_it(tmp_path: Path) -> None:
    pids: dict[str, int] = {}
    async with UnitSupervisor(logs(tmp_path)) as supervisor:
        await supervisor.start(http_unit(tmp_path))
        watching = asyncio.create_task(supervisor.watch(pids.update))
        await asyncio.sleep(0)
        assert is_alive(pids["web"])
        watching.cancel()
    assert not is_alive(pids["web"])
    assert (tmp_path / "web.log").read_text() == "a first line\n"


@pytest.mark.second_ring
async def test_a_unit_that_dies_is_started_again_with_a_new_process_and_that_is_reported(tmp_path: Path) -> None:
    reported: asyncio.Queue[dict[str, int]] = asyncio.Queue()
    async with UnitSupervisor(logs(tmp_path)) as supervisor:
        await supervisor.start(http_unit(tmp_path))
        watching = asyncio.create_task(supervisor.watch(reported.put_nowait))
        before = (await reported.get())["web"]
        os.kill(before, signal.SIGKILL)
        async with patience():
            after = (await reported.get())["web"]
        assert after != before
        watching.cancel()


@pytest.mark.second_ring
async def test_a_unit_that_refuses_its_settings_is_not_started_again_and_its_words_are_told(tmp_path: Path) -> None:
    code = "import sys; print('PLATFORM_X is set but blank'); sys.exit(78)"
    async with UnitSupervisor(logs(tmp_path)) as supervisor:
        with pytest.raises(UnitFailed, match=r"refuses to run.*\n.*PLATFORM_X is set but blank"):
            await supervisor.start(SupervisedUnit("odd", python(tmp_path, code), never))


@pytest.mark.second_ring
async def test_a_unit_that_begins_to_refuse_its_settings_later_ends_the_watch(tmp_path: Path) -> None:
    code = "import sys, time; time.sleep(0.3); sys.exit(78)"
    async with UnitSupervisor(logs(tmp_path)) as supervisor:
        await supervisor.start(SupervisedUnit("odd", python(tmp_path, code), always))
        with pytest.raises(UnitFailed, match="odd refuses to run"):
            await supervisor.watch(lambda _: None)


@pytest.mark.second_ring
async def test_a_unit_whose_others_can_go_on_stays_stopped_when_it_refuses_later_and_its_words_are_told(
    tmp_path: Path,
) -> None:
    code = "import sys, time; time.sleep(0.3); print('somebody else uses this id'); sys.exit(78)"
    out, reported = StringIO(), list[dict[str, int]]()
    listener = socket.create_server(("127.0.0.1", 0))
    place = listener.getsockname()
    launch = replace(python(tmp_path, code), listeners=(listener,))
    kept = UnitLogs(LineTerminal(out, coloured=False), lambda name: tmp_path / f"{name}.log")
    with kept.terminal:
        async with UnitSupervisor(kept) as supervisor:
            await supervisor.start(SupervisedUnit("odd", launch, always, may_stay_down=True), http_unit(tmp_path))
            watching = asyncio.create_task(supervisor.watch(reported.append))

            async def is_reported() -> bool:
                return bool(reported) and set(reported[-1]) == {"web"}

            await becomes_true(is_reported)
            assert is_alive(reported[-1]["web"])
            assert not watching.done()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(place)
            watching.cancel()
    assert "odd refuses to run and stays stopped; the other units go on" in out.getvalue()
    assert "somebody else uses this id" in out.getvalue()


@pytest.mark.second_ring
async def test_a_unit_that_refuses_at_its_first_start_fails_even_if_others_could_go_on(tmp_path: Path) -> None:
    async with UnitSupervisor(logs(tmp_path)) as supervisor:
        with pytest.raises(UnitFailed, match="refuses to run"):
            await supervisor.start(
                SupervisedUnit("odd", python(tmp_path, "raise SystemExit(78)"), never, may_stay_down=True)
            )


@pytest.mark.second_ring
async def test_a_unit_that_keeps_dying_is_started_again_after_twice_the_time_each_time(tmp_path: Path) -> None:
    """Its own clock tells when it was started; the terminal tells how long the pause was meant to be."""
    code = (
        "import os, sys, time; open(sys.argv[1], 'a').write(f'{time.monotonic()}\\n')\n"
        "while not os.path.exists(sys.argv[2]): time.sleep(0.01)"
    )
    starts, seen, out = tmp_path / "starts", tmp_path / "seen", StringIO()
    kept = UnitLogs(LineTerminal(out, coloured=False), lambda name: tmp_path / f"{name}.log")

    async def seen_ready(_: int) -> bool:
        """One that ends before it was seen ready is not started again."""
        seen.touch()
        return True

    async def four_starts() -> bool:
        return starts.exists() and len(starts.read_text().split()) == 4

    with kept.terminal:
        async with UnitSupervisor(kept) as supervisor:
            supervisor.begin(SupervisedUnit("mortal", python(tmp_path, code, str(starts), str(seen)), seen_ready))
            await becomes_true(four_starts)
    assert re.findall(r"starting it again in (\S+) s", out.getvalue())[:3] == ["0.5", "1", "2"]
    moments = [float(line) for line in starts.read_text().split()]
    assert all(later - earlier >= pause for (earlier, later), pause in zip(pairwise(moments), (0.5, 1, 2), strict=True))


@pytest.mark.rows("SOUND-12")
async def test_a_unit_that_can_not_be_started_again_for_want_of_processes_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, out, reported = Child.start, StringIO(), asyncio.Queue[dict[str, int]]()
    kept = UnitLogs(LineTerminal(out, coloured=False), lambda name: tmp_path / f"{name}.log")

    async def none_is_left(_: Launch) -> Child:
        monkeypatch.setattr(Child, "start", start)
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    with kept.terminal:
        async with UnitSupervisor(kept) as supervisor:
            await supervisor.start(SupervisedUnit("web", python(tmp_path, "import time; time.sleep(60)"), always))
            watching = asyncio.create_task(supervisor.watch(reported.put_nowait))
            before = (await reported.get())["web"]
            monkeypatch.setattr(Child, "start", none_is_left)
            os.kill(before, signal.SIGKILL)
            async with patience():
                assert (await reported.get())["web"] != before
            assert not watching.done()
            watching.cancel()
    said = "web ended (it could not be started: Resource temporarily unavailable); starting it again in 1 s"
    assert out.getvalue().count(said) == 1


@pytest.mark.second_ring
async def test_a_full_disk_does_not_stop_a_unit_whose_log_nobody_can_keep(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys\n"
        "for number in range(20_000): print('a line of its log', number, flush=True)\n"
        "pathlib.Path(sys.argv[1]).touch()\n"
        "import time; time.sleep(60)\n"
    )
    done, out = tmp_path / "done", StringIO()
    kept = UnitLogs(LineTerminal(out, coloured=False), lambda name: Path("/dev/full"))

    async def is_through(_: int) -> bool:
        return done.exists()

    with kept.terminal:
        async with UnitSupervisor(kept) as supervisor:
            await supervisor.start(
                SupervisedUnit("chatty", python(tmp_path, code, str(done)), is_through, visible=False)
            )
    assert out.getvalue().count("the log file of chatty cannot be written: No space left on device") == 1


@pytest.mark.second_ring
async def test_a_unit_is_handed_its_socket_and_nobody_can_take_the_port_while_it_is_down(tmp_path: Path) -> None:
    code = (
        "import os, socket\n"
        "assert os.environ['LISTEN_PID'] == str(os.getpid()) and os.environ['LISTEN_FDS'] == '1'\n"
        "peer, _ = socket.socket(fileno=3).accept()\n"
        "peer.sendall(str(os.getpid()).encode())\n"
        "peer.close()\n"
    )
    with listening_socket("127.0.0.1", 0) as listener:
        launch, place = replace(python(tmp_path, code), listeners=(listener,)), listener.getsockname()
        seen = set()
        async with UnitSupervisor(logs(tmp_path)) as supervisor:
            supervisor.begin(SupervisedUnit("single", launch, always))
            await supervisor.ready()  # one that ends before it was seen ready is not started again
            for _ in range(3):  # it ends with each answer, so most of the time nobody runs
                with pytest.raises(OSError, match="in use"):
                    listening_socket(*place)
                reader, writer = await asyncio.open_connection(*place)
                seen.add(await reader.read())
                writer.close()
        assert len(seen) == 3


@pytest.mark.second_ring
async def test_a_unit_that_ends_before_it_was_ready_fails_the_start_and_the_others_are_stopped(tmp_path: Path) -> None:
    with pytest.raises(UnitFailed, match=r"short ended before it was ready \(exit code 3\)"):
        async with UnitSupervisor(logs(tmp_path)) as supervisor:
            await supervisor.start(
                http_unit(tmp_path), SupervisedUnit("short", python(tmp_path, "import sys; sys.exit(3)"), never)
            )
    require_none_left(str(tmp_path))


@pytest.mark.second_ring
async def test_a_unit_that_never_becomes_ready_fails_the_start_with_its_last_lines(tmp_path: Path) -> None:
    code = "import time; print('still looking', flush=True); time.sleep(60)"
    with pytest.raises(UnitFailed, match=r"not ready within \S+ s.*\n.*still looking"):
        async with UnitSupervisor(logs(tmp_path), ready_seconds=generous(0.3)) as supervisor:
            await supervisor.start(SupervisedUnit("slow", python(tmp_path, code), never))
    require_none_left(str(tmp_path))


@pytest.mark.rows("SOUND-12", "SOUND-14")
async def test_a_unit_that_was_ready_once_may_wait_for_its_store_after_it_was_started_again(tmp_path: Path) -> None:
    first, asked = set[int](), list[int]()

    async def ready_at_first(pid: int) -> bool:
        first.add(pid) if not first else asked.append(pid)
        return pid in first

    seconds, loop = generous(0.1), asyncio.get_running_loop()
    code = "import time; time.sleep(60)"
    async with UnitSupervisor(logs(tmp_path), ready_seconds=seconds) as supervisor:
        await supervisor.start(SupervisedUnit("slow", python(tmp_path, code), ready_at_first))
        watching = asyncio.create_task(supervisor.watch(lambda _: None))
        os.kill(next(iter(first)), signal.SIGKILL)
        began = loop.time()

        async def has_waited() -> bool:
            return bool(asked) and loop.time() > began + 2 * seconds

        await becomes_true(has_waited)
        assert not watching.done()
        assert is_alive(asked[-1])
        watching.cancel()


@pytest.mark.second_ring
async def test_a_unit_that_fails_while_others_are_awaited_is_told_at_once(tmp_path: Path) -> None:
    async with UnitSupervisor(logs(tmp_path)) as supervisor:
        supervisor.begin(SupervisedUnit("broken", python(tmp_path, "raise SystemExit('no')"), never, label="Broken"))
        with pytest.raises(UnitFailed, match=r"(?s)Broken ended before it was ready.*no"):
            await supervisor.start(SupervisedUnit("waiting", python(tmp_path, "import time; time.sleep(60)"), never))


@pytest.mark.second_ring
async def test_probes_of_health_and_requests_of_a_start_are_in_the_log_file_alone(tmp_path: Path) -> None:
    def record(**members: object) -> str:
        return json.dumps({"level": "info", "event": "request", **members})

    lines = [record(method="GET", route="/readyz", status=200), record(method="GET", route="/v1/agents", status=200)]
    shown = {}
    for wanted in (True, False):
        out = StringIO()
        with LineTerminal(out, coloured=False) as terminal:
            kept = UnitLogs(terminal, lambda name: tmp_path / f"{name}.log")
            kept.shows_requests = wanted
            reader = asyncio.StreamReader()
            reader.feed_data("".join(f"{line}\n" for line in [*lines, "words"]).encode())
            reader.feed_eof()
            await kept.follow(f"web-{wanted}", reader, visible=True)
        shown[wanted] = [line.split(maxsplit=1)[1] for line in out.getvalue().splitlines()]
        assert len((tmp_path / f"web-{wanted}.log").read_text().splitlines()) == 3
    assert shown == {True: ["GET /v1/agents 200", "words"], False: ["words"]}


@pytest.mark.second_ring
async def test_a_command_that_cannot_be_run_is_named(tmp_path: Path) -> None:
    child = await Child.start(Launch(("/no/such/program",), {}))
    assert child.output is not None
    assert b"cannot run /no/such/program" in await child.output.read()
    assert await child.wait() == 1


def on_screen(name: str, line: str, *, coloured: bool = False) -> str:
    out = StringIO()
    with LineTerminal(out, coloured=coloured) as terminal:
        terminal.show(*LogLines().render(name, line))
    return out.getvalue().removesuffix("\n")


@pytest.mark.second_ring
def test_a_request_record_is_shown_as_one_readable_line() -> None:
    record = {
        "time": "2026-01-01T00:00:00.000000Z", "level": "info", "unit": "control-plane", "event": "request",
        "method": "POST", "route": "/v1/agents", "status": 201, "traceId": "0" * 31 + "1", "milliseconds": 3.2,
    }  # fmt: skip
    assert (
        on_screen("control-plane", json.dumps(record)) == f"control-plane POST /v1/agents 201 3.2 ms trace={'0' * 31}1"
    )


@pytest.mark.second_ring
def test_a_line_that_is_no_record_is_shown_as_it_is() -> None:
    nested = '{"x":' + "[" * 100_000
    for line in ("Traceback:", nested):
        assert on_screen("router", line).split(maxsplit=1) == ["router", line]
        assert not LogLines().is_request(line)


@pytest.mark.second_ring
def test_colour_marks_failures_and_appears_only_when_wanted() -> None:
    record = json.dumps({"level": "error", "event": "unit.failed", "cause": "OSError"})
    assert "\x1b[31munit.failed: OSError" in on_screen("router", record, coloured=True)
    assert "\x1b" not in on_screen("router", record)
