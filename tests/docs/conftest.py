"""One platform with the sample Agents for all pages of a run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aop.local.ports import any_free_port
from interop.environments import environment, prepare
from tests.docs.session import Place
from tests.support.platform import LocalPlatform, seed_ports, started_up
from tests.support.processes import require_none_left
from tools.agent_env import agent_python, names

_GATEWAY, _ROUTER, _CONSOLE, _AGENT = "127.0.0.1:8080", "127.0.0.1:8081", "127.0.0.1:8082", "127.0.0.1:8099"
_DOOR = "127.0.0.1:8083"
_SDK_AGENT, _SDK = "127.0.0.1:9999", "a2a-sdk-1"


@pytest.fixture(scope="session")
def site_port() -> int:
    """Where the site is served; the platform allows calls from there."""
    return any_free_port()


@pytest.fixture(scope="session")
def platform(
    tmp_path_factory: pytest.TempPathFactory, site_port: int
) -> Iterator[tuple[LocalPlatform, int, dict[str, str]]]:
    for name in names():
        agent_python(name)
    data, port = tmp_path_factory.mktemp("docs") / "data", any_free_port()
    ports = seed_ports(data)
    settings = {"PLATFORM_CORS_ALLOWED_ORIGINS": f"http://127.0.0.1:{site_port}"}
    with started_up(data, "--no-console", "--allow", f"127.0.0.1:{port}", settings=settings) as running:
        running.wait_ready()
        real = {_GATEWAY: ports.gateway, _ROUTER: ports.router, _CONSOLE: ports.console, _AGENT: port}
        real[_DOOR] = ports.door
        yield running, port, {written: f"127.0.0.1:{number}" for written, number in real.items()}
        assert running.stop() == 0
    require_none_left(str(data))


@pytest.fixture
def place(platform: tuple[LocalPlatform, int, dict[str, str]], tmp_path: Path) -> Place:
    running, port, addresses = platform
    prepare([_SDK], print)
    sdk_port = any_free_port()
    real = {**addresses, _SDK_AGENT: f"127.0.0.1:{sdk_port}", "port=9999": f"port={sdk_port}"}
    return Place(tmp_path, running.data, port, agent_python("summarizer"), sdk_port, environment(_SDK).python, real)
