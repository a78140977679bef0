"""The recovery table follows its schema, speaks once of every code and situation, and agrees with the specification."""

import json

import pytest

from aop.contracts.documents import document
from aop.contracts.errors import ErrorCode
from aop.contracts.recovery import RecoveryOwner, Situation, recoveries
from tests.support.contracts import CONTRACTS

# Of the specification's own table: who acts, and words without which the action would be another.
SPECIFIED = {
    "WRONG_PROOF": (RecoveryOwner.PROVIDER, ("fresh challenge", "exact proof", "once before it expires")),
    "CHALLENGE_EXPIRED": (RecoveryOwner.PROVIDER, ("fresh challenge", "exact proof", "once before it expires")),
    "CHALLENGE_REUSED": (RecoveryOwner.PROVIDER, ("fresh challenge", "exact proof", "once before it expires")),
    "ENDPOINT_UNAVAILABLE": (RecoveryOwner.PROVIDER, ("fresh challenge", "exact proof", "once before it expires")),
    "DISALLOWED_NETWORK": (RecoveryOwner.PROVIDER, ("policy permits", "new Card version and Binding")),
    "AGENT_RELEASE_UNPUBLISHED": (RecoveryOwner.PROVIDER, ("verification", "publish the Release")),
    "INSTALLATION_DISABLED": (RecoveryOwner.WORKSPACE_OWNER, ("Set the Installation enabled",)),
    "AGENT_RELEASE_SUSPENDED": (
        RecoveryOwner.PROVIDER,
        ("new Card version", "Binding, challenge and Release", "reinstall"),
    ),
    "AGENT_RELEASE_REVOKED": (
        RecoveryOwner.PROVIDER,
        ("new Card version", "Binding, challenge and Release", "reinstall"),
    ),
    "AGENT_UNAVAILABLE": (
        RecoveryOwner.PROVIDER,
        ("Restore the endpoint", "new version", "stays failed", "invoke again"),
    ),
}


def test_the_table_follows_its_schema_and_has_one_recovery_for_every_code_and_every_situation() -> None:
    table = json.loads((CONTRACTS / "platform-error" / "recovery.json").read_bytes())
    assert document("recovery/1").violations(table) == ()
    assert [row["code"] for row in table["codes"]] == list(ErrorCode)
    assert [row["situation"] for row in table["situations"]] == list(Situation)
    named = [(row["code"], row) for row in table["codes"]] + [(row["situation"], row) for row in table["situations"]]
    rows = [(name, row["owner"], row["action"]) for name, row in named]
    assert [(str(name), str(found.owner), found.action) for name, found in recoveries().items()] == rows
    assert list(recoveries()) == [*ErrorCode, *Situation]


@pytest.mark.parametrize("code", sorted(SPECIFIED))
def test_a_recovery_of_the_specification_names_its_owner_and_its_action(code: str) -> None:
    owner, words = SPECIFIED[code]
    found = recoveries()[ErrorCode(code)]
    assert found.owner is owner
    assert [word for word in words if word not in found.action] == []
