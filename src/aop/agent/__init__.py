"""What an Agent author uses: the A2A server, the guard in front of an Agent, its proof page and nested calls."""

from aop.base import own_package as _own_package  # noqa: F401  first, because it may say what is wrong

try:
    import nacl as _signatures  # noqa: F401  everything here verifies with it
except ModuleNotFoundError:
    from aop.base.distribution import install_line

    raise ModuleNotFoundError(f"aop.agent needs the extra agent: {install_line('agent')}", name="nacl") from None

from aop.agent.calls import NestedCallFailed, NestedCallInterrupted, NestedCalls
from aop.agent.card import load_card, public_card
from aop.agent.context import AgentContext, DelegationMissing
from aop.agent.guard import Guard, current
from aop.agent.nested_stream import NestedStream
from aop.agent.proofs import ProofDirectory, ProofPage
from aop.agent.replay import ReplayMemory
from aop.agent.server import AgentServer, serve
from aop.agent.settings import AgentSettings, guarded, handed_sockets
from aop.agent.skills import AgentSkill, InputRefused, SkillFunction
from aop.agent.tasks import TaskLimits
from aop.agent.verifier import Rejected, Trust, Verifier
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
