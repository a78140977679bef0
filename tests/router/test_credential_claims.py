"""The claims of tokens are written around texts that are kept; they are what the documents and their readers say."""

import hashlib

import msgspec
import pytest

from aop.contracts.credential import CredentialClaims
from aop.contracts.delegation import DelegationClaims
from aop.contracts.documents import document
from aop.contracts.identity import Lineage, Pin
from aop.router.a2a.credential import BACKDATED_SECONDS, Issuer, SkillClaims

ISSUER = Issuer("https://router.example:8443", "key-1", "https://agents.example", 60)
PIN = Pin("space", "acme:agent", "1.0.0-rc.1+build.7", "rel_" + "1" * 32, "ab" * 32)
CLAIMS = SkillClaims(ISSUER, "https://agent.example", PIN, "plan-trip")
ROOT = Lineage("inv_" + "2" * 32, "task_" + "3" * 32, "4" * 32)
CHILD = Lineage("inv_" + "5" * 32, "task_" + "3" * 32, "4" * 32, ROOT.invocation, 1)


@pytest.mark.rows("AUTH-12")
@pytest.mark.parametrize("lineage", [ROOT, CHILD], ids=["root", "child"])
def test_the_claims_of_a_credential_are_those_of_its_document_in_their_order(lineage: Lineage) -> None:
    raw = CLAIMS.of_credential(lineage, b"body")
    assert document("router-agent-credential/1#claims").violations(msgspec.json.decode(raw)) == ()
    claims = msgspec.json.decode(raw, type=CredentialClaims)
    assert msgspec.json.encode(claims) == raw
    assert claims == CredentialClaims(
        iss=ISSUER.issuer,
        aud=("https://agent.example",),
        iat=claims.iat,
        exp=claims.iat + ISSUER.ttl_seconds + BACKDATED_SECONDS,
        jti=claims.jti,
        workspace_id="space",
        agent_id="acme:agent",
        agent_version=PIN.version,
        release_id=PIN.release,
        card_digest=PIN.card_digest,
        capability="plan-trip",
        invocation_id=lineage.invocation,
        root_task_id=lineage.root_task,
        trace_id=lineage.trace,
        parent_invocation_id=lineage.parent or msgspec.UNSET,
        body_sha256=hashlib.sha256(b"body").hexdigest(),
    )


@pytest.mark.rows("AUTH-12")
def test_no_two_credentials_have_the_same_id() -> None:
    ids = {msgspec.json.decode(CLAIMS.of_credential(ROOT, b""), type=CredentialClaims).jti for _ in range(100)}
    assert len(ids) == 100


@pytest.mark.parametrize("lineage", [ROOT, CHILD], ids=["root", "child"])
def test_the_claims_of_a_delegation_are_those_of_its_document_in_their_order(lineage: Lineage) -> None:
    raw = CLAIMS.of_delegation(lineage, 2_000_000_000.25)
    assert document("agent-delegation/2#claims").violations(msgspec.json.decode(raw)) == ()
    claims = msgspec.json.decode(raw, type=DelegationClaims)
    assert msgspec.json.encode(claims) == raw
    assert claims == DelegationClaims(
        iss=ISSUER.issuer,
        aud=(ISSUER.agent_origin,),
        iat=claims.iat,
        exp=2_000_000_001,
        workspace_id="space",
        agent_id="acme:agent",
        release_id=PIN.release,
        invocation_id=lineage.invocation,
        root_task_id=lineage.root_task,
        trace_id=lineage.trace,
        depth=lineage.depth,
    )
