"""What a running Agent says of itself, against its Card: the lines for people and the report of its provider."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from aop.a2a.versions import A2AVersion
from aop.agent.check.a2a_address import AgentNotFound, AgentSilent, AgentUntrusted, FoundAgent, find_agent
from aop.agent.check.card_comparison import Difference, differences
from aop.base.clock import utc_now
from aop.cli.shell.output import Line, Output, styled
from aop.cli.shell.problems import file_problems
from aop.contracts.card import AgentCard
from aop.net.origin import Endpoint


@dataclass(frozen=True)
class Probe:
    """`agent` is None when no agent card was found; `problem` then says why, and `silent` whether nothing answered.

    `untrusted`: something did, with a certificate of an unknown authority.
    """

    card: AgentCard
    endpoint: Endpoint
    agent: FoundAgent | None
    problem: str | None = None
    silent: bool = False
    untrusted: bool = False

    @property
    def differences(self) -> Sequence[Difference]:
        return () if self.agent is None else differences(self.card, self.agent)

    @property
    def breaking(self) -> Sequence[Difference]:
        return [one for one in self.differences if one.breaks_calls]

    @property
    def speaks_0_3(self) -> bool:
        """Also where no agent card says anything else."""
        return self.agent is None or A2AVersion.V0_3 in self.agent.speaks

    def document(self) -> dict[str, Any]:
        """What the report holds of it."""
        found = {} if self.agent is None else {"speaks": sorted(self.agent.speaks), "agentCard": self.agent.card_url}
        said = [{"difference": one.text, "fix": one.fix, "breaksCalls": one.breaks_calls} for one in self.differences]
        return {
            "agentId": self.card.agent_id,
            "version": self.card.version,
            "endpoint": self.endpoint.canonical,
            "probedAt": utc_now().strftime("%Y-%m-%dT%H:%M:%SZ"),
            **found,
            **({} if self.problem is None else {"problem": self.problem}),
            "differences": said,
        }


async def probed(card: AgentCard, endpoint: Endpoint, tls: ssl.SSLContext | None = None) -> Probe:
    try:
        return Probe(card, endpoint, await find_agent(endpoint.canonical, endpoint=endpoint, tls=tls))
    except AgentNotFound as problem:
        silent, untrusted = isinstance(problem, AgentSilent), isinstance(problem, AgentUntrusted)
        return Probe(card, endpoint, None, str(problem), silent, untrusted)


def lines_of(found: Sequence[Difference]) -> list[Line]:
    lines: list[Line] = []
    for one in found:
        lines.append(styled(("difference  " if one.breaks_calls else "note        ", "yellow"), one.text))
        lines.append(styled(("  what to do  ", "bold"), one.fix))
    return lines


def write_report(out: Output, path: Path, document: dict[str, Any]) -> None:
    with file_problems(path, "written"):
        path.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")
    out.note(f"report written to {path}; it is yours alone and is not sent anywhere")
