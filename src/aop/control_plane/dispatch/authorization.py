"""Whether a Workspace may run a capability of an Agent now: one function for the Gateway and for the resolve calls.

1. the Workspace exists; 2. the caller is its owner or a current caller (Gateway only); 3. the Agent is installed, in
the version asked for; 4. the Installation is enabled; 5. the pinned facts agree; 6. the Release is published; 7. the
Card is not disabled; 8. the Skill exists and all its permissions are accepted. One statement reads all of it but the
Card, which never changes. Nothing that can change is remembered between two calls.

A call that the Router resolves was authorized before. If its version was replaced since then, 3 to 8 hold for what was
replaced, for a short time. A new call sees only the current Installation.
"""

import asyncio

import msgspec

from aop.contracts.errors import ErrorCode, Reason, Refusal
from aop.contracts.identity import Pin
from aop.contracts.workspace import InstallationStatus
from aop.control_plane.registry.pins import Pins
from aop.control_plane.workspace.installation_states import (
    CurrentInstallation,
    InstallationState,
    InstallationStates,
    Permit,
)
from aop.control_plane.workspace.roles import require_caller, require_known


class AgentNotInstalled(Refusal):
    code = ErrorCode.AGENT_NOT_INSTALLED


class InstallationDisabled(Refusal):
    code = ErrorCode.INSTALLATION_DISABLED


class CapabilityNotAllowed(Refusal):
    code = ErrorCode.CAPABILITY_NOT_ALLOWED


class AccessRequest(msgspec.Struct, frozen=True):
    workspace_id: str
    agent_id: str
    capability: str
    version: str | None = None
    """The version that an earlier authorization named; None for whichever is installed."""


class Authorization:
    def __init__(self, installation_states: InstallationStates, pins: Pins) -> None:
        self._states = installation_states
        self._pins = pins

    def begin(self, caller: str, access: AccessRequest) -> "asyncio.Future[InstallationState | None]":
        """Asks the store what `for_caller` decides by. A caller that does not go on cancels it."""
        return self._states.read(access.workspace_id, access.agent_id, caller)

    async def for_caller(self, access: AccessRequest, reading: "asyncio.Future[InstallationState | None]") -> Permit:
        """Decides by what was read for this call and no other."""
        return await self._permitted(access, require_caller(await reading))  # 1, 2

    async def for_router(self, access: AccessRequest) -> Permit:
        """For no one caller: the root of such a call was authorized for its caller."""
        state = require_known(await self._states.read(access.workspace_id, access.agent_id, None))  # 1
        return await self._permitted(access, state)

    async def card(self, pin: Pin) -> bytes:
        """The canonical bytes of an authorized Card."""
        return await self._pins.document(pin.agent, pin.version, pin.card_digest)

    async def _permitted(self, access: AccessRequest, state: InstallationState) -> Permit:
        if access.version is not None and not _pins(state, access.version):
            replaced = await self._states.replaced(access.workspace_id, access.agent_id, access.version)
            state = replaced or state
        installation = _require_enabled(state, access.version)  # 3, 4
        version = state.require_agreement(installation)  # 5
        state.require_usable(version)  # 6, 7
        summary = self._pins.kept_summary(version) or await self._pins.summary(version)
        skill = summary.skills.get(access.capability)
        if skill is None:
            raise CapabilityNotAllowed("no such Skill", reason=Reason.SKILL_UNKNOWN)  # 8
        if not skill.required.issubset(installation.accepted_permissions):
            raise CapabilityNotAllowed("a permission is not accepted", reason=Reason.PERMISSION_NOT_ACCEPTED)  # 8
        return state.authorize(access.workspace_id, version, installation)


def _pins(state: InstallationState, version: str) -> bool:
    return state.installation is not None and state.installation.version == version


def _require_enabled(state: InstallationState, version: str | None) -> CurrentInstallation:
    installation = state.installation
    if installation is None:
        raise AgentNotInstalled("no current Installation", reason=Reason.NOT_INSTALLED)
    if version is not None and not _pins(state, version):
        raise AgentNotInstalled("another version is installed", reason=Reason.NOT_INSTALLED)
    if installation.status is not InstallationStatus.ENABLED:
        raise InstallationDisabled(installation.installation_id)
    return installation
