"""The data folder: one platform at a time, private files, ports and secrets that stay."""

import json
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
import pytest

from aop.base.canonical import from_base64url
from aop.contracts.signing import SigningKey
from aop.local.ports import Listeners, Ports, any_free_port, is_free, store_ports, stored_ports
from aop.local.problems import DataFolderBusy, DataFolderUnusable, NotRunning, PortTaken
from aop.local.secrets import keep_secrets
from aop.local.state import DatabaseUrls, DataFolder, RouterCredential, Run, RunRecord, ServiceTokens, load_run
from aop.local.unit_logs import LogFile
from aop.net.address_settings import ListenAddress
from tests.support.volumes import filled, volume
from tests.support.waiting import becomes_true

A_RUN = Run(
    gateway="http://127.0.0.1:8080",
    router="http://127.0.0.1:8081",
    principal="local",
    token="aop_canary",
    router_credential=RouterCredential("http://127.0.0.1:8081", "router-1", "public"),
    service_tokens=ServiceTokens("canary-there", "canary-back"),
    database_urls=DatabaseUrls("postgresql://canary/1", "postgresql://canary/2", "postgresql://canary/3"),
    pids={"postgres": 1, "control-plane": 2, "router": 3},
)


def test_a_second_platform_on_the_same_folder_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with DataFolder(tmp_path / "data"), pytest.raises(DataFolderBusy, match=f"process {os.getpid()}"):
        DataFolder(tmp_path / "data").__enter__()
    with DataFolder(tmp_path / "data"):
        pass


def test_a_place_that_cannot_be_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/no-such-place")):
        with pytest.raises(DataFolderUnusable, match=f"{place} cannot be used as data folder"):
            DataFolder(place).__enter__()


def test_the_folder_and_what_is_written_there_are_private(tmp_path: Path) -> None:
    with DataFolder(tmp_path / "data") as folder:
        keep_secrets(folder)
        folder.record_run(A_RUN)
        modes = {path.name: path.stat().st_mode & 0o777 for path in (folder.path, *folder.path.glob("*.json"))}
    assert modes == {"data": 0o700, "secrets.json": 0o600, "run.json": 0o600}


@pytest.mark.rows("SOUND-12")
async def test_a_record_that_a_full_disk_refuses_is_written_when_there_is_room(tmp_path: Path) -> None:
    said = list[str]()

    async def is_written() -> bool:
        return load_run(tmp_path / "data").pids == {"router": 5}

    with volume(tmp_path / "data", "64k") as place, DataFolder(place) as folder:
        record = RunRecord(folder, A_RUN, said.append)
        record.change({"router": 3})
        with filled(place):
            for pid in (4, 5):
                record.change({"router": pid})
            assert load_run(place).pids == {"router": 3}
        await becomes_true(is_written)
        assert said == [
            "run.json cannot be written (No space left on device); it is tried again until it can",
            "run.json is written again",
        ]
        record.forget()
        assert not (place / "run.json").exists()


@pytest.mark.rows("SOUND-12")
def test_a_log_file_that_could_not_be_opened_is_opened_for_a_later_line(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "logs" / "router.log")
    with pytest.raises(FileNotFoundError):
        log.write(b"lost\n")
    (tmp_path / "logs").mkdir()
    log.write(b"a line\n")
    log.close()
    assert (tmp_path / "logs" / "router.log").read_bytes() == b"a line\n"


