"""`aop dev` with a platform on another machine, with a save in the worst moment, and with an environment of its own."""

import json
import re
import socket
import socketserver
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from aop.agent.guard import settings
from tests.cli.conftest import Aop, Stack
from tests.cli.developed import Developed, new_project
from tests.cli.programs import program
from tests.support.waiting import PATIENCE_SECONDS
from tools.environments import child_environment

pytestmark = pytest.mark.long
PIECE = 65536


@pytest.fixture
def developed(aop: Aop, stack: Stack, workspace: str, tmp_path: Path) -> Developed:
    return new_project(aop, stack, workspace, tmp_path)


@dataclass
class SlowGateway:
    """A relay before the Gateway that keeps back the answer to one request which replaces an Installation.

    Its address belongs to no loopback network by its form, although whatever is sent there stays on this machine.
    """

    port: int
    target: int
    arrived: Event = field(default_factory=Event)
    released: Event = field(default_factory=Event)

    @property
    def url(self) -> str:
        return f"http://0.0.0.0:{self.port}"

    def pass_on(self, caller: socket.socket) -> None:
        with caller, socket.create_connection(("127.0.0.1", self.target)) as unit:
            answers = Thread(target=self._answer, args=(unit, caller))
            answers.start()
            while piece := caller.recv(PIECE):
                if b'"replaces"' in piece:
                    self.arrived.set()
                unit.sendall(piece)
            unit.shutdown(socket.SHUT_WR)
            answers.join()

    def _answer(self, unit: socket.socket, caller: socket.socket) -> None:
        while piece := unit.recv(PIECE):
            if self.arrived.is_set():
                self.released.wait()
            try:
                caller.sendall(piece)
            except OSError:
                return


@contextmanager
def slow_gateway(target: int) -> Iterator[SlowGateway]:
    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            relay.pass_on(self.request)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Relay) as server:
        relay = SlowGateway(server.server_address[1], target)
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield relay
        finally:
            relay.released.set()
            server.shutdown()


def described(one: Developed, text: str) -> str:
    return json.dumps(one.card | {"description": text})


def test_with_remote_it_works_elsewhere_and_a_save_in_the_moment_of_a_replacement_leaves_no_version_behind(
    developed: Developed, stack: Stack
) -> None:
    one, run = developed, stack.run
    credential: Any = run["routerCredential"]
    trusted = {
        settings.ISSUER: credential["issuer"],
        settings.KEY_ID: credential["keyId"],
        settings.PUBLIC_KEY: credential["publicKey"],
        settings.ROUTER_URL: run["router"],
    }
    with slow_gateway(int(urlsplit(run["gateway"]).port or 0)) as gateway:
        elsewhere = {"AOP_GATEWAY": gateway.url, "AOP_TOKEN": stack.token, **trusted}
        with one.running("--yes", data=Path(), **elsewhere) as refused:
            one.wait("is not on this machine, and development versions would be published for everybody there")
            assert refused.wait(PATIENCE_SECONDS) == 1
        with one.running("--yes", "--remote", data=Path(), **elsewhere):
            one.wait("1.0.0-dev.1 is published and installed in")
            assert one.greeting().startswith("Hello, Ada!")
            one.wait("call   greet succeeded")
            one.save("card.json", described(one, "The second."))
            assert gateway.arrived.wait(PATIENCE_SECONDS)
            one.save("card.json", described(one, "The third."))
            assert not gateway.released.wait(2), "time to notice the save"
            gateway.released.set()
            one.wait("1.0.0-dev.3 is published and takes the place of 1.0.0-dev.2")
            one.wait("is published and takes the place of 1.0.0-dev.1")
    assert one.versions() == {"1.0.0-dev.1": "disabled", "1.0.0-dev.2": "disabled", "1.0.0-dev.3": "published"}


def test_a_project_has_an_environment_of_its_own_which_follows_its_requirements(
    developed: Developed, stack: Stack
) -> None:
    one = developed
    skills = next(one.folder.glob("*/skills.py"))
    told = "\nimport sys, importlib.util as found\nprint('prefix', sys.prefix, bool(found.find_spec('iniconfig')))\n"
    skills.write_text(skills.read_text() + told)
    own = {name: value for name, value in child_environment().items() if not re.match("AOP_|PLATFORM_", name)}
    command = ("dev", str(one.folder), "-w", one.workspace, "--yes")
    with program(*command, data=stack.platform.data, log=one.log, **own | {"AOP_DATA": str(stack.platform.data)}):
        one.wait("setting up")
        one.wait("is published and installed")
        assert f"prefix {one.folder}/.venv False" in one.log.read_text()
        assert one.greeting().startswith("Hello, Ada!")
        one.save("requirements.txt", (one.folder / "requirements.txt").read_text() + "iniconfig\n")
        one.wait(f"prefix {one.folder}/.venv True")
        one.wait(f"the Workspace {one.workspace} has this Card")
        one.save("requirements.txt", "no-such-package-of-anybody==9.9.9\n")
        one.wait("the environment could not be made")
        one.wait("waiting for the next save")
    assert one.versions() == {"1.0.0-dev.1": "published"}
