"""What an Agent author uses: the A2A server, the guard in front of an Agent, its proof page and nested calls."""

from aop.base import own_package as _own_package  # noqa: F401  first, because it may say what is wrong

try:
    import nacl as _signatures  # noqa: F401  everything here verifies with it
except ModuleNotFoundError:
    from aop.base.distribution import install_line

    raise ModuleNotFoundError(f"aop.agent needs the extra agent: {install_line('agent')}", name="nacl") from None

from aop.agent.call.calls import NestedCallFailed, NestedCallInterrupted, NestedCalls
from aop.agent.call.nested_stream import NestedStream
from aop.agent.guard.card import load_card, public_card
from aop.agent.guard.context import AgentContext, DelegationMissing
from aop.agent.guard.guard import Guard, current
from aop.agent.guard.proofs import ProofDirectory, ProofPage
from aop.agent.guard.replay import ReplayMemory
from aop.agent.guard.settings import AgentSettings, guarded, handed_sockets
from aop.agent.guard.verifier import Rejected, Trust, Verifier
from aop.agent.server.server import AgentServer, serve
from aop.agent.server.skills import AgentSkill, InputRefused, SkillFunction
from aop.agent.server.tasks import TaskLimits
from aop.contracts.signing import VerifyKey

__all__ = [
    "AgentContext",
    "AgentServer",
    "AgentSettings",
    "AgentSkill",
    "DelegationMissing",
    "Guard",
    "InputRefused",
    "NestedCallFailed",
    "NestedCallInterrupted",
    "NestedCalls",
    "NestedStream",
    "ProofDirectory",
    "ProofPage",
    "Rejected",
    "ReplayMemory",
    "SkillFunction",
    "TaskLimits",
    "Trust",
    "Verifier",
    "VerifyKey",
    "current",
    "guarded",
    "handed_sockets",
    "load_card",
    "public_card",
    "serve",
]