def test_a_run_is_found_while_its_platform_runs_and_not_after_it_was_killed(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        folder.record_run(A_RUN)
        assert load_run(tmp_path) == A_RUN
    with pytest.raises(NotRunning, match="no platform is running"):
        load_run(tmp_path)
    with pytest.raises(NotRunning):
        load_run(tmp_path / "nowhere")
    with DataFolder(tmp_path):
        assert not (tmp_path / "run.json").exists()


def test_members_of_parts_that_do_not_run_are_absent_and_secrets_are_not_in_the_repr(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        folder.record_run(A_RUN)
        recorded = json.loads((tmp_path / "run.json").read_text())
    assert set(recorded) == {
        "gateway", "router", "principal", "token", "routerCredential", "serviceTokens", "databaseUrls", "pids"
    }  # fmt: skip
    assert "canary" not in repr(A_RUN) + repr(A_RUN.service_tokens) + repr(A_RUN.database_urls)


def test_secrets_are_made_once_and_the_signing_key_fits_the_contract(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        made = keep_secrets(folder)
        assert keep_secrets(folder) == made
    assert len(from_base64url(made.router_credential_key)) == 64
    SigningKey.parse(made.router_credential_key)
    assert made.control_plane_to_router != made.router_to_control_plane
    assert made.router_credential_key not in repr(made)


@pytest.mark.parametrize("name", ["secrets.json", "ports.json"])
def test_a_damaged_file_of_the_folder_is_named(tmp_path: Path, name: str) -> None:
    with DataFolder(tmp_path) as folder:
        folder.write(name, b"{}x")
        with pytest.raises(DataFolderUnusable, match=name):
            (keep_secrets if name == "secrets.json" else stored_ports)(folder)


@pytest.mark.rows("OPS-02")
def test_a_taken_default_port_gives_the_next_free_one_and_all_ports_differ() -> None:
    with listening(8080), Listeners() as listeners:
        ports = listeners.choose()
    every = [ports.gateway, ports.router, ports.console, *ports.agents, ports.door]
    assert ports.gateway != 8080
    assert len(set(every)) == len(every)
    assert not set(every) & set(range(8099, 8120))


@pytest.mark.rows("OPS-02")
def test_stored_ports_are_used_again(tmp_path: Path) -> None:
    ports = Ports(8180, 8181, 8182, (8191, 8192, 8193))
    with DataFolder(tmp_path) as folder:
        assert stored_ports(folder) is None
        store_ports(folder, ports)
        assert stored_ports(folder) == ports


def test_a_folder_from_before_the_door_gets_a_port_for_it_that_no_other_part_has(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder, Listeners() as listeners:
        folder.write("ports.json", b'{"gateway": 8083, "router": 8084, "console": 8085, "agents": [8086, 8087, 8088]}')
        before = stored_ports(folder)
        assert before is not None
        ports = listeners.with_door(before)
        assert ports.door > 8088
        assert msgspec.structs.replace(ports, door=0) == before
        assert listeners.with_door(ports) == ports


def test_a_port_taken_later_is_named_with_its_setting(tmp_path: Path) -> None:
    port = any_free_port()
    users, folder = [(ListenAddress("127.0.0.1", port), "PLATFORM_LISTEN_ADDRESS")], DataFolder(tmp_path)
    taken = rf"127\.0\.0\.1:{port} \(PLATFORM_LISTEN_ADDRESS\) is in use by process {os.getpid()} "
    with listening(port), Listeners() as listeners, pytest.raises(PortTaken, match=taken):
        listeners.open(users, folder)
    with Listeners() as listeners:
        listeners.open(users, folder)
        with Listeners() as others, pytest.raises(PortTaken, match=taken):
            others.open(users, folder)


def test_an_address_that_is_not_ours_is_not_called_taken(tmp_path: Path) -> None:
    with Listeners() as listeners, pytest.raises(PortTaken, match="cannot be listened on"):
        listeners.open([(ListenAddress("192.0.2.1", 8080), "PLATFORM_LISTEN_ADDRESS")], DataFolder(tmp_path))


def test_an_address_that_two_parts_want_is_named_with_both(tmp_path: Path) -> None:
    address = ListenAddress("127.0.0.1", any_free_port())
    with Listeners() as listeners, pytest.raises(PortTaken, match="is wanted by PLATFORM_A and PLATFORM_B"):
        listeners.open([(address, "PLATFORM_A"), (address, "PLATFORM_B")], DataFolder(tmp_path))


@pytest.mark.rows("SAFE-13")
def test_platforms_that_choose_their_ports_at_once_get_different_ones() -> None:
    """Each holds its ports from the moment it chose them."""
    with ExitStack() as chosen, ThreadPoolExecutor(8) as pool:
        held = [chosen.enter_context(Listeners()) for _ in range(8)]
        every = [
            port
            for ports in pool.map(Listeners.choose, held)
            for port in (ports.gateway, ports.router, ports.console, *ports.agents, ports.door)
        ]
    assert len(set(every)) == len(every) == 56


def test_a_port_that_no_part_uses_is_given_back(tmp_path: Path) -> None:
    with Listeners() as listeners:
        ports = listeners.choose()
        listeners.open([(ListenAddress("127.0.0.1", ports.gateway), "PLATFORM_LISTEN_ADDRESS")], DataFolder(tmp_path))
        assert not is_free(ListenAddress("127.0.0.1", ports.gateway))
        assert is_free(ListenAddress("127.0.0.1", ports.agents[0]))


@contextmanager
def listening(port: int) -> Iterator[None]:
    """Takes the port, unless somebody else already has."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", port))
            taken.listen(1)
        except OSError:
            pass
        yield


def test_a_free_port_is_none_that_an_outgoing_connection_is_given_by_default() -> None:
    first_given_by_default = 32_768
    assert all(1024 < any_free_port() < first_given_by_default for _ in range(20))


def test_free_ports_asked_for_before_they_are_used_are_different() -> None:
    assert len({any_free_port() for _ in range(500)}) == 500
