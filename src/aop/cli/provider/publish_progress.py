"""The progress of `aop publish` for people: a line for each step, and what to do when a step fails."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from aop.cli.provider.agent_port import holder_of
from aop.cli.shell.card_findings import CardFile
from aop.cli.shell.output import styled
from aop.cli.shell.platform import Platform
from aop.cli.shell.problems import CommandProblem
from aop.client import (
    CardChanged,
    CardRegistered,
    ChallengeCreated,
    EndpointBound,
    EndpointProved,
    PlatformError,
    ProofNeeded,
    ProofNotServed,
    ProofServed,
    PublishStep,
    PublishStopped,
    ReleaseCreated,
    ReleasePublished,
    ReleaseVerified,
)
from aop.contracts.card import AgentCard
from aop.net.origin import Endpoint

ALLOW = "the local platform allows this address when it is started with --allow HOST:PORT"


class PublishProgress:
    def __init__(
        self, platform: Platform, file: CardFile, card: AgentCard, provider_id: str, proof_folder: Path | None
    ) -> None:
        self._platform = platform
        self._file = file
        self._card = card
        self._provider_id = provider_id
        self._proof_folder = proof_folder
        self._last: PublishStep | None = None
        self._spinner = ExitStack()

    def note(self, step: PublishStep) -> None:
        """Only remembers it, so that a failure after it is explained."""
        self._last = step

    def show(self, step: PublishStep) -> None:
        self.note(step)
        self._spinner.close()
        name, text = _line(step)
        self._platform.out.show(styled((f"{name:<11}", "green"), text))
        if isinstance(step, ChallengeCreated):
            waiting = f"waiting for the proof at {step.challenge.challenge_url}"
            self._spinner.enter_context(self._platform.out.working(waiting))

    @contextmanager
    def explained(self, other_agent: str = "") -> Iterator[None]:
        """A failure inside becomes a problem whose recovery fits the step that failed.

        `other_agent` is the id of an Agent that answers at the address in the place of this one.
        """
        with self._spinner:
            try:
                yield
            except PlatformError:
                with self._platform.hinting(**self._hints()):
                    raise
            except (CardChanged, ProofNeeded, ProofNotServed, PublishStopped) as error:
                raise self._problem(error, other_agent) from error
            except OSError as error:
                raise CommandProblem(f"{error.filename} cannot be written: {error.strerror}") from error

    def _hints(self) -> dict[str, str]:
        card, last = self._card, self._last
        if last is None:
            owner = f"owner.id of the Card is {card.owner.id!r}: it must be the principal of your token"
            return {"FORBIDDEN": f"{owner}, and {card.agent_id} must not belong to another"}
        if isinstance(last, CardRegistered) and last.entry.release is None:
            other = "this Agent belongs to another provider id: name that one with --provider"
            taken = f"the provider id {self._provider_id} belongs to somebody else: choose another with --provider"
            return {"CONFLICT": other, "FORBIDDEN": taken}
        if self._platform.destination.local is not None:
            return {"DISALLOWED_NETWORK": ALLOW}
        return {}

    def _problem(
        self, error: CardChanged | ProofNeeded | ProofNotServed | PublishStopped, other_agent: str
    ) -> CommandProblem:
        match error:
            case CardChanged():
                return CommandProblem(
                    f"{error} than {self._file.path} has",
                    code="CONFLICT",
                    recovery="a registered version never changes: raise `version` in the Card and publish that",
                )
            case ProofNeeded():
                folder = self._proof_folder
                return CommandProblem(
                    "the folder that the Agent serves proofs from is not known"
                    if folder is None
                    else f"{folder} is no folder",
                    code="usage",
                    recovery="name its PLATFORM_AGENT_CHALLENGE_DIRECTORY with --proof-dir DIR",
                )
            case ProofNotServed():
                return CommandProblem(
                    f"{error}{self._who_answers(other_agent)}",
                    code="proof_not_served",
                    recovery="start the Agent (`aop agent run DIR`), see that it serves proofs from --proof-dir,"
                    " repeat; the challenge was not spent",
                )
            case PublishStopped():
                return CommandProblem(str(error), code=error.code, recovery=error.recovery.action)

    def _who_answers(self, other_agent: str) -> str:
        if not other_agent:
            return ""
        endpoint = Endpoint.parse(self._card.protocol.endpoint)
        holder = holder_of(endpoint.port if endpoint.is_loopback else 0, other_agent, self._card.agent_id)
        return f". At {endpoint.origin} answers {holder}"


def _line(step: PublishStep) -> tuple[str, str]:  # noqa: PLR0911  one for each step
    match step:
        case CardRegistered(entry, already):
            said = "already" if already else f"digest {entry.card_digest}"
            return "registered", f"{entry.agent_id} {entry.version}, {said}"
        case EndpointBound(binding, already=True):
            return "bound", f"{binding.endpoint}, already ({binding.verification_status})"
        case EndpointBound(binding):
            return "bound", f"{binding.endpoint} by provider {binding.provider_id}"
        case ChallengeCreated(challenge):
            return "challenged", f"{challenge.challenge_id}, until {challenge.expires_at}"
        case ProofServed(url):
            return "served", url
        case EndpointProved(binding):
            return "proved", f"{binding.endpoint} is yours, evidence {binding.verification_evidence_digest}"
        case ReleaseCreated(release):
            return "released", f"{release.release_id}, {release.state}"
        case ReleaseVerified(release):
            return "verified", f"the Release took over the evidence of {release.endpoint_binding_id}"
        case ReleasePublished(release, already):
            return "published", f"{release.release_id}, {'already' if already else 'installable from now on'}"
