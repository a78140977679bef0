"""The signed vectors are what their generators make, and each fails where it says it fails."""

from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from aop.base import json as strict_json
from aop.base.canonical import from_base64url, to_base64url
from aop.contracts.credential import CONTEXT_HEADERS
from aop.contracts.documents import document, schemas
from aop.contracts.signing import MacKey, SigningKey
from tests.support.vectors import VECTORS, each, vectors
from tools import credential_vectors, delegation_vectors
from tools.vector_tokens import delegation_key, rendered

TOKENS = {"credential": credential_vectors.credential, "delegation": delegation_vectors.delegation}

INFO = b"platform-delegation"

SPELLED = {"integral fraction as iat", "exponent in exp"}
"""To a schema these are integers; a credential spells its times with digits alone."""


@pytest.mark.parametrize("name", sorted(TOKENS))
def test_the_signed_vectors_equal_the_regenerated_ones(name: str) -> None:
    assert (VECTORS / f"{name}.json").read_text("utf-8") == rendered(TOKENS[name]())


def test_the_published_key_belongs_to_the_test_seed() -> None:
    document_ = vectors("credential")
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(document_["testSeed"])).public_key()
    assert document_["verifier"]["publicKey"] == to_base64url(key.public_bytes_raw())


def test_the_key_of_delegations_is_derived_from_the_test_seed() -> None:
    document_ = vectors("delegation")
    seed = bytes.fromhex(document_["testSeed"])
    assert document_["verifier"]["delegationKey"] == to_base64url(HKDF(hashes.SHA256(), 32, b"", INFO).derive(seed))
    assert SigningKey.of_seed(seed).delegation_key() == MacKey(delegation_key(seed))


@each("credential")
def test_a_credential_vector_fails_at_the_check_it_names(case: dict[str, Any]) -> None:
    step = case["step"] or 99
    if step <= 2:
        return
    header, claims, verified = _opened(case, vectors("credential")["verifier"]["publicKey"])
    if step > 3:
        assert document("router-agent-credential/1#header").is_valid(header)
        assert verified == (step != 4)
    if step > 6 or case["name"] in {"expired", "long expired", "future iat"}:
        assert document("router-agent-credential/1#claims").is_valid(claims)
    if step == 5 and case["name"] not in SPELLED:
        assert claims is None or not document("router-agent-credential/1#claims").is_valid(claims)


@each("delegation")
def test_an_accepted_delegation_verifies_and_follows_its_document(case: dict[str, Any]) -> None:
    if case["step"] == 1:
        assert case["status"] == 401
        return
    head, payload, tag = case["authorization"][0].removeprefix("Bearer ").split(".")
    made = HMAC(from_base64url(vectors("delegation")["verifier"]["delegationKey"]), hashes.SHA256())
    made.update(f"{head}.{payload}".encode())
    made.verify(from_base64url(tag))
    assert document("agent-delegation/2#header").is_valid(strict_json.parse(from_base64url(head)))
    assert document("agent-delegation/2#claims").is_valid(strict_json.parse(from_base64url(payload)))


def test_the_context_headers_are_those_of_the_credential_document() -> None:
    rows: Any = schemas()["urn:aop:contract:router-agent-credential:1"]["x-context-headers"]
    assert {row["header"]: row["claim"] for row in rows} == CONTEXT_HEADERS
    assert [row["header"] for row in rows if row["profile"]] == list(CONTEXT_HEADERS)[:5]


def _opened(case: dict[str, Any], public_key: str) -> tuple[Any, Any, bool]:
    """The header, the claims (None when they are no strict JSON) and whether the signature verifies."""
    head, payload, signature = case["authorization"][0].removeprefix("Bearer ").split(".")
    try:
        key = Ed25519PublicKey.from_public_bytes(from_base64url(public_key))
        key.verify(from_base64url(signature), f"{head}.{payload}".encode())
        verified = True
    except InvalidSignature:
        verified = False
    header, claims = (next(_strictly(from_base64url(segment)), None) for segment in (head, payload))
    return header, claims, verified


def _strictly(body: bytes) -> Iterator[object]:
    try:
        yield strict_json.parse(body)
    except strict_json.JsonRefused:
        return
