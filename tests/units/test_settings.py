"""Settings: every problem at once, by name and never by value."""

from collections.abc import Callable

import pytest

from aop.base.settings import SettingsRefused
from aop.control_plane.settings import read_control_plane_settings
from aop.router.settings import read_router_settings
from aop.serving.unit.unit_settings import Stopping
from tests.support.every import every
from tests.support.settings import OIDC, control_plane_environment, router_environment

CANARY = "canary-value-4711"
_BYTES = ("0", "2147483648", "1.0", "1e3", "-1", "five", "", " ", " 5", "5 ")


def refused(read: Callable[[dict[str, str]], object], environment: dict[str, str]) -> set[str]:
    with pytest.raises(SettingsRefused) as caught:
        read(environment)
    assert CANARY not in str(caught.value)
    return {problem.name for problem in caught.value.problems}


def test_complete_environments_are_read_with_the_defaults_of_the_contract() -> None:
    control_plane = read_control_plane_settings(control_plane_environment())
    assert (control_plane.max_in_flight_invocations, control_plane.max_in_flight_requests) == (512, 1024)
    assert (control_plane.challenge_ttl_seconds, control_plane.verification_timeout_ms) == (600, 10_000)
    assert (control_plane.card_max_bytes, control_plane.gateway_result_max_bytes) == (1_048_576, 9_437_184)
    assert control_plane.oidc is None
    router = read_router_settings(router_environment(PLATFORM_DRAIN_SECONDS=None))
    assert (router.credential.ttl_seconds, router.credential.key_id) == (60, "router-1")
    assert (router.unit.invocation_deadline_ms, router.unit.stopping) == (300_000, Stopping(5, 30))


@pytest.mark.rows("OPS-03")
def test_every_missing_required_setting_is_named_at_once() -> None:
    assert refused(read_control_plane_settings, {}) == {
        "PLATFORM_DATABASE_URL",
        "PLATFORM_ROUTER_INTERNAL_ORIGIN",
        "PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN",
        "PLATFORM_INTERNAL_PRINCIPALS_JSON",
    }
    assert refused(read_router_settings, {}) == {
        "PLATFORM_ROUTER_ID",
        "PLATFORM_ROUTER_DATABASE_URL",
        "PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN",
        "PLATFORM_CONTROL_PLANE_SERVICE_TOKEN",
        "PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON",
        "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL",
    }


_SOCKETS = (CANARY, "/run/a.sock", "unix:a.sock", "unix:", "unix:///a", "unix:/" + "a" * 107)
_SHARED = [
    ("PLATFORM_INVOCATION_DEADLINE_MS", ("0", "600001", "abc")),
    ("PLATFORM_INVOCATION_REQUEST_MAX_BYTES", _BYTES),
    ("PLATFORM_SSE_FRAME_MAX_BYTES", _BYTES),
    ("PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON", ("{}", "[1]", '["*.local"]', CANARY, '["http://127.0.0.1"]')),
    ("PLATFORM_CA_FILE", (f"/{CANARY}", "/dev/null", "/")),
    ("PLATFORM_DATABASE_POOL_SIZE", ("0", "201")),
    ("PLATFORM_DATABASE_STATEMENT_TIMEOUT_MS", ("99", "60001")),
    ("PLATFORM_DRAIN_SECONDS", ("601", "-1", "soon")),
    ("PLATFORM_SHUTDOWN_GRACE_SECONDS", ("601", "-1")),
    ("PLATFORM_LOG_LEVEL", ("INFO", "trace", CANARY)),
    ("PLATFORM_CONTROL_PLANE_SOCKET", _SOCKETS),
    ("PLATFORM_ROUTER_SOCKET", _SOCKETS),
]
_ORIGINS = (CANARY, "http://127.0.0.1:8081/", "http://127.0.0.1:80", "HTTP://127.0.0.1:81", "ftp://h", "http://u@h:1")
_TOKENS = ("a b", "ä", "\t", "")
_PRINCIPALS = ("[]", "{}", CANARY, '[{"id":"a"}]', '[{"id":"a b","tokenSha256":"%s"}]' % ("0" * 64))
_CONTROL_PLANE = [
    ("PLATFORM_LISTEN_ADDRESS", ("8080", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "::1:80", CANARY)),
    ("PLATFORM_DATABASE_URL", (CANARY, "mysql://h/d", "postgresql://h", "postgresql://h:x/d")),
    ("PLATFORM_ROUTER_INTERNAL_ORIGIN", (*_ORIGINS, "http://127.0.0.1:8080")),
    ("PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN", _TOKENS),
    ("PLATFORM_INTERNAL_PRINCIPALS_JSON", _PRINCIPALS),
    ("PLATFORM_PUBLIC_AGENT_ORIGIN", _ORIGINS),
    ("PLATFORM_CORS_ALLOWED_ORIGINS", ("*", "http://a,http://b/", "http://a, http://b")),
    ("PLATFORM_CARD_MAX_BYTES", _BYTES),
    ("PLATFORM_REQUEST_MAX_BYTES", _BYTES),
    ("PLATFORM_METADATA_RESPONSE_MAX_BYTES", _BYTES),
    ("PLATFORM_GATEWAY_RESULT_MAX_BYTES", _BYTES),
    ("PLATFORM_GATEWAY_MAX_IN_FLIGHT_INVOCATIONS", ("0", "100001")),
    ("PLATFORM_GATEWAY_MAX_IN_FLIGHT_REQUESTS", ("0", "100001")),
    ("PLATFORM_ENDPOINT_CHALLENGE_TTL_SECONDS", ("0", "3601")),
    ("PLATFORM_ENDPOINT_VERIFICATION_TIMEOUT_MS", ("0", "60001")),
    ("PLATFORM_ACCESS_TOKEN_DAYS", ("0", "3651")),
    ("PLATFORM_OIDC_PRINCIPAL_CLAIM", ("a b", "")),
]
_ROUTER = [
    ("PLATFORM_ROUTER_ID", ("a b", "-x", CANARY + "!")),
    ("PLATFORM_ROUTER_LISTEN_ADDRESS", ("8081", "[::1]")),
    ("PLATFORM_ROUTER_DATABASE_URL", (CANARY,)),
    ("PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN", (*_ORIGINS, "http://127.0.0.1:8081")),
    ("PLATFORM_CONTROL_PLANE_SERVICE_TOKEN", _TOKENS),
    ("PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON", _PRINCIPALS),
    ("PLATFORM_ROUTER_AGENT_ORIGIN", _ORIGINS),
    ("PLATFORM_ROUTER_AGENT_CREDENTIAL_ISSUER", _ORIGINS),
    ("PLATFORM_ROUTER_AGENT_CREDENTIAL_KEY_ID", ("a b",)),
    ("PLATFORM_ROUTER_AGENT_CREDENTIAL_TTL_SECONDS", ("0", "296")),
    ("PLATFORM_ROUTER_CONTROL_PLANE_RESPONSE_LIMIT_BYTES", _BYTES),
    ("PLATFORM_ROUTER_AGENT_RESPONSE_LIMIT_BYTES", _BYTES),
    ("PLATFORM_ROUTER_A2A_EVENT_LIMIT_BYTES", _BYTES),
    ("PLATFORM_ROUTER_RESOLVE_TIMEOUT_MS", ("0", "60001")),
    ("PLATFORM_ROUTER_CONNECT_TIMEOUT_MS", ("0", "60001")),
    ("PLATFORM_ROUTER_LEDGER_WRITE_TIMEOUT_MS", ("0", "60001")),
    ("PLATFORM_ROUTER_MAX_IN_FLIGHT_INVOCATIONS", ("0", "100001")),
    ("PLATFORM_ROUTER_MAX_IN_FLIGHT_CHILDREN", ("0", "100001")),
]


