"""The settings of an Agent: every problem at once, by name and never by value."""

from pathlib import Path

import pytest

from aop.agent import AgentSettings
from aop.agent.testing import SignedRouter
from aop.base.settings import SettingsRefused
from aop.net.address_settings import ListenAddress


def an_environment(folder: Path, **changes: str | None) -> dict[str, str]:
    merged = {**SignedRouter.new("http://127.0.0.1:8099").environment(folder), **changes}
    return {name: value for name, value in merged.items() if value is not None}


def test_the_defaults_are_those_of_the_contract(tmp_path: Path) -> None:
    settings = AgentSettings.from_environment(an_environment(tmp_path), listen=ListenAddress("127.0.0.1", 8091))
    assert (settings.request_max_bytes, settings.router_url) == (2_097_152, "http://127.0.0.1:8081")
    assert settings.listen_address == ListenAddress("127.0.0.1", 8091)


def test_every_missing_setting_is_named_at_once() -> None:
    with pytest.raises(SettingsRefused) as refused:
        AgentSettings.from_environment({})
    assert [problem.name for problem in refused.value.problems] == [
        "PLATFORM_AGENT_ROUTER_ISSUER",
        "PLATFORM_AGENT_ROUTER_AUDIENCE",
        "PLATFORM_AGENT_ROUTER_KEY_ID",
        "PLATFORM_AGENT_ROUTER_PUBLIC_KEY_BASE64URL",
        "PLATFORM_AGENT_CHALLENGE_DIRECTORY",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PLATFORM_AGENT_ROUTER_ISSUER", "http://127.0.0.1:8081/"),
        ("PLATFORM_AGENT_ROUTER_AUDIENCE", "HTTP://agent.example"),
        ("PLATFORM_AGENT_ROUTER_KEY_ID", "no id"),
        ("PLATFORM_AGENT_ROUTER_PUBLIC_KEY_BASE64URL", "c2hvcnQ"),
        ("PLATFORM_AGENT_ROUTER_PUBLIC_KEY_BASE64URL", "A" * 43 + "="),
        ("PLATFORM_AGENT_REQUEST_MAX_BYTES", "0"),
        ("PLATFORM_AGENT_ROUTER_URL", "router.example:1"),
        ("PLATFORM_AGENT_LISTEN_ADDRESS", "8091"),
        ("PLATFORM_AGENT_CHALLENGE_DIRECTORY", "relative"),
        ("PLATFORM_AGENT_CHALLENGE_DIRECTORY", "/no/such/folder"),
        ("PLATFORM_AGENT_ROUTER_ISSUER", " "),
    ],
)
def test_an_unreadable_setting_is_refused_by_name_and_not_by_value(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsRefused) as refused:
        AgentSettings.from_environment(an_environment(tmp_path, **{name: value}))
    assert [problem.name for problem in refused.value.problems] == [name]
    assert value.strip() == "" or value not in str(refused.value)
