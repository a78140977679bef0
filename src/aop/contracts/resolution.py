"""Readers of the two resolve calls with which the Router learns what a Workspace may run."""

from collections.abc import Sequence
from typing import Literal, Self

import msgspec

from aop.contracts.identity import InvocationContext, Pin
from aop.contracts.wire import Wire


class ResolveInstalledVersionRequest(Wire, frozen=True, kw_only=True):
    invocation_id: str
    root_task_id: str
    trace_id: str
    workspace_id: str
    agent_id: str
    capability: str


class ResolveAgentRequest(ResolveInstalledVersionRequest, frozen=True, kw_only=True):
    """Of the version that is named, which an earlier call was authorized for."""

    version: str

    @classmethod
    def of(cls, context: InvocationContext) -> Self:
        lineage, pin, capability = context.lineage, context.pin, context.capability
        return cls(
            **lineage.ids, workspace_id=pin.workspace, agent_id=pin.agent, version=pin.version, capability=capability
        )


class ResolvedInstallation(Wire, frozen=True, kw_only=True):
    installation_id: str
    workspace_id: str
    agent_id: str
    installed_version: str
    installed_release_id: str
    agent_card_digest: str
    accepted_permissions: tuple[str, ...]
    status: Literal["enabled"]

    @classmethod
    def of(cls, pin: Pin, installation_id: str, accepted_permissions: Sequence[str]) -> Self:
        return cls(
            installation_id=installation_id,
            workspace_id=pin.workspace,
            agent_id=pin.agent,
            installed_version=pin.version,
            installed_release_id=pin.release,
            agent_card_digest=pin.card_digest,
            accepted_permissions=tuple(accepted_permissions),
            status="enabled",
        )

    @property
    def pin(self) -> Pin:
        return Pin(
            self.workspace_id,
            self.agent_id,
            self.installed_version,
            self.installed_release_id,
            self.agent_card_digest,
        )


class ResolvedAgent(Wire, frozen=True, kw_only=True):
    """`card` stays bytes: its digest is taken over them before anything is read from it."""

    card: msgspec.Raw
    installation: ResolvedInstallation


class InstalledVersion(Wire, frozen=True, kw_only=True):
    version: str
    release_id: str
    agent_card_digest: str
    authorization_digest: str

    def pin(self, workspace_id: str, agent_id: str) -> Pin:
        return Pin(workspace_id, agent_id, self.version, self.release_id, self.agent_card_digest)


READERS: dict[str, type] = {
    "resolve-agent/1": ResolveAgentRequest,
    "resolve-agent/1#request": ResolveAgentRequest,
    "resolve-agent/1#response": ResolvedAgent,
    "resolve-agent/1#installation": ResolvedInstallation,
    "resolve-installed-version/2": ResolveInstalledVersionRequest,
    "resolve-installed-version/2#request": ResolveInstalledVersionRequest,
    "resolve-installed-version/2#response": InstalledVersion,
}
