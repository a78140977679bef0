"""SQL of providers, Endpoint Bindings, Challenges and evidence."""

from collections.abc import Sequence
from datetime import datetime

from aop.base.ids import new_id
from aop.contracts.publication import EndpointBinding
from aop.contracts.wire import to_document, to_document_or_none, to_documents
from aop.control_plane.pages import TimePosition
from aop.control_plane.registry.store.cards import CardRow
from aop.net.origin import Endpoint
from aop.store.database import Connection
from aop.store.rows import Row, to_row_or_none

_COLUMNS = (
    "binding_id, provider_id, agent_id, version, endpoint_origin || endpoint_path AS endpoint, method,"
    " status AS verification_status, failure_code AS verification_failure_code,"
    " evidence_digest AS verification_evidence_digest, verified_at, created_at, updated_at"
)
_BINDING = f"SELECT {_COLUMNS} FROM registry.binding"  # noqa: S608


class ChallengeRow(Row, frozen=True):
    challenge_id: str
    proof_sha256: bytes
    expires_at: datetime
    used_at: datetime | None


async def provider_owner(connection: Connection, provider_id: str) -> str | None:
    owner: str | None = await connection.fetchval(
        "SELECT owner_id FROM registry.provider WHERE provider_id = $1", provider_id
    )
    return owner


async def claim_provider(connection: Connection, provider_id: str, owner_id: str, now: datetime) -> None:
    await connection.execute(
        "INSERT INTO registry.provider (provider_id, owner_id, claimed_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        provider_id,
        owner_id,
        now,
    )


async def claim_agent(connection: Connection, agent_id: str, provider_id: str) -> str:
    """Returns the provider that the Agent belongs to: this one, if it had none."""
    await connection.execute(
        "UPDATE registry.agent SET provider_id = $2 WHERE agent_id = $1 AND provider_id IS NULL", agent_id, provider_id
    )
    provider: str = await connection.fetchval("SELECT provider_id FROM registry.agent WHERE agent_id = $1", agent_id)
    return provider


async def insert(
    connection: Connection, provider_id: str, card: CardRow, endpoint: Endpoint, method: str, now: datetime
) -> EndpointBinding:
    """A pending Binding of this Card."""
    identity = (new_id("bind"), provider_id, card.agent_id, card.version)
    record = await connection.fetchrow(
        "INSERT INTO registry.binding (binding_id, provider_id, agent_id, version, endpoint_origin, endpoint_path,"  # noqa: S608
        " method, created_at, updated_at, status) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, 'pending')"
        f" RETURNING {_COLUMNS}",
        *identity,
        endpoint.origin,
        endpoint.path,
        method,
        now,
    )
    return to_document(EndpointBinding, record)


async def find(connection: Connection, provider_id: str, binding_id: str) -> EndpointBinding | None:
    record = await connection.fetchrow(
        f"{_BINDING} WHERE binding_id = $1 AND provider_id = $2", binding_id, provider_id
    )
    return to_document_or_none(EndpointBinding, record)


async def lock(connection: Connection, binding_id: str) -> EndpointBinding:
    """Keeps a Binding that exists as it is until the transaction ends; Bindings are never deleted."""
    return to_document(
        EndpointBinding, await connection.fetchrow(f"{_BINDING} WHERE binding_id = $1 FOR SHARE", binding_id)
    )


async def page(
    connection: Connection, provider_id: str, agent_id: str | None, after: TimePosition | None, limit: int
) -> Sequence[EndpointBinding]:
    records = await connection.fetch(
        f"{_BINDING} WHERE provider_id = $1 AND ($2::text IS NULL OR agent_id = $2)"
        " AND ($3::timestamptz IS NULL OR created_at < $3 OR (created_at = $3 AND binding_id > $4))"
        " ORDER BY created_at DESC, binding_id LIMIT $5",
        provider_id,
        agent_id,
        *(after or (None, None)),
        limit,
    )
    return to_documents(EndpointBinding, records)


async def insert_challenge(
    connection: Connection, challenge_id: str, binding_id: str, proof_sha256: bytes, expires_at: datetime
) -> None:
    await connection.execute(
        "INSERT INTO registry.challenge (challenge_id, binding_id, proof_sha256, expires_at) VALUES ($1, $2, $3, $4)",
        challenge_id,
        binding_id,
        proof_sha256,
        expires_at,
    )


async def find_challenge(connection: Connection, binding_id: str, challenge_id: str) -> ChallengeRow | None:
    record = await connection.fetchrow(
        "SELECT challenge_id, proof_sha256, expires_at, used_at FROM registry.challenge"
        " WHERE challenge_id = $1 AND binding_id = $2",
        challenge_id,
        binding_id,
    )
    return to_row_or_none(ChallengeRow, record)


async def claim_challenge(connection: Connection, challenge_id: str, now: datetime) -> bool:
    """True for exactly one caller, ever."""
    return bool(
        await connection.fetchval(
            "UPDATE registry.challenge SET used_at = $2 WHERE challenge_id = $1 AND used_at IS NULL RETURNING true",
            challenge_id,
            now,
        )
    )


async def set_failed(connection: Connection, binding_id: str, failure_code: str, now: datetime) -> bool:
    """False when the Binding has been verified in the meantime: success is never overwritten."""
    return bool(
        await connection.fetchval(
            "UPDATE registry.binding SET status = 'failed', failure_code = $2, updated_at = $3"
            " WHERE binding_id = $1 AND status IN ('pending', 'failed') RETURNING true",
            binding_id,
            failure_code,
            now,
        )
    )


async def set_verified(
    connection: Connection, binding_id: str, evidence_digest: str, now: datetime
) -> EndpointBinding | None:
    """None when the Binding has been verified in the meantime."""
    record = await connection.fetchrow(
        "UPDATE registry.binding SET status = 'verified', failure_code = NULL, evidence_digest = $2,"  # noqa: S608
        " verified_at = $3, updated_at = $3 WHERE binding_id = $1 AND status IN ('pending', 'failed')"
        f" RETURNING {_COLUMNS}",
        binding_id,
        evidence_digest,
        now,
    )
    return to_document_or_none(EndpointBinding, record)


async def insert_evidence(connection: Connection, challenge_id: str, verified_at: datetime, digest: str) -> None:
    """What verified the Binding: the proof of this Challenge, at the endpoint that the Binding has for good."""
    await connection.execute(
        "INSERT INTO registry.evidence (binding_id, challenge_id, endpoint_origin, method, proof_sha256, verified_at,"
        " digest) SELECT binding_id, challenge_id, endpoint_origin, method, proof_sha256, $2, $3"
        " FROM registry.challenge JOIN registry.binding USING (binding_id) WHERE challenge_id = $1",
        challenge_id,
        verified_at,
        digest,
    )
