"""An `aop up` that cannot run: it names the cause once and leaves nothing."""

import socket
from pathlib import Path

import pytest

from aop.local.ports import any_free_port
from tests.local.test_postgres import EMPTY_INITDB, REFUSING_SERVER, fake_programs
from tests.local.units_alone import EXTERNAL, started_units
from tests.support.platform import seed_ports, started_up
from tests.support.processes import require_none_left
from tools.agent_env import agent_python, names

pytestmark = pytest.mark.second_ring


def refusal(data: Path, code: int, with_agents: bool = False, /, **settings: str) -> str:
    """The output of an `aop up` that must end by itself, with one message and nothing left."""
    with (started_up if with_agents else started_units)(data, settings=settings) as platform:
        assert platform.process.wait(30) == code, platform.output
        output = platform.output
    require_none_left(str(data))
    assert "Traceback" not in output
    assert not (data / "run.json").exists()
    return output


@pytest.mark.rows("OPS-03")
def test_bad_settings_are_all_named_and_nothing_is_started(tmp_path: Path) -> None:
    output = refusal(
        tmp_path / "data", 78, PLATFORM_CARD_MAX_BYTES="secret", PLATFORM_ROUTER_ID="", PLATFORM_LOG_LEVEL="loud"
    )
    for name in ("PLATFORM_CARD_MAX_BYTES", "PLATFORM_ROUTER_ID", "PLATFORM_LOG_LEVEL"):
        assert f"aop up: {name} " in output
    assert "secret" not in output
    assert not (tmp_path / "data" / "postgres").exists()


def test_a_port_in_use_is_named_with_its_setting(tmp_path: Path) -> None:
    ports = seed_ports(tmp_path / "data")
    with socket.create_server(("127.0.0.1", ports.router)):
        output = refusal(tmp_path / "data", 1)
    assert f"127.0.0.1:{ports.router} (PLATFORM_ROUTER_LISTEN_ADDRESS) is in use" in output


def test_an_unusable_data_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert f"{tmp_path / 'file'} cannot be used as data folder" in refusal(tmp_path / "file", 1)


def test_an_incomplete_set_of_database_urls_names_the_missing_ones(tmp_path: Path) -> None:
    output = refusal(tmp_path / "data", 78, PLATFORM_DATABASE_URL="postgresql://user@127.0.0.1/db")
    assert "PLATFORM_ROUTER_DATABASE_URL" in output
    assert "PLATFORM_MIGRATION_DATABASE_URL" in output


def test_an_external_database_that_is_dead_is_named_by_its_setting(tmp_path: Path) -> None:
    seed_ports(tmp_path / "data")
    url = f"postgresql://user:canary@127.0.0.1:{any_free_port()}/db"
    output = refusal(tmp_path / "data", 1, **dict.fromkeys(EXTERNAL, url))
    assert "PLATFORM_MIGRATION_DATABASE_URL cannot be reached" in output
    assert "canary" not in output


def test_a_postgresql_that_refuses_to_start_is_told_with_its_own_words(tmp_path: Path) -> None:
    seed_ports(tmp_path / "data")
    programs = fake_programs(tmp_path, REFUSING_SERVER, EMPTY_INITDB)
    output = refusal(tmp_path / "data", 1, PLATFORM_PG_BIN=str(programs))
    assert "made of cheese" in output


@pytest.fixture
def agent_environments() -> None:
    for name in names():
        agent_python(name)


@pytest.mark.usefixtures("agent_environments")
def test_a_taken_agent_port_is_named_before_anything_starts(tmp_path: Path) -> None:
    ports = seed_ports(tmp_path / "data")
    with socket.create_server(("127.0.0.1", ports.agents[0])):
        output = refusal(tmp_path / "data", 1, True)
    assert f"127.0.0.1:{ports.agents[0]} (sample Agent action-items) is in use" in output
    assert not (tmp_path / "data" / "postgres").exists()


@pytest.mark.usefixtures("agent_environments")
def test_an_agent_that_cannot_start_ends_up_with_its_own_words(tmp_path: Path) -> None:
    seed_ports(tmp_path / "data")
    output = refusal(tmp_path / "data", 1, True, PLATFORM_AGENT_REQUEST_MAX_BYTES="many")
    assert "ended before it was ready" in output
    assert "PLATFORM_AGENT_REQUEST_MAX_BYTES" in output
