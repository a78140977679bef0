"""`aop up` from outside: what it starts, tells and keeps, and how it ends."""

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aop.client import PlatformError, SyncClient
from aop.local.ports import any_free_port
from aop.local.problems import NotRunning
from aop.local.state import load_run
from aop.net.sockets import listening_socket
from tests.local.units_alone import EXTERNAL, started_units
from tests.support.platform import LocalPlatform, get, seed_ports
from tests.support.postgres import running_postgres
from tests.support.processes import children, is_alive, require_none_left
from tests.support.waiting import PATIENCE_SECONDS, generous

pytestmark = pytest.mark.second_ring


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalPlatform]:
    data = tmp_path_factory.mktemp("up") / "data"
    seed_ports(data)
    with started_units(data, "--allow", "127.0.0.1:9000") as running:
        running.wait_ready()
        yield running
        assert running.stop() == 0
    require_none_left(str(data))


@pytest.mark.rows("OPS-01")
def test_without_configuration_both_units_are_ready_and_the_record_says_where(platform: LocalPlatform) -> None:
    run = platform.run
    assert get(run["gateway"] + "/readyz")[0] == get(run["router"] + "/readyz")[0] == 200
    assert get(run["console"] + "/readyz")[0] == 200
    assert get(run["door"] + "/readyz")[0] == 200
    assert set(run) == {
        "gateway", "router", "console", "door", "principal", "token", "routerCredential", "serviceTokens",
        "databaseUrls", "pids", "allowed",
    }  # fmt: skip
    assert {"127.0.0.1:8099", "127.0.0.1:9000"} <= set(run["allowed"])
    assert set(run["pids"]) == {"postgres", "control-plane", "router", "console", "door"}
    assert all(is_alive(pid) for pid in run["pids"].values())
    assert set(run["databaseUrls"]) == {"controlPlane", "router", "migration"}
    assert run["routerCredential"]["issuer"] == run["router"]
    assert len(base64.urlsafe_b64decode(run["routerCredential"]["publicKey"] + "=")) == 32
    assert (platform.data / "run.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.rows("OPS-01", "OPS-02", "CALL-04")
def test_the_panel_shows_addresses_a_link_that_signs_in_once_and_the_allow_list_and_never_a_token(
    platform: LocalPlatform,
) -> None:
    run, output = platform.run, platform.output
    samples = [f"127.0.0.1:{port}" for port in json.loads((platform.data / "ports.json").read_text())["agents"]]
    for shown in (
        run["gateway"],
        run["router"],
        f"{run['console']}/#code=",
        f"{run['door']}/mcp/",
        ", ".join([*samples, "127.0.0.1:8099-8119", "127.0.0.1:9000"]),
    ):
        assert shown in output
    (code,) = re.findall(r"/#code=(\S{43})$", output, re.MULTILINE)
    with SyncClient(run["gateway"]) as client:
        session = client.sign_in(code)
        assert session.principal_id == run["principal"]
        with pytest.raises(PlatformError, match="sign_in_code"):
            client.sign_in(code)
    assert run["token"] not in output
    logs = "".join(path.read_text() for path in (platform.data / "logs").iterdir())
    secrets = json.loads((platform.data / "secrets.json").read_text())
    assert not any(secret in logs for secret in (run["token"], code, session.token, *secrets.values()))


def test_other_commands_find_the_running_platform(platform: LocalPlatform) -> None:
    assert load_run(platform.data).gateway == platform.run["gateway"]


def test_a_second_up_on_the_same_folder_says_so_and_exits(platform: LocalPlatform) -> None:
    with started_units(platform.data) as second:
        assert second.process.wait(20) == 1
        assert f"already runs on {platform.data} (process {platform.process.pid})" in second.output
        assert "Traceback" not in second.output
    assert get(platform.run["gateway"] + "/readyz")[0] == 200


@pytest.mark.parametrize("name", ["router", "control-plane", "postgres"])
def test_a_unit_that_is_killed_comes_back_on_the_same_port(platform: LocalPlatform, name: str) -> None:
    before = platform.run
    os.kill(before["pids"][name], signal.SIGKILL)
    eventually(lambda: platform.run["pids"].get(name) not in (None, before["pids"][name]))
    eventually(lambda: ready(before["gateway"]) and ready(before["router"]))
    assert platform.run == before | {"pids": platform.run["pids"]}


@pytest.mark.rows("SAFE-13")
def test_nobody_can_take_the_port_of_a_unit_that_is_down(platform: LocalPlatform) -> None:
    before = platform.run
    port = int(before["router"].rpartition(":")[2])
    os.kill(before["pids"]["router"], signal.SIGKILL)
    while platform.run["pids"].get("router") == before["pids"]["router"]:
        with pytest.raises(OSError, match="in use"):
            listening_socket("127.0.0.1", port)
        time.sleep(0.02)
    eventually(lambda: ready(before["router"]))


@pytest.mark.long
@pytest.mark.rows("SAFE-13")
def test_two_platforms_started_at_once_on_new_folders_get_different_ports_and_both_run(tmp_path: Path) -> None:
    with started_units(tmp_path / "one") as one, started_units(tmp_path / "two") as two:
        for platform in (one, two):
            platform.wait_ready()
        origins = [platform.run[unit] for platform in (one, two) for unit in ("gateway", "router", "console", "door")]
        assert len(set(origins)) == 8
        assert all(ready(origin) for origin in origins)
        for platform in (one, two):
            assert is_alive(platform.run["pids"]["router"])
            assert platform.stop() == 0
            assert "ended" not in platform.output


@pytest.mark.long
@pytest.mark.rows("SAFE-13")
def test_a_second_router_with_the_same_id_does_not_start_and_a_closed_one_stops_alone_and_is_named(
    tmp_path: Path,
) -> None:
    data, place = tmp_path / "data", f"127.0.0.1:{any_free_port()}"
    seed_ports(data)
    with started_units(data) as platform:
        platform.wait_ready()
        first = platform.run["pids"]["router"]
        lines = Path(f"/proc/{first}/environ").read_text().split("\0")
        environment = dict(line.split("=", 1) for line in lines if "=" in line)
        environment["PLATFORM_ROUTER_LISTEN_ADDRESS"] = place
        command = [sys.executable, "-P", "-m", "aop", "router"]
        second = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (second.returncode, "another unit of the Router with this id runs" in second.stderr) == (78, True)
        assert is_alive(first)
        closed = subprocess.run([*command, "close", "--router-id", "router-1"], env=environment, check=False)
        assert closed.returncode == 0
        eventually(lambda: "router" not in platform.run["pids"])
        assert platform.process.poll() is None
        assert not is_alive(first)
        assert all(is_alive(pid) for pid in platform.run["pids"].values())
        assert get(platform.run["gateway"] + "/livez")[0] == 200
        assert "router refuses to run and stays stopped; the other units go on" in platform.output
        assert "PLATFORM_ROUTER_ID: another Router process that started later uses this id" in platform.output
        assert platform.stop() == 0


@pytest.mark.long
@pytest.mark.rows("HA-05")
def test_every_unit_has_the_workers_asked_for_and_all_stop_together(tmp_path: Path) -> None:
    data = tmp_path / "data"
    seed_ports(data)
    with started_units(data, "--workers", "2", "--no-console") as platform:
        platform.wait_ready()
        workers = {name: children(platform.run["pids"][name]) for name in ("control-plane", "router", "door")}
        assert {name: len(pids) for name, pids in workers.items()} == {"control-plane": 2, "router": 2, "door": 2}
        assert platform.stop() == 0
        assert not any(is_alive(pid) for pids in workers.values() for pid in pids)
    require_none_left(str(data))


def test_a_restart_of_the_folder_keeps_ports_keys_tokens_and_data(tmp_path: Path) -> None:
    data = tmp_path / "data"
    seed_ports(data)
    runs = []
    for number in (signal.SIGTERM, signal.SIGHUP):
        with started_units(data) as platform:
            platform.wait_ready()
            runs.append(platform.run)
            began = time.monotonic()
            assert platform.stop(number) == 0
            assert time.monotonic() - began < generous(4)
        require_none_left(str(data))
        assert not (data / "run.json").exists()
    first, second = runs
    for member in ("gateway", "router", "serviceTokens", "routerCredential"):
        assert first[member] == second[member]
    assert first["token"] != second["token"]


@pytest.mark.long
def test_a_killed_supervisor_leaves_nothing_running_and_the_next_start_works(tmp_path: Path) -> None:
    data = tmp_path / "data"
    seed_ports(data)
    with started_units(data) as platform:
        platform.wait_ready()
        platform.process.kill()
        platform.process.wait()
        require_none_left(str(data))
        with pytest.raises(NotRunning):
            load_run(data)
    with started_units(data) as again:
        again.wait_ready()
        assert again.stop() == 0


def test_an_interruption_while_starting_leaves_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    seed_ports(data)
    with started_units(data) as platform:
        eventually((data / "postgres").exists)
        assert platform.stop() == 0
    require_none_left(str(data))


def test_with_an_external_database_none_is_started(tmp_path: Path) -> None:
    data = tmp_path / "data"
    seed_ports(data)
    with running_postgres(tmp_path) as server:
        urls = server.platform_urls("platform_template")
        settings = dict(zip(EXTERNAL, (urls.control_plane, urls.router, urls.migration), strict=True))
        with started_units(data, settings=settings) as platform:
            platform.wait_ready()
            assert set(platform.run["pids"]) == {"control-plane", "router", "console", "door"}
            assert not (data / "postgres").exists()
            assert platform.stop() == 0


def eventually(condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.03)


def ready(origin: str) -> bool:
    try:
        return get(origin + "/readyz")[0] == 200
    except OSError:
        return False
