"""The bytes of leaves: each Invocation Event as `contracts/ledger-leaf` has it, in its RFC 8785 form.

One class makes them for numbering, proofs, check and export. It writes the members in their canonical order itself, as
the parts of an Invocation are the same in all its leaves: that takes a sixth of what a general writer takes. A test
compares both. What was written once never changes: a new member may only appear in rows that have it.
"""

from collections.abc import Iterable, Sequence
from json.encoder import encode_basestring as quoted
from typing import Any, Final
from uuid import UUID

from aop.base.clock import to_text
from aop.contracts.lineage import STATUS_OF_EVENT
from aop.ledger.model import OPENING_EVENTS

OPENING_COLUMNS: Final = (
    *("invocation_id", "root_task_id", "trace_id", "parent_invocation_id", "caller_type", "caller_id", "workspace_id"),
    *("target_agent_id", "agent_card_version", "agent_release_id", "agent_card_digest", "capability", "opening"),
    *("opening_event_id", "created_at", "deadline_at", "authorization_digest"),
)
"""Of ledger.invocation, in the order in which the leaves are made from them."""
EVENT_COLUMNS: Final = (
    *("sequence", "event_id", "occurred_at", "type", "chunk_index", "chunk_count", "chunk_bytes", "latency_ms"),
    *("error_code", "reason"),
)
"""Of ledger.event, likewise."""

_DIGITS: Final = "0123456789abcdef"
_STATUSES: Final = {str(kind): str(status) for kind, status in STATUS_OF_EVENT.items()}
_OPENINGS: Final = {str(opening): tuple(map(str, kinds)) for opening, kinds in OPENING_EVENTS.items()}


class InvocationLeaves:
    """The leaves of one Invocation: the parts that all of them share, ready to be put together."""

    __slots__ = (
        *("_ids", "_start"),
        *("_until_chunks", "_until_end", "_until_latency", "_until_sequence", "_until_type", "columns"),
    )

    def __init__(self, opening: Sequence[Any]) -> None:
        """From the columns of its opening."""
        invocation, root_task, trace, parent, caller_type, caller = opening[:6]
        workspace, agent, version, release, digest, capability = opening[6:12]
        self.columns = opening
        ids = f'"invocationId":"inv_{invocation.hex}"'
        root = f'"rootTaskId":"task_{root_task.hex}"'
        of_trace = f'"traceId":"{trace.hex}"'
        above = "" if parent is None else f'"parentInvocationId":"inv_{parent.hex}",'
        self._start = (
            f'{{"agentCardDigest":"{digest.hex()}","agentCardVersion":{quoted(version)},'
            f'"agentReleaseId":"rel_{release.hex}"'
        )
        self._until_chunks = (
            f',"caller":{{"id":{quoted(caller)},"type":"{caller_type}"}},"capability":{quoted(capability)}'
        )
        self._until_latency = f'",{ids}'
        self._until_sequence = f'",{above}{root},"schemaVersion":"0.3","sequence":'
        self._until_type = f'","targetAgentId":{quoted(agent)},{of_trace},"type":"'
        self._until_end = f'","workspaceId":{quoted(workspace)}}}'
        self._ids = ids, f"{root},{of_trace}}}"

    def of_opening(self) -> Sequence[bytes]:
        """Of the one to three events that the acceptance stands for: same moment, consecutive ids."""
        kind, event_id, created_at, deadline_at, authorization = self.columns[12:17]
        moment, (first, *others) = to_text(created_at), _consecutive(event_id)
        permitted = "" if authorization is None else f',"authorizationDigest":"{authorization.hex()}"'
        deadline = f',"deadlineAt":"{to_text(deadline_at)}"'
        behind = f'{self._until_latency},"occurredAt":"{moment}{self._until_sequence}'
        start, until_chunks, until_type, end = self._start, self._until_chunks, self._until_type, self._until_end
        created, *later = _OPENINGS[kind]
        leaves = [
            f'{start}{permitted}{until_chunks}{deadline},"eventId":"evt_{first}{behind}0'
            f',"status":"{_STATUSES[created]}{until_type}{created}{end}'.encode()
        ]
        for sequence, (each, identifier) in enumerate(zip(later, others, strict=False), 1):
            leaves.append(
                f'{start}{until_chunks},"eventId":"evt_{identifier}{behind}{sequence}'
                f',"status":"{_STATUSES[each]}{until_type}{each}{end}'.encode()
            )
        return leaves

    def of_event(self, event: Iterable[Any]) -> bytes:
        """Of progress or a terminal, from its columns."""
        sequence, event_id, occurred_at, kind, index, count, size, latency_ms, code, reason = event
        chunks = "" if index is None else f',"chunkBytes":{size},"chunkCount":{count},"chunkIndex":{index}'
        latency = "" if latency_ms is None else f',"latencyMs":{latency_ms}'
        return (
            f"{self._start}{self._until_chunks}{chunks}{'' if code is None else self._error(code, reason)}"
            f',"eventId":"evt_{event_id.hex}{self._until_latency}{latency}'
            f',"occurredAt":"{to_text(occurred_at)}{self._until_sequence}{sequence}'
            f',"status":"{_STATUSES[kind]}{self._until_type}{kind}{self._until_end}'
        ).encode()

    def _error(self, code: str, reason: str | None) -> str:
        invocation, others = self._ids
        why = "" if reason is None else f'"reason":"{reason}",'
        return f',"error":{{"code":"{code}",{invocation},{why}{others}'


def _consecutive(event_id: UUID) -> tuple[str, str, str]:
    """An id and the two behind it. The last digit of the first leaves room for them, if the Router made it."""
    digits = event_id.hex
    place = _DIGITS.index(digits[-1])
    if place + 2 < len(_DIGITS):
        start = digits[:-1]
        return digits, start + _DIGITS[place + 1], start + _DIGITS[place + 2]
    return digits, f"{event_id.int + 1:032x}", f"{event_id.int + 2:032x}"
