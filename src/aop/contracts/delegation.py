"""Readers of the delegation v2 with which an Agent makes child calls."""

from typing import Literal

from aop.contracts.identity import Lineage
from aop.contracts.token import TokenClaims, TokenHeader

DELEGATION_TYP = "platform-delegation+jwt"
DELEGATION_HEADER = "x-platform-delegation"


class DelegationHeader(TokenHeader, frozen=True, kw_only=True):
    alg: Literal["HS256"]
    typ: Literal["platform-delegation+jwt"]


class DelegationClaims(TokenClaims, frozen=True, kw_only=True):
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
    "agent-delegation/2": DelegationClaims,
    "agent-delegation/2#header": DelegationHeader,
    "agent-delegation/2#claims": DelegationClaims,
}
