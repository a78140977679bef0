"""Compares the running Agent with its Card before `aop publish` releases anything."""

from pathlib import Path

from aop.cli.agent_trust import agent_context
from aop.cli.output import Output
from aop.cli.probe import Probe, probed, write_report
from aop.cli.problems import CommandProblem
from aop.client import EndpointProved, PublishStep
from aop.contracts.card import AgentCard
from aop.net.origin import Endpoint, InvalidEndpoint

_OTHER_AGENT_SECONDS = 1.0


class PublishProbe:
    """Once: at the start, because a registered version never changes, or after the proof if nothing answered then."""

    def __init__(
        self, out: Output, card: AgentCard, *, force: bool, report: Path | None, ca: Path | None = None
    ) -> None:
        self._out = out
        self._card = card
        self._force = force
        self._report = report
        self._ca = ca
        self._silent = False
        self.other_agent = ""
        """The id of an Agent that answers at the address in the place of this one."""

    async def before_publishing(self) -> None:
        try:
            endpoint = Endpoint.parse(self._card.protocol.endpoint)
        except InvalidEndpoint:
            return  # the Binding refuses it, and says why
        probe = await self._probed(endpoint)
        self._silent = probe.silent
        if not probe.silent:
            self._judge(probe)

    async def before_release(self, step: PublishStep) -> None:
        if self._silent and isinstance(step, EndpointProved):
            self._silent = False
            self._judge(await self._probed(Endpoint.parse(self._card.protocol.endpoint)))

    async def _probed(self, endpoint: Endpoint) -> Probe:
        context = agent_context(self._ca, endpoint.canonical, beside_public=True)
        return await probed(self._card, endpoint, context)

    def patience(self, seconds: float) -> float:
        """Another Agent will not serve the proof of this one, however long one waits."""
        return min(seconds, _OTHER_AGENT_SECONDS) if self.other_agent else seconds

    def _judge(self, probe: Probe) -> None:
        if probe.agent is not None and probe.agent.card.agent_id != self._card.agent_id:
            self.other_agent = probe.agent.card.agent_id
        if self._report is not None:
            write_report(self._out, self._report, probe.document())
        if probe.problem is not None:
            self._out.note(f"the Agent was not compared with the Card: {probe.problem}")
        self._out.note(*probe.lines())
        breaking = probe.breaking
        if breaking and not self._force:
            raise CommandProblem(
                f"the running Agent is not what the Card says, and nothing was released: {breaking[0].text}",
                code="agent_differs",
                recovery=f"{breaking[0].fix}; or publish anyway with --force",
            )
