"""Publishes a Card version step by step, going on from whatever state the platform already has."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aop.agent.proof_probe import wait_until_served
from aop.base.canonical import canonical, digest
from aop.base.json import parse
from aop.cli.card_findings import CardFile
from aop.cli.platform import Platform
from aop.cli.problems import Problem
from aop.client import PlatformError
from aop.contracts.card import AgentCard
from aop.contracts.catalog import CatalogEntry, PublicationStatus
from aop.contracts.errors import ErrorCode
from aop.contracts.publication import EndpointBinding, IssuedChallenge, Release, ReleaseState, VerificationStatus
from aop.contracts.recovery import recoveries

Say = Callable[[str, str], None]
"""Tells of a step that is done: its name, and what came of it."""

_ENDED = {
    ReleaseState.SUSPENDED: ErrorCode.AGENT_RELEASE_SUSPENDED,
    ReleaseState.REVOKED: ErrorCode.AGENT_RELEASE_REVOKED,
}


@dataclass(frozen=True)
class Proving:
    """Where the Agent serves proofs from, and how long to wait until it does; 0 does not wait."""

    folder: Path | None
    seconds: float


@dataclass(frozen=True)
class Publication:
    platform: Platform
    file: CardFile
    card: AgentCard
    provider_id: str
    proving: Proving
    say: Say

    async def run(self) -> Release:
        """Each step is done once: what an earlier run has done is found and used."""
        entry = await self._registered()
        release = await self._release(entry)
        if release.state is ReleaseState.PENDING_VERIFICATION:
            release = await self.platform.client.verify_release(release.release_id)
            self.say("verified", f"the Release took over the evidence of {release.endpoint_binding_id}")
        if release.state is ReleaseState.VERIFIED:
            release = await self.platform.client.publish_release(release.release_id)
            self.say("published", f"{release.release_id}, installable from now on")
        elif release.state is ReleaseState.PUBLISHED:
            self.say("published", f"{release.release_id}, already")
        else:
            raise _cannot_go_on(f"the Release {release.release_id} is {release.state}", _ENDED.get(release.state))
        return release

    async def _registered(self) -> CatalogEntry:
        card, entry = self.card, await self._known()
        if entry is None:
            with self.platform.hinting(FORBIDDEN=self._forbidden()):
                entry = await self.platform.client.register_agent_card(self.file.raw)
            self.say("registered", f"{card.agent_id} {card.version}, digest {entry.card_digest}")
            return entry
        if entry.card_digest != digest(canonical(parse(self.file.raw))):
            raise Problem(
                f"{card.agent_id} {card.version} is registered already, with another content than {self.file.path} has",
                code="CONFLICT",
                recovery="a registered version never changes: raise `version` in the Card and publish that",
            )
        if entry.publication_status is PublicationStatus.DISABLED:
            raise _cannot_go_on(f"{card.agent_id} {card.version} is disabled", ErrorCode.AGENT_DISABLED)
        self.say("registered", f"{card.agent_id} {card.version}, already")
        return entry

    async def _known(self) -> CatalogEntry | None:
        try:
            async for entry in self.platform.client.list_agent_versions(self.card.agent_id):
                if entry.version == self.card.version:
                    return entry
        except PlatformError as error:
            # An Agent of somebody else, of which nothing may be seen, is for the registration to refuse.
            if error.code not in {ErrorCode.NOT_FOUND, ErrorCode.FORBIDDEN}:
                raise
        return None

    async def _release(self, entry: CatalogEntry) -> Release:
        client = self.platform.client
        if entry.release is not None:
            release = await client.read_release(entry.release.release_id)
            if release.state is ReleaseState.PENDING_VERIFICATION:
                found = await client.read_endpoint_binding(release.provider_id, release.endpoint_binding_id)
                await self._verified(found)
            return release
        binding = await self._verified(await self._bound())
        release = await client.create_release(
            self.provider_id, self.card.agent_id, self.card.version, binding.binding_id
        )
        self.say("released", f"{release.release_id}, {release.state}")
        return release

    async def _bound(self) -> EndpointBinding:
        """A verified Binding of this version before any other."""
        earlier = [binding for binding in await self._bindings() if binding.version == self.card.version]
        earlier.sort(key=lambda binding: binding.verification_status is not VerificationStatus.VERIFIED)
        if earlier:
            self.say("bound", f"{earlier[0].endpoint}, already ({earlier[0].verification_status})")
            return earlier[0]
        other = "this Agent belongs to another provider id: name that one with --provider"
        taken = f"the provider id {self.provider_id} belongs to somebody else: choose another with --provider"
        with self.platform.hinting(CONFLICT=other, FORBIDDEN=taken):
            binding = await self.platform.client.create_endpoint_binding(
                self.provider_id, self.card.agent_id, self.card.version, self.card.protocol.endpoint
            )
        self.say("bound", f"{binding.endpoint} by provider {binding.provider_id}")
        return binding

    async def _bindings(self) -> list[EndpointBinding]:
        listing = self.platform.client.list_endpoint_bindings(self.provider_id, agent_id=self.card.agent_id)
        try:
            return [binding async for binding in listing]
        except PlatformError as error:
            if error.code is not ErrorCode.NOT_FOUND:
                raise
            return []  # nobody has used this provider id yet

    async def _verified(self, binding: EndpointBinding) -> EndpointBinding:
        if binding.verification_status is VerificationStatus.VERIFIED:
            return binding
        folder = self._proof_folder()
        challenge = await self.platform.client.create_challenge(binding.provider_id, binding.binding_id)
        self.say("challenged", f"{challenge.challenge_id}, until {challenge.expires_at}")
        proof = folder / challenge.challenge_id
        try:
            _place(proof, challenge)
            await self._served(challenge)
            with self.platform.hinting(**self._network_hint()):
                done = await self.platform.client.complete_challenge(
                    binding.provider_id, binding.binding_id, challenge.challenge_id
                )
        finally:
            proof.unlink(missing_ok=True)
        self.say("proved", f"{done.endpoint} is yours, evidence {done.verification_evidence_digest}")
        return done

    async def _served(self, challenge: IssuedChallenge) -> None:
        if self.proving.seconds == 0:
            return
        url, seconds = challenge.challenge_url, self.proving.seconds
        with self.platform.out.working(f"waiting until the Agent serves the proof at {url}"):
            seen = await wait_until_served(url, challenge.proof, seconds)
        if seen is not None:
            raise Problem(
                f"the Agent does not serve the proof at {url}: {seen}",
                code="proof_not_served",
                recovery="start the Agent (`aop agent run DIR`), see that it serves proofs from --proof-dir, repeat;"
                " the challenge was not spent",
            )
        self.say("served", url)

    def _proof_folder(self) -> Path:
        folder = self.proving.folder
        if folder is None or not folder.is_dir():
            raise Problem(
                "it is not known where the Agent serves proofs from" if folder is None else f"{folder} is no folder",
                code="usage",
                recovery="name its PLATFORM_AGENT_CHALLENGE_DIRECTORY with --proof-dir DIR",
            )
        return folder

    def _forbidden(self) -> str:
        return (
            f"owner.id of the Card is {self.card.owner.id!r}: it must be the principal of your token, and"
            f" {self.card.agent_id} must not belong to another"
        )

    def _network_hint(self) -> dict[str, str]:
        if self.platform.destination.local is None:
            return {}
        return {
            "DISALLOWED_NETWORK": "the local platform allows this address when it is started with --allow HOST:PORT"
        }


def _place(proof: Path, challenge: IssuedChallenge) -> None:
    try:
        proof.write_bytes(challenge.proof.encode())
    except OSError as problem:
        raise Problem(f"{proof} cannot be written: {problem.strerror}") from None


def _cannot_go_on(text: str, code: ErrorCode | None) -> Problem:
    recovery = recoveries()[code].action if code is not None else ""
    return Problem(text, code=code or "CONFLICT", recovery=recovery)
