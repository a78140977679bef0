"""Asks the running Agent, and compares it with its Card, before `aop publish` registers anything."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from aop.cli.provider.agent_trust import agent_context
from aop.cli.provider.probe import Probe, lines_of, probed, write_report
from aop.cli.provider.publish_progress import ALLOW
from aop.cli.shell.destination import Destination
from aop.cli.shell.output import Output
from aop.cli.shell.problems import EXIT_UNREACHABLE, CommandProblem
from aop.contracts.card import AgentCard
from aop.net.origin import Endpoint, InvalidEndpoint
from aop.net.policy import AddressRefused, AllowList, NameNotResolved, NetworkPolicy, Resolver

_OTHER_AGENT_SECONDS = 1.0
_PAUSE_SECONDS = 0.2
_RESOLVE_SECONDS = 5.0
_START = "start the Agent (`aop agent run DIR`, `aop front --to URL`), then repeat"
_START_FRONT = "its log says why the front does not serve this version; correct that or start it again, then repeat"


@dataclass(frozen=True)
class ProbeChoices:
    """`force`: publish whatever the Agent answers. `report`: a file for what it says of itself."""

    force: bool
    report: Path | None
    wait_seconds: float


class PublishProbe:
    """Before anything is registered, because a registered version never changes."""

    def __init__(self, out: Output, card: AgentCard, choices: ProbeChoices, destination: Destination) -> None:
        self._out = out
        self._card = card
        self._choices = choices
        self._destination = destination
        self.other_agent = ""
        """The id of an Agent that answers at the address in the place of this one."""

    async def before_publishing(self, *, own_path: bool) -> None:
        """`own_path`: the endpoint is of this version alone, so its agent card must be there."""
        try:
            endpoint = Endpoint.parse(self._card.protocol.endpoint)
        except InvalidEndpoint:
            return  # the Binding refuses it, and says why
        refusal = await self._refusal(endpoint)
        with self._out.working(f"waiting for the Agent at {endpoint.canonical}"):
            probe = await self._answered(
                endpoint, 0 if self._choices.force or refusal else self._choices.wait_seconds, own_path
            )
        is_missing = _is_missing(probe, own_path)
        if self._choices.force or not is_missing:
            self._judge(probe)
        if refusal is not None:
            raise refusal
        if is_missing and not self._choices.force:
            start = _START_FRONT if own_path and not probe.silent else _START
            raise CommandProblem(
                f"{probe.problem}; nothing was registered",
                code="agent_silent",
                recovery=f"{start}; if the platform reaches it and this machine does not: --force",
                exit_code=EXIT_UNREACHABLE,
            )

    async def _answered(self, endpoint: Endpoint, seconds: float, own_path: bool) -> Probe:
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        while True:
            probe = await self._probed(endpoint)
            if clock() >= until or not _is_missing(probe, own_path):
                return probe
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _refusal(self, endpoint: Endpoint) -> CommandProblem | None:
        """Of an address that the local platform does not call. Another platform says so when it looks for the proof."""
        local = self._destination.local
        if local is None or not local.run.allowed:
            return None
        policy = NetworkPolicy(AllowList.parse(local.run.allowed), Resolver())
        try:
            await policy.admit(endpoint, asyncio.get_running_loop().time() + _RESOLVE_SECONDS)
        except AddressRefused as refused:
            text = f"the local platform does not call {endpoint.origin}: {refused}; nothing was registered"
            return CommandProblem(text, code="DISALLOWED_NETWORK", recovery=ALLOW)
        except (NameNotResolved, TimeoutError):
            pass  # nobody answers there either
        return None

    async def _probed(self, endpoint: Endpoint) -> Probe:
        context = agent_context(self._destination.ca, endpoint.canonical, beside_public=True)
        return await probed(self._card, endpoint, context)

    def patience(self, seconds: float) -> float:
        """Another Agent will not serve the proof of this one, however long one waits."""
        return min(seconds, _OTHER_AGENT_SECONDS) if self.other_agent else seconds

    def _judge(self, probe: Probe) -> None:
        if probe.agent is not None and probe.agent.card.agent_id != self._card.agent_id:
            self.other_agent = probe.agent.card.agent_id
        if self._choices.report is not None:
            write_report(self._out, self._choices.report, probe.document())
        if probe.problem is not None:
            self._out.note(f"the Agent was not compared with the Card: {probe.problem}")
        self._out.note(*lines_of(probe.differences))
        breaking = probe.breaking
        if breaking and not self._choices.force:
            raise CommandProblem(
                f"the running Agent is not what the Card says, and nothing was released: {breaking[0].text}",
                code="agent_differs",
                recovery=f"{breaking[0].fix}; or publish anyway with --force",
            )


def _is_missing(probe: Probe, own_path: bool) -> bool:
    """One with an unknown certificate does answer; the platform may know its authority."""
    return not probe.untrusted and (probe.silent or (own_path and probe.agent is None))
