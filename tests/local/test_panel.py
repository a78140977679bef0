"""The panel of a ready platform: the same content with and without a terminal, in lines one can copy."""

import re
import time
from io import StringIO
from pathlib import Path

import msgspec
import pytest

from aop.base.settings import Secret
from aop.local.panel import Panel
from aop.local.terminal import LineTerminal
from aop.local.unit_logs import UnitLogs
from tests.local.test_folder import A_RUN
from tests.support.waiting import PATIENCE_SECONDS


@pytest.mark.parametrize("coloured", [True, False])
def test_every_address_and_the_sign_in_link_stand_whole_at_the_end_of_a_line(tmp_path: Path, coloured: bool) -> None:
    out = StringIO()
    with LineTerminal(out, coloured=coloured) as terminal:
        run = msgspec.structs.replace(A_RUN, console="http://127.0.0.1:8082")
        allowed = [f"127.0.0.1:{port}" for port in (8091, *range(8099, 8120), 9000, 9002)] + ["[::1]:9003", "far"]
        Panel(run, allowed, tmp_path, code=Secret("one-time")).show(terminal)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()).splitlines()
    wanted = (
        A_RUN.gateway,
        A_RUN.router,
        "http://127.0.0.1:8082/#code=one-time",
        f"aop open --data {tmp_path}",
        "127.0.0.1:8091, 127.0.0.1:8099-8119, 127.0.0.1:9000, 127.0.0.1:9002, [::1]:9003, far",
        f"aop status --data {tmp_path}",
    )
    for text in wanted:
        assert any(line.endswith(text) for line in lines), text
    assert ("\x1b" in out.getvalue()) is coloured
    assert A_RUN.token not in out.getvalue()


def test_a_terminal_whose_reader_left_does_not_disturb_the_platform() -> None:
    out = StringIO()
    out.close()
    with LineTerminal(out, coloured=False) as terminal:
        terminal.show("into the void")


def test_while_somebody_waits_for_the_start_what_goes_on_is_told_again_and_again(tmp_path: Path) -> None:
    out, deadline = StringIO(), time.monotonic() + PATIENCE_SECONDS
    with LineTerminal(out, coloured=False, max_silence=0.02) as terminal:
        logs = UnitLogs(terminal, lambda name: tmp_path / name)
        logs.begin_start()
        logs.say("creating a database")
        while out.getvalue().count("still at it after 0 s: creating a database") < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        logs.end_start()
        terminal.show("running")
    assert out.getvalue().splitlines()[-1] == "running"
