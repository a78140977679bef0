"""Settings of the door: safe without any, every problem by name and never by value."""

from pathlib import Path

import pytest

from aop.base.settings import SettingsRefused
from aop.door.app import build
from aop.door.settings import read_door_settings
from tests.client.gateway import saying, scripted_gateway
from tests.support.authority import Authority
from tests.support.every import every

CANARY = "canary-value-4711"
_ORIGINS = (CANARY, "http://127.0.0.1:8081/", "http://127.0.0.1:80", "HTTP://h:81", "ftp://h", "http://u@h:1", "")
_BYTES = ("0", "2147483648", "1.0", "-1", "five", "", " 5")
_WRONG = {
    "PLATFORM_DOOR_LISTEN_ADDRESS": ("8083", "127.0.0.1", "127.0.0.1:0", "::1:80", CANARY),
    "PLATFORM_DOOR_ORIGIN": _ORIGINS,
    "PLATFORM_DOOR_GATEWAY_ORIGIN": (*_ORIGINS, "http://127.0.0.1:8083"),
    "PLATFORM_CA_FILE": (f"/{CANARY}", "/dev/null", "/"),
    "PLATFORM_DOOR_ALLOWED_HOSTS": ("*", "a, b", "http://a", "a/b", "A", "a:80", "a:0", "a,", "u@a"),
    "PLATFORM_DOOR_ALLOWED_ORIGINS": ("*", "null", "http://a,http://b/", "http://a, http://b", CANARY),
    "PLATFORM_DOOR_MAX_IN_FLIGHT_CALLS": ("0", "100001"),
    "PLATFORM_DOOR_MAX_WATCHES": ("0", "100001"),
    "PLATFORM_DOOR_REQUEST_MAX_BYTES": _BYTES,
    "PLATFORM_DOOR_ANSWER_MAX_BYTES": _BYTES,
    "PLATFORM_MAX_CONNECTIONS": ("0",),
    "PLATFORM_SHUTDOWN_GRACE_SECONDS": ("601",),
    "PLATFORM_LOG_LEVEL": ("INFO", CANARY),
}


@pytest.mark.rows("OPS-03")
@every("name", _WRONG)
def test_a_setting_out_of_its_rule_is_named(name: str) -> None:
    for value in _WRONG[name]:
        with pytest.raises(SettingsRefused) as refused:
            read_door_settings({name: value})
        assert [problem.name for problem in refused.value.problems] == [name], value
        assert CANARY not in str(refused.value)


def test_without_settings_it_is_the_door_of_the_local_platform_for_this_machine_alone() -> None:
    found = read_door_settings({})
    assert (found.origin, found.gateway_origin) == ("http://127.0.0.1:8083", "http://127.0.0.1:8080")
    assert found.allowed_hosts == {"127.0.0.1:8083", "localhost:8083", "[::1]:8083"}
    assert found.allowed_origins == {"http://127.0.0.1:8083"}


def test_behind_a_public_origin_its_name_is_a_host_and_the_lists_replace_what_is_usual() -> None:
    public = {"PLATFORM_DOOR_LISTEN_ADDRESS": "10.0.0.7:8083", "PLATFORM_DOOR_ORIGIN": "https://door.example.com"}
    found = read_door_settings(public)
    assert found.allowed_hosts == {"door.example.com", "10.0.0.7:8083"}
    assert found.allowed_origins == {"https://door.example.com"}
    named = read_door_settings({
        **public,
        "PLATFORM_DOOR_ALLOWED_HOSTS": "door,door:8443",
        "PLATFORM_DOOR_ALLOWED_ORIGINS": "https://a.example.com,https://b.example.com",
    })  # fmt: skip
    assert named.allowed_hosts == {"door", "door:8443"}
    assert named.allowed_origins == {"https://a.example.com", "https://b.example.com"}


async def test_a_file_of_certificate_authorities_that_cannot_be_used_is_a_setting_to_correct(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", f"/{CANARY}")
    with pytest.raises(SettingsRefused) as refused:
        await build(read_door_settings({"PLATFORM_DOOR_GATEWAY_ORIGIN": "https://gateway.example"}))
    assert [(one.name, CANARY in one.reason) for one in refused.value.problems] == [("SSL_CERT_FILE", False)]


async def test_a_gateway_with_a_private_authority_needs_the_file_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    authority = Authority(tmp_path)
    async with scripted_gateway(saying({"status": "ok"}), tls=authority.server_context("127.0.0.1")) as gateway:
        origin = {"PLATFORM_DOOR_GATEWAY_ORIGIN": f"https://127.0.0.1:{gateway.port}"}
        for more, ready in (({}, False), ({"PLATFORM_CA_FILE": str(authority.roots)}, True)):
            unit = await build(read_door_settings(origin | more))
            try:
                assert await unit.readiness.ready() is ready
            finally:
                await unit.close()