@pytest.mark.rows("OPS-03")
@every(("name", "values"), _SHARED + _CONTROL_PLANE)
def test_a_control_plane_setting_out_of_its_rule_is_named(name: str, values: tuple[str, ...]) -> None:
    for value in values:
        assert refused(read_control_plane_settings, control_plane_environment(**{name: value})) == {name}


@pytest.mark.rows("OPS-03")
@every(("name", "values"), _SHARED + _ROUTER)
def test_a_router_setting_out_of_its_rule_is_named(name: str, values: tuple[str, ...]) -> None:
    for value in values:
        assert refused(read_router_settings, router_environment(**{name: value})) == {name}


@pytest.mark.rows("OPS-03")
def test_contradictory_settings_are_refused() -> None:
    environment = control_plane_environment(
        PLATFORM_ENDPOINT_CHALLENGE_TTL_SECONDS="5", PLATFORM_ENDPOINT_VERIFICATION_TIMEOUT_MS="5000"
    )
    assert refused(read_control_plane_settings, environment) == {"PLATFORM_ENDPOINT_VERIFICATION_TIMEOUT_MS"}


@pytest.mark.rows("OPS-03")
def test_all_four_settings_of_an_openid_provider_are_needed_together() -> None:
    for name, value in OIDC.items():
        assert refused(read_control_plane_settings, control_plane_environment(**{name: value})) == {*OIDC} - {name}


@pytest.mark.rows("AUTH-05")
def test_the_prefix_of_an_openid_providers_principals_is_a_short_identifier_that_ends_in_a_colon() -> None:
    name = "PLATFORM_OIDC_PRINCIPAL_PREFIX"
    for good in ("a:", "oidc:", "https:example:", "x" * 31 + ":"):
        read = read_control_plane_settings(control_plane_environment(**{**OIDC, name: good})).oidc
        assert read is not None
        assert read.principal_prefix == good
    for bad in (":", "oidc", "oi dc:", "-oidc:", "oidc|:", "x" * 32 + ":", "oidc:x", "\u00f6idc:"):
        assert refused(read_control_plane_settings, control_plane_environment(**{**OIDC, name: bad})) == {name}


@pytest.mark.rows("AUTH-15")
@pytest.mark.parametrize("key", ["A" * 86 + "==", "A" * 43, "A" * 87, "!" * 86, "A" * 86, "A" * 85 + "B"], ids=range(6))
def test_a_signing_key_of_wrong_length_padding_or_half_is_refused_and_not_shown(key: str) -> None:
    name = "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL"
    with pytest.raises(SettingsRefused) as caught:
        read_router_settings(router_environment(**{name: key}))
    assert [problem.name for problem in caught.value.problems] == [name]
    assert key not in str(caught.value)


def test_secrets_are_hidden_in_the_settings_they_belong_to() -> None:
    shown = repr(read_control_plane_settings(control_plane_environment())) + repr(
        read_router_settings(router_environment())
    )
    assert "secret-password" not in shown
    assert "service-token" not in shown
