"""Readers of the delegation v1 with which an Agent makes child calls."""

from typing import Literal

from aop.contracts.identity import Lineage
from aop.contracts.wire import Wire

DELEGATION_TYP = "platform-delegation+jwt"
DELEGATION_HEADER = "x-platform-delegation"


class DelegationHeader(Wire, frozen=True, kw_only=True):
    alg: Literal["EdDSA"]
    typ: Literal["platform-delegation+jwt"]
    kid: str


class DelegationClaims(Wire, frozen=True, kw_only=True):
    iss: str
    aud: tuple[str, ...]
    iat: int
    exp: int
    workspace_id: str
    agent_id: str
    release_id: str
    invocation_id: str
    root_task_id: str
    trace_id: str
    depth: int

    def child(self, invocation: str) -> Lineage:
        """The lineage of an Invocation that is called with this delegation."""
        return Lineage(invocation, self.root_task_id, self.trace_id, self.invocation_id, self.depth + 1)


READERS: dict[str, type] = {
    "agent-delegation/1": DelegationClaims,
    "agent-delegation/1#header": DelegationHeader,
    "agent-delegation/1#claims": DelegationClaims,
}
