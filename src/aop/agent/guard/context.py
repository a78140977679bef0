"""The context of one managed call: who asked, for what, in which lineage, and the right to call other Agents."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec

from aop.agent.call.calls import NestedCall, NestedCalls
from aop.agent.call.nested_stream import NestedStream
from aop.base.settings import Secret
from aop.contracts.credential import CredentialClaims

SkillInput = Mapping[str, Any] | str
"""What a Skill of another Agent takes: an object, or a text."""


class DelegationMissing(RuntimeError):
    """This request gives no right to call other Agents: only message/send and message/stream do."""


@dataclass(frozen=True)
class AgentContext:
    """Verified facts of the request being served; unique to it, and safe to log."""

    invocation_id: str
    root_task_id: str
    trace_id: str
    parent_invocation_id: str | None
    workspace_id: str
    agent_id: str
    agent_version: str
    release_id: str
    card_digest: str
    capability: str
    _delegation: Secret | None = field(repr=False, compare=False)
    _calls: NestedCalls = field(repr=False, compare=False)
    traceparent: str | None = field(default=None, compare=False)
    """The span the Router calls from, as W3C Trace Context writes it; None when the platform sends no spans."""

    @classmethod
    def of(
        cls,
        claims: CredentialClaims,
        delegation: bytes | None,
        calls: NestedCalls,
        traceparent: bytes | None = None,
    ) -> Self:
        parent = claims.parent_invocation_id
        return cls(
            invocation_id=claims.invocation_id,
            root_task_id=claims.root_task_id,
            trace_id=claims.trace_id,
            parent_invocation_id=None if parent is msgspec.UNSET else parent,
            workspace_id=claims.workspace_id,
            agent_id=claims.agent_id,
            agent_version=claims.agent_version,
            release_id=claims.release_id,
            card_digest=claims.card_digest,
            capability=claims.capability,
            _delegation=None if delegation is None else Secret(delegation.decode("latin-1")),
            _calls=calls,
            traceparent=None if traceparent is None else traceparent.decode("latin-1"),
        )

    @property
    def delegation(self) -> Secret | None:
        """The right to make child calls, for a program that passes it on to the Agent it stands for."""
        return self._delegation

    async def call(
        self,
        agent_id: str,
        capability: str,
        input: SkillInput,  # noqa: A002  the contract's own name
        *,
        timeout: float | None = None,
        traceparent: str | None = None,
    ) -> Any:
        """The result of a child invocation; NestedCallFailed when there is none.

        Cancelling this call cancels the child. Nothing is ever sent twice. In traces the child stands below the span
        this request came from, or below `traceparent`, a span of your own.
        """
        return await self._calls.result(self._nested(agent_id, capability, input, timeout, traceparent))

    def stream(
        self,
        agent_id: str,
        capability: str,
        input: SkillInput,  # noqa: A002  the contract's own name
        *,
        timeout: float | None = None,
        traceparent: str | None = None,
    ) -> NestedStream:
        """The chunks of a child invocation as they come; leaving early cancels the child.

            async with context.stream("acme:writer", "draft", {"topic": "tea"}) as chunks:
                async for chunk in chunks:
                    ...

        The iteration ends after `completed`; every other end raises NestedCallFailed.
        """
        return NestedStream(self._calls, self._nested(agent_id, capability, input, timeout, traceparent))

    def _nested(
        self, agent_id: str, capability: str, content: SkillInput, timeout: float | None, traceparent: str | None
    ) -> NestedCall:
        if self._delegation is None:
            raise DelegationMissing("this request carries no delegation")
        return NestedCall(
            agent_id,
            capability,
            msgspec.json.encode(content),
            self._delegation,
            self.trace_id,
            self.root_task_id,
            timeout,
            traceparent or self.traceparent,
        )
