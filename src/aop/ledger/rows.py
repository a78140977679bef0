"""Rows of the Ledger, read as the values they were written from."""

from typing import Any

from aop.contracts.identity import Caller, CallerType, InvocationContext, Lineage, Pin

_CALLER_TYPES = {str(kind): kind for kind in CallerType}


def context_of(row: Any) -> InvocationContext:
    """The Ledger keeps no depth, which only the delegation of a running Invocation needs: it is 0 here."""
    parent = row["parent_invocation_id"]
    return InvocationContext(
        Lineage(
            f"inv_{row['invocation_id'].hex}",
            f"task_{row['root_task_id'].hex}",
            row["trace_id"].hex,
            None if parent is None else f"inv_{parent.hex}",
        ),
        Pin(
            row["workspace_id"],
            row["target_agent_id"],
            row["agent_card_version"],
            f"rel_{row['agent_release_id'].hex}",
            row["agent_card_digest"].hex(),
        ),
        Caller(type=_CALLER_TYPES[row["caller_type"]], id=row["caller_id"]),
        row["capability"],
    )
