"""What an Agent author uses: the guard in front of an Agent, its proof page and nested calls."""

from aop.agent.context import AgentContext, DelegationMissing
from aop.agent.failures import NestedCallFailed, NestedCallInterrupted
from aop.agent.guard import Guard, current
from aop.agent.nested_stream import NestedStream
from aop.agent.proofs import ProofDirectory, ProofPage
from aop.agent.replay import ReplayMemory
from aop.agent.settings import AgentSettings, guarded, handed_sockets
from aop.agent.verifier import Rejected, Trust, Verifier

__all__ = [
    "AgentContext",
    "AgentSettings",
    "DelegationMissing",
    "Guard",
    "NestedCallFailed",
    "NestedCallInterrupted",
    "NestedStream",
    "ProofDirectory",
    "ProofPage",
    "Rejected",
    "ReplayMemory",
    "Trust",
    "Verifier",
    "current",
    "guarded",
    "handed_sockets",
]
