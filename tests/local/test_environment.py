"""The settings `aop up` supplies: complete, following the ports, second to the caller's own."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from aop.base.settings import SettingsRefused
from aop.contracts.signing import SigningKey
from aop.control_plane.settings import read_control_plane_settings
from aop.door.settings import read_door_settings
from aop.local.environment import ALLOW_LIST, Addresses, LocalSettings, external_databases, local_settings
from aop.local.ports import Ports
from aop.local.secrets import _new_secrets
from aop.local.state import DatabaseUrls
from aop.router.settings import read_router_settings
from aop.serving.unit.unit_settings import Stopping

PORTS = Ports(9080, 9081, 9082, (9091, 9092, 9093), 9083)
SECRETS = _new_secrets()
DATABASES = DatabaseUrls("postgresql://c@127.0.0.1/a", "postgresql://r@127.0.0.1/a", "postgresql://m@127.0.0.1/a")


def settled(
    caller: Mapping[str, str] | None = None,
    allowed: tuple[str, ...] = (),
    *,
    development_ports: bool = True,
    folder: Path = Path("/data"),
) -> LocalSettings:
    caller = caller or {}
    addresses = Addresses.of(PORTS, caller, folder)
    return local_settings(addresses, SECRETS, DATABASES, allowed, caller, development_ports=development_ports)


@pytest.mark.rows("OPS-01")
def test_without_any_configuration_both_units_accept_what_is_supplied() -> None:
    settings = settled()
    control_plane = read_control_plane_settings(settings.environments["control-plane"])
    router = read_router_settings(settings.environments["router"])
    door = read_door_settings(settings.environments["door"])
    assert door.gateway_origin == control_plane.listen_address.origin
    assert door.origin == settings.origins["door"] == "http://127.0.0.1:9083"
    assert control_plane.router_origin == router.listen_address.origin == "http://127.0.0.1:9081"
    assert router.control_plane_origin == control_plane.listen_address.origin == "http://127.0.0.1:9080"
    assert control_plane.public_agent_origin == "http://127.0.0.1:9082"
    assert list(control_plane.cors_allowed_origins) == ["http://127.0.0.1:9082"]
    assert router.credential.issuer == router.agent_origin == "http://127.0.0.1:9081"
    assert control_plane.unit.stopping == router.unit.stopping == Stopping(0, 1)


@pytest.mark.rows("OPS-02")
def test_the_allow_list_holds_the_sample_ports_and_the_development_ports_and_nothing_else() -> None:
    samples = ["127.0.0.1:9091", "127.0.0.1:9092", "127.0.0.1:9093"]
    settings = settled()
    expected = samples + [f"127.0.0.1:{port}" for port in range(8099, 8120)]
    assert settings.allow_list == json.loads(settings.environments["router"][ALLOW_LIST]) == expected
    assert settings.environments["control-plane"][ALLOW_LIST] == settings.environments["router"][ALLOW_LIST]
    assert settled(development_ports=False).allow_list == samples


def test_a_unit_on_a_development_port_is_not_allowed_as_an_agent() -> None:
    settings = settled({"PLATFORM_LISTEN_ADDRESS": "127.0.0.1:8100", "PLATFORM_ROUTER_LISTEN_ADDRESS": "0.0.0.0:8119"})
    assert not {"127.0.0.1:8100", "127.0.0.1:8119"} & set(settings.allow_list)
    assert {"127.0.0.1:8099", "127.0.0.1:8118"} <= set(settings.allow_list)


def test_the_callers_allow_list_and_allow_options_are_added() -> None:
    settings = settled({ALLOW_LIST: '["10.0.0.7:443", "127.0.0.1:8099"]'}, ("127.0.0.1:9000",))
    assert list(settings.allow_list)[-3:] == ["127.0.0.1:8119", "10.0.0.7:443", "127.0.0.1:9000"]


def test_a_setting_of_the_caller_wins_and_what_follows_from_it_follows() -> None:
    key = _new_secrets().router_credential_key
    settings = settled({
        "PLATFORM_LISTEN_ADDRESS": "0.0.0.0:7000",
        "PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN": "chosen-by-the-caller",
        "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL": key,
        "PLATFORM_DRAIN_SECONDS": "4",
        "PLATFORM_SHUTDOWN_GRACE_SECONDS": "9",
    })  # fmt: skip
    assert (
        settings.origins["control-plane"]
        == settings.environments["router"]["PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN"]
        == "http://127.0.0.1:7000"
    )
    assert settings.environments["control-plane"]["PLATFORM_LISTEN_ADDRESS"] == "0.0.0.0:7000"
    principals = json.loads(settings.environments["router"]["PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON"])
    assert principals[0]["tokenSha256"] == hashlib.sha256(b"chosen-by-the-caller").hexdigest()
    assert settings.service_tokens.control_plane_to_router == "chosen-by-the-caller"
    assert settings.credential.public_key == SigningKey.parse(key).public_text
    assert settings.stop_seconds == 9 + 4


@pytest.mark.parametrize("address", ["0.0.0.0:7003", "[::]:7003"])
def test_a_door_that_listens_everywhere_is_known_by_the_address_that_can_be_reached(address: str) -> None:
    settings = settled({"PLATFORM_DOOR_LISTEN_ADDRESS": address})
    door = read_door_settings(settings.environments["door"])
    assert door.origin == settings.origins["door"] in {"http://127.0.0.1:7003", "http://[::1]:7003"}
    assert {"127.0.0.1:7003", "localhost:7003"} <= door.allowed_hosts


def test_the_door_is_given_no_secret() -> None:
    given = set(settled().environments["door"].values())
    assert not given & set(msgspec.structs.astuple(SECRETS))
    assert not given & set(msgspec.structs.astuple(DATABASES))


def test_no_unit_is_given_a_secret_of_the_other() -> None:
    settings = settled({"PLATFORM_MIGRATION_DATABASE_URL": "postgresql://m@h/a", "LANG": "C"})
    everything = dict(settings.environments["control-plane"])
    assert SECRETS.router_credential_key not in everything.values()
    assert DATABASES.router not in everything.values()
    assert SECRETS.router_to_control_plane not in everything.values()
    assert DATABASES.control_plane not in settings.environments["router"].values()
    assert SECRETS.control_plane_to_router not in settings.environments["router"].values()
    assert "PLATFORM_MIGRATION_DATABASE_URL" not in {
        *settings.environments["control-plane"],
        *settings.environments["router"],
    }
    assert settings.environments["control-plane"]["LANG"] == settings.environments["router"]["LANG"] == "C"


def test_units_of_one_machine_meet_at_unix_sockets_in_the_data_folder() -> None:
    settings = settled()
    control_plane, router = (
        read_control_plane_settings(settings.environments["control-plane"]),
        read_router_settings(settings.environments["router"]),
    )
    assert control_plane.router_socket_path == router.socket_path == "/data/run/router.sock"
    assert router.control_plane_socket_path == control_plane.socket_path == "/data/run/control-plane.sock"


def test_requests_go_to_an_origin_that_the_caller_names_and_not_past_it() -> None:
    settings = settled({"PLATFORM_ROUTER_INTERNAL_ORIGIN": "http://127.0.0.1:7001"})
    control_plane, router = (
        read_control_plane_settings(settings.environments["control-plane"]),
        read_router_settings(settings.environments["router"]),
    )
    assert control_plane.router_socket_path is router.socket_path is None
    assert control_plane.socket_path is not None


def test_where_the_path_of_a_socket_would_be_too_long_there_is_none() -> None:
    settings = settled(folder=Path("/", "d" * 100))
    assert read_control_plane_settings(settings.environments["control-plane"]).router_socket_path is None


def test_a_variable_that_makes_every_start_slow_is_not_passed_on() -> None:
    assert "PYTHONDONTWRITEBYTECODE" not in settled({"PYTHONDONTWRITEBYTECODE": "1"}).environments["router"]


@pytest.mark.rows("OPS-03")
def test_every_bad_setting_is_named_at_once_and_never_shown() -> None:
    caller = {
        "PLATFORM_CARD_MAX_BYTES": " 10",
        "PLATFORM_ROUTER_RESOLVE_TIMEOUT_MS": "hidden",
        "PLATFORM_DATABASE_POOL_SIZE": "0",
    }
    with pytest.raises(SettingsRefused) as refused:
        settled(caller)
    assert {problem.name for problem in refused.value.problems} == set(caller)
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize("value", ["", "{}", "[1]", "nonsense"])
def test_an_unreadable_allow_list_is_named(value: str) -> None:
    with pytest.raises(SettingsRefused, match=ALLOW_LIST):
        settled({ALLOW_LIST: value})


def test_an_unreadable_address_is_named() -> None:
    with pytest.raises(SettingsRefused, match="PLATFORM_LISTEN_ADDRESS"):
        settled({"PLATFORM_LISTEN_ADDRESS": "8080"})


def test_an_external_database_needs_all_three_urls_and_the_missing_ones_are_named() -> None:
    assert external_databases({}) is None
    with pytest.raises(SettingsRefused) as refused:
        external_databases({"PLATFORM_ROUTER_DATABASE_URL": DATABASES.router})
    missing = [problem.name for problem in refused.value.problems]
    assert missing == ["PLATFORM_DATABASE_URL", "PLATFORM_MIGRATION_DATABASE_URL"]
    names = ("PLATFORM_DATABASE_URL", "PLATFORM_ROUTER_DATABASE_URL", "PLATFORM_MIGRATION_DATABASE_URL")
    assert external_databases(dict(zip(names, msgspec.structs.astuple(DATABASES), strict=True))) == DATABASES
