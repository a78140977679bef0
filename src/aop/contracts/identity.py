"""What names an Invocation and what it runs: values carried whole from the wire to claims, headers, spans and rows.

Ids are spelled as on the wire, with their prefixes. Documents have flat members: `ids` and `members` give them by name.
What every Invocation writes spells them out, because a call with an unpacked dictionary takes 1 µs longer.
"""

from enum import StrEnum
from typing import TypedDict

import msgspec

from aop.contracts.wire import Wire


class CallerType(StrEnum):
    USER = "user"
    AGENT = "agent"
    SERVICE = "service"


class Caller(Wire, frozen=True, kw_only=True):
    type: CallerType
    id: str


class LineageIds(TypedDict):
    """The members by which every document names an Invocation."""

    invocation_id: str
    root_task_id: str
    trace_id: str


class PinMembers(TypedDict):
    """The members by which the Ledger's documents name what runs."""

    workspace_id: str
    target_agent_id: str
    agent_card_version: str
    agent_release_id: str
    agent_card_digest: str


class Lineage(msgspec.Struct, frozen=True):
    """One Invocation in its root Task and Trace; a child has a parent and stands `depth` levels below its root."""

    invocation: str
    root_task: str
    trace: str
    parent: str | None = None
    depth: int = 0

    @property
    def ids(self) -> LineageIds:
        return {"invocation_id": self.invocation, "root_task_id": self.root_task, "trace_id": self.trace}


class Pin(msgspec.Struct, frozen=True):
    """The exact Card that runs, and the Workspace it is installed in."""

    workspace: str
    agent: str
    version: str
    release: str
    card_digest: str

    @property
    def members(self) -> PinMembers:
        return {
            "workspace_id": self.workspace,
            "target_agent_id": self.agent,
            "agent_card_version": self.version,
            "agent_release_id": self.release,
            "agent_card_digest": self.card_digest,
        }


class InvocationContext(msgspec.Struct, frozen=True):
    """What every word about an Invocation repeats: which one it is, what runs, who called and for which Skill."""

    lineage: Lineage
    pin: Pin
    caller: Caller
    capability: str
    authorization_digest: str | None = None
    """Of what permitted the call. Only the event that creates the Invocation tells it, and old rows have none."""
