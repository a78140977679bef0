"""The worked example of the guide on events: JetStream has every event once, whoever is killed meanwhile."""

import json
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from aop.local.ports import any_free_port
from tests.cli.conftest import Aop, Stack
from tests.cli.test_ledger_follow import call, numbered, space  # noqa: F401  (a fixture)
from tests.support.waiting import PATIENCE_SECONDS
from tools.environments import ROOT, Environment, ready

_FOLDER = ROOT / "interop" / "jetstream"
_NATS = Environment("interop/jetstream", _FOLDER / "requirements.lock", (ROOT / "src",), 10)
_ROUNDS = 4


@contextmanager
def process(*command: str, log: Path, **settings: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Running until the block is left, then killed: nothing here may rely on an orderly end."""
    with log.open("ab") as out:
        started = subprocess.Popen(command, env=settings, stdout=out, stderr=out)
    try:
        yield started
    finally:
        started.send_signal(signal.SIGKILL)
        started.wait()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def contents(port: int) -> Sequence[str]:
    """The ids in the stream, in its order; none while there is no stream yet."""
    command = [str(_NATS.python), str(_FOLDER / "contents.py"), f"nats://127.0.0.1:{port}", "AOP", "aop.events"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else ()


def has_more_than(port: int, messages: int) -> bool:
    return len(contents(port)) > messages


@pytest.mark.long
def test_the_stream_has_every_event_once_while_exporter_and_server_are_killed(
    aop: Aop,
    stack: Stack,
    space: str,  # noqa: F811  (the fixture)
    tmp_path: Path,
) -> None:
    ready([_NATS], print)
    port, position = any_free_port(), tmp_path / "position"
    server = (str(_NATS.folder / "bin" / "nats-server"), "-js", "-a", "127.0.0.1", "-p", str(port))
    exporter = (
        *(str(_NATS.python), str(_FOLDER / "export.py"), "--gateway", stack.run["gateway"], "--workspace", space),
        *("--nats", f"nats://127.0.0.1:{port}", "--position", str(position)),
    )
    made = 0
    for turn in range(_ROUNDS):
        with process(*server, "-sd", str(tmp_path / "store"), log=tmp_path / "nats.log"):
            until(lambda: listens(port))
            before = len(contents(port))
            with process(*exporter, log=tmp_path / "exporter.log", AOP_TOKEN=stack.token):
                for _ in range(3):
                    call(aop, space)
                    made += 1
                # In the middle of the work, at another point in each turn.
                until(partial(has_more_than, port, before + turn))
    events = numbered(aop, space, 4 * made)
    with process(*server, "-sd", str(tmp_path / "store"), log=tmp_path / "nats.log"):
        until(lambda: listens(port))
        with process(*exporter, log=tmp_path / "exporter.log", AOP_TOKEN=stack.token):
            until(partial(has_more_than, port, len(events) - 1))
        assert list(contents(port)) == [event["id"] for event in events]
