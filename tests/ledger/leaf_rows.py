"""Rows of the store, and the columns of a leaf, from the documents of leaves."""

from typing import Any
from uuid import UUID

from aop.base.clock import from_text
from aop.ledger.tree.leaf import EVENT_COLUMNS, OPENING_COLUMNS

Leaf = dict[str, Any]
PLACES = {"created": 0, "routing": 1, "started": 2}


def _uuid(identifier: str) -> UUID:
    return UUID(identifier.rpartition("_")[2])


def opening_columns(leaf: Leaf) -> list[Any]:
    """Of the acceptance that has this event, or that stands before it."""
    kind = leaf["type"] if leaf["type"] in PLACES else "started"
    parent, permitted = leaf.get("parentInvocationId"), leaf.get("authorizationDigest")
    deadline: str = leaf.get("deadlineAt") or leaf["occurredAt"]
    columns = {
        "invocation_id": _uuid(leaf["invocationId"]),
        "root_task_id": _uuid(leaf["rootTaskId"]),
        "trace_id": _uuid(leaf["traceId"]),
        "parent_invocation_id": None if parent is None else _uuid(parent),
        "caller_type": leaf["caller"]["type"],
        "caller_id": leaf["caller"]["id"],
        "workspace_id": leaf["workspaceId"],
        "target_agent_id": leaf["targetAgentId"],
        "agent_card_version": leaf["agentCardVersion"],
        "agent_release_id": _uuid(leaf["agentReleaseId"]),
        "agent_card_digest": bytes.fromhex(leaf["agentCardDigest"]),
        "capability": leaf["capability"],
        "opening": kind,
        "opening_event_id": UUID(int=_uuid(leaf["eventId"]).int - PLACES.get(leaf["type"], 0)),
        "created_at": from_text(leaf["occurredAt"]),
        "deadline_at": from_text(deadline),
        "authorization_digest": None if permitted is None else bytes.fromhex(permitted),
    }
    return [columns[name] for name in OPENING_COLUMNS]


def event_columns(leaf: Leaf) -> list[Any]:
    error = leaf.get("error", {})
    columns = {
        "sequence": leaf["sequence"],
        "event_id": _uuid(leaf["eventId"]),
        "occurred_at": from_text(leaf["occurredAt"]),
        "type": leaf["type"],
        "chunk_index": leaf.get("chunkIndex"),
        "chunk_count": leaf.get("chunkCount"),
        "chunk_bytes": leaf.get("chunkBytes"),
        "latency_ms": leaf.get("latencyMs"),
        "error_code": error.get("code"),
        "reason": error.get("reason"),
    }
    return [columns[name] for name in EVENT_COLUMNS]
