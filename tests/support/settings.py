"""Environments from which units start in tests: complete, and changeable one setting at a time."""

import hashlib
import json

from nacl.signing import SigningKey

from aop.base.canonical import to_base64url

CONTROL_PLANE_TO_ROUTER = "service-token-control-plane-to-router"
ROUTER_TO_CONTROL_PLANE = "service-token-router-to-control-plane"
ROUTER_SEED = bytes(range(32))
ANY_DATABASE = "postgresql://nobody:secret-password@127.0.0.1:1/aop"


OIDC = {
    "PLATFORM_OIDC_ISSUER": "https://issuer.example",
    "PLATFORM_OIDC_AUDIENCE": "aop",
    "PLATFORM_OIDC_JWKS_URL": "https://issuer.example/keys",
    "PLATFORM_OIDC_PRINCIPAL_PREFIX": "oidc:",
}


def principals(identity: str, token: str) -> str:
    return json.dumps([{"id": identity, "tokenSha256": hashlib.sha256(token.encode()).hexdigest()}])


# The time limits of statements are tried by tests of their own. Elsewhere nothing may fail because a machine was slow.
_PATIENT = {"PLATFORM_DATABASE_STATEMENT_TIMEOUT_MS": "60000"}
PATIENT_UNITS = _PATIENT | {
    "PLATFORM_ROUTER_LEDGER_WRITE_TIMEOUT_MS": "60000",
    "PLATFORM_ROUTER_RESOLVE_TIMEOUT_MS": "60000",
}
_NO_BALANCER = {"PLATFORM_DRAIN_SECONDS": "0"}
AS_IN_USE: dict[str, str | None] = dict.fromkeys(PATIENT_UNITS)
"""Changes that leave these limits as they are without any setting."""


def control_plane_environment(**changes: str | None) -> dict[str, str]:
    return _changed(
        {
            "PLATFORM_LISTEN_ADDRESS": "127.0.0.1:8080",
            "PLATFORM_DATABASE_URL": ANY_DATABASE,
            "PLATFORM_ROUTER_INTERNAL_ORIGIN": "http://127.0.0.1:8081",
            "PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN": CONTROL_PLANE_TO_ROUTER,
            "PLATFORM_INTERNAL_PRINCIPALS_JSON": principals("router", ROUTER_TO_CONTROL_PLANE),
            **_NO_BALANCER,
            **_PATIENT,
        },
        changes,
    )


def router_environment(**changes: str | None) -> dict[str, str]:
    key = SigningKey(ROUTER_SEED)
    return _changed(
        {
            "PLATFORM_ROUTER_ID": "router-1",
            "PLATFORM_ROUTER_LISTEN_ADDRESS": "127.0.0.1:8081",
            "PLATFORM_ROUTER_DATABASE_URL": ANY_DATABASE,
            "PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN": "http://127.0.0.1:8080",
            "PLATFORM_CONTROL_PLANE_SERVICE_TOKEN": ROUTER_TO_CONTROL_PLANE,
            "PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON": principals("control-plane", CONTROL_PLANE_TO_ROUTER),
            "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL": to_base64url(
                key.encode() + key.verify_key.encode()
            ),
            **_NO_BALANCER,
            **PATIENT_UNITS,
        },
        changes,
    )


def _changed(environment: dict[str, str], changes: dict[str, str | None]) -> dict[str, str]:
    merged = {**environment, **changes}
    return {name: value for name, value in merged.items() if value is not None}
