"""The bytes of leaves: each Invocation Event as `contracts/ledger-leaf` has it, in its RFC 8785 form.

One class makes them for numbering, proofs, check and export. It writes the members in their canonical order itself, as
the parts of an Invocation are the same in all its leaves: that takes a sixth of what a general writer takes. A test
compares both. What was written once never changes: a new member may only appear in rows that have it.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
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
# Of each opening its events: their sequences and statuses as they stand in leaves, and their types.
_OPENINGS: Final = {
    str(opening): tuple(
        (f'{sequence},"status":"{STATUS_OF_EVENT[kind]}', str(kind)) for sequence, kind in enumerate(kinds)
    )
    for opening, kinds in OPENING_EVENTS.items()
}
_AUTHORIZATION: Final = OPENING_COLUMNS.index("authorization_digest")
_MAX_BEGINNINGS: Final = 1_024


class _Beginning:
    """What leaves begin with, up to and with the capability, and the hash of so much: calls of one caller to one Agent
    share it, and it is a third of a leaf."""

    __slots__ = ("_copied", "_text")

    def __init__(self, text: str) -> None:
        self._text = text.encode()
        self._copied = sha256(b"\x00" + self._text).copy

    def leaf(self, rest: str) -> bytes:
        return self._text + rest.encode()

    def hash(self, rest: str) -> bytes:
        """As `leaf_hash` of the whole leaf."""
        made = self._copied()
        made.update(rest.encode())
        return made.digest()


class InvocationLeaves:
    """The leaves of one Invocation: the parts that all of them share, ready to be put together."""

    __slots__ = (
        *("_beginning", "_first_beginning"),
        *("_until_end", "_until_latency", "_until_sequence", "_until_type", "columns"),
    )

    def __init__(self, opening: Sequence[Any]) -> None:
        """From the columns of its opening."""
        invocation, root_task, trace, parent, caller_type, caller = opening[:6]
        workspace, agent, version, release, digest, capability = opening[6:12]
        self.columns = opening
        self._first_beginning, self._beginning = _beginnings(
            # Of an id its text: one of the driver takes longer to be looked up.
            *(caller_type, caller, version, release.hex, digest, capability, opening[_AUTHORIZATION])
        )
        above = "" if parent is None else f'"parentInvocationId":"inv_{parent.hex}",'
        self._until_latency = f'","invocationId":"inv_{invocation.hex}"'
        self._until_sequence = f'",{above}"rootTaskId":"task_{root_task.hex}","schemaVersion":"0.3","sequence":'
        self._until_type = f'","targetAgentId":{quoted(agent)},"traceId":"{trace.hex}","type":"'
        self._until_end = f'","workspaceId":{quoted(workspace)}}}'

    def of_opening(self) -> Sequence[bytes]:
        """Of the one to three events that the acceptance stands for: same moment, consecutive ids."""
        first, *others = self._opening()
        return [self._first_beginning.leaf(first), *map(self._beginning.leaf, others)]

    def hashes_of_opening(self) -> Sequence[bytes]:
        first, *others = self._opening()
        return [self._first_beginning.hash(first), *map(self._beginning.hash, others)]

    def of_event(self, event: Iterable[Any]) -> bytes:
        """Of progress or a terminal, from its columns."""
        return self._beginning.leaf(self._event(event))

    def hash_of_event(self, event: Iterable[Any]) -> bytes:
        return self._beginning.hash(self._event(event))

    def _opening(self) -> Sequence[str]:
        kind, event_id, created_at, deadline_at = self.columns[12:16]
        behind = f'{self._until_latency},"occurredAt":"{to_text(created_at)}{self._until_sequence}'
        until_type, end = self._until_type, self._until_end
        ahead = f',"deadlineAt":"{to_text(deadline_at)}","eventId":"evt_'
        leaves = list[str]()
        for identifier, (place, each) in zip(_consecutive(event_id), _OPENINGS[kind], strict=False):
            leaves.append(f"{ahead}{identifier}{behind}{place}{until_type}{each}{end}")
            ahead = ',"eventId":"evt_'
        return leaves

    def _event(self, event: Iterable[Any]) -> str:
        sequence, event_id, occurred_at, kind, index, count, size, latency_ms, code, reason = event
        chunks = "" if index is None else f',"chunkBytes":{size},"chunkCount":{count},"chunkIndex":{index}'
        latency = "" if latency_ms is None else f',"latencyMs":{latency_ms}'
        return (
            f"{chunks}{'' if code is None else self._error(code, reason)}"
            f',"eventId":"evt_{event_id.hex}{self._until_latency}{latency}'
            f',"occurredAt":"{to_text(occurred_at)}{self._until_sequence}{sequence}'
            f',"status":"{_STATUSES[kind]}{self._until_type}{kind}{self._until_end}'
        )

    def _error(self, code: str, reason: str | None) -> str:
        invocation, root_task, trace = self.columns[:3]
        why = "" if reason is None else f'"reason":"{reason}",'
        return (
            f',"error":{{"code":"{code}","invocationId":"inv_{invocation.hex}",{why}'
            f'"rootTaskId":"task_{root_task.hex}","traceId":"{trace.hex}"}}'
        )


@lru_cache(_MAX_BEGINNINGS)
def _beginnings(
    caller_type: str,
    caller: str,
    version: str,
    release: str,
    digest: bytes,
    capability: str,
    authorization: bytes | None,
) -> tuple[_Beginning, _Beginning]:
    """Of the first leaf of an Invocation, which tells what permitted it, and of its other leaves."""
    start = (
        f'{{"agentCardDigest":"{digest.hex()}","agentCardVersion":{quoted(version)},"agentReleaseId":"rel_{release}"'
    )
    end = f',"caller":{{"id":{quoted(caller)},"type":"{caller_type}"}},"capability":{quoted(capability)}'
    permitted = "" if authorization is None else f',"authorizationDigest":"{authorization.hex()}"'
    return _Beginning(f"{start}{permitted}{end}"), _Beginning(start + end)


def _consecutive(event_id: UUID) -> tuple[str, str, str]:
    """An id and the two behind it. The last digit of the first leaves room for them, if the Router made it."""
    digits = event_id.hex
    place = _DIGITS.index(digits[-1])
    if place + 2 < len(_DIGITS):
        start = digits[:-1]
        return digits, start + _DIGITS[place + 1], start + _DIGITS[place + 2]
    return digits, f"{event_id.int + 1:032x}", f"{event_id.int + 2:032x}"
