"""Publishes an Agent, from a Card to a published Release, and continues from what the platform already has."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from enum import Enum, auto
from typing import Annotated

import msgspec

from aop.base.canonical import canonical, digest
from aop.base.json import parse
from aop.client.call import Document, json_bytes
from aop.client.errors import (
    CardChanged,
    ClientError,
    PlatformError,
    ProofNeeded,
    ProofNotServed,
    PublishStopped,
    brief,
)
from aop.client.operations import AsyncOperations
from aop.client.proofs import ServeProof, wait_until_served
from aop.contracts.card import AgentCard
from aop.contracts.catalog import CatalogEntry, PublicationStatus
from aop.contracts.errors import ErrorCode
from aop.contracts.publication import EndpointBinding, IssuedChallenge, Release, ReleaseState, VerificationStatus


class ChangedCard(Enum):
    """What to do when the version is registered already with other content; a registered version never changes."""

    REFUSE = auto()
    """CardChanged is raised, and nothing is done."""
    KEEP = auto()
    """The registered Card is published."""


@dataclass(frozen=True)
class CardRegistered:
    """`already`: by an earlier run. `changed`: the registered Card has other content than the one given."""

    entry: CatalogEntry
    already: bool = False
    changed: bool = False


@dataclass(frozen=True)
class _BindingStep:
    binding: EndpointBinding


@dataclass(frozen=True)
class EndpointBound(_BindingStep):
    """There is a Binding for the endpoint of this version."""

    already: bool = False


class EndpointProved(_BindingStep):
    """The platform has read the proof, and the Binding is verified."""


@dataclass(frozen=True)
class ChallengeCreated:
    challenge: IssuedChallenge


@dataclass(frozen=True)
class ProofServed:
    """The proof was seen at its URL. There is no such step when `wait_seconds` is 0."""

    url: str


@dataclass(frozen=True)
class _ReleaseStep:
    release: Release


class ReleaseCreated(_ReleaseStep):
    """The version has a Release; it is verified, because its Binding is."""


class ReleaseVerified(_ReleaseStep):
    """A Release that was created before its Binding was verified has its evidence now."""


@dataclass(frozen=True)
class ReleasePublished(_ReleaseStep):
    """The last step."""

    already: bool = False


PublishStep = (
    CardRegistered
    | EndpointBound
    | ChallengeCreated
    | ProofServed
    | EndpointProved
    | ReleaseCreated
    | ReleaseVerified
    | ReleasePublished
)
OnStep = Callable[[PublishStep], Awaitable[None] | None]
"""An error that it raises stops the publication before the next step. Only the asynchronous client awaits it."""

_ENDED = {
    ReleaseState.SUSPENDED: ErrorCode.AGENT_RELEASE_SUSPENDED,
    ReleaseState.REVOKED: ErrorCode.AGENT_RELEASE_REVOKED,
}


class _CardName(msgspec.Struct, frozen=True, rename="camel"):
    agent_id: Annotated[str, msgspec.Meta(min_length=1)]
    version: str


@dataclass(frozen=True)
class PublishOptions:
    """The choices of a caller; `Client.publish` says what each means."""

    proofs: ServeProof | None
    provider_id: str | None
    changed: ChangedCard
    wait_seconds: float


@dataclass(frozen=True)
class Publishing:
    """One run. Each step is done once: what an earlier run has done is used."""

    client: AsyncOperations
    card: Document
    options: PublishOptions

    async def steps(self) -> AsyncGenerator[PublishStep, None]:
        """The caller closes it: a proof is served only while the generator is open."""
        async with aclosing(self._all_steps()) as steps:
            try:
                async for step in steps:
                    yield step
            except ClientError as error:
                raise brief(error) from None

    async def _all_steps(self) -> AsyncGenerator[PublishStep, None]:
        registered = await self._registered()
        yield registered
        entry = registered.entry
        if entry.publication_status is PublicationStatus.DISABLED:
            raise PublishStopped(ErrorCode.AGENT_DISABLED, f"{entry.agent_id} {entry.version} is disabled", entry)
        if entry.release is None:
            bound = await self._bound(entry)
            yield bound
            async with aclosing(self._proof_steps(bound.binding)) as steps:
                async for step in steps:
                    yield step
            binding = bound.binding
            release = await self.client.create_release(
                binding.provider_id, binding.agent_id, binding.version, binding.binding_id
            )
            yield ReleaseCreated(release)
        else:
            release = await self.client.read_release(entry.release.release_id)
            if release.state is ReleaseState.PENDING_VERIFICATION:
                binding = await self.client.read_endpoint_binding(release.provider_id, release.endpoint_binding_id)
                async with aclosing(self._proof_steps(binding)) as steps:
                    async for step in steps:
                        yield step
        async with aclosing(self._last_steps(release, entry)) as last:
            async for step in last:
                yield step

    async def _registered(self) -> CardRegistered:
        raw = json_bytes(self.card)
        entry = await self._entry(raw)
        if entry is None:
            return CardRegistered(await self.client.register_agent_card(raw))
        changed = entry.card_digest != digest(canonical(parse(raw)))
        if changed and self.options.changed is ChangedCard.REFUSE:
            raise CardChanged(entry)
        return CardRegistered(entry, already=True, changed=changed)

    async def _entry(self, raw: bytes) -> CatalogEntry | None:
        try:
            name = msgspec.json.decode(raw, type=_CardName)
        except msgspec.DecodeError:
            return None  # the registration refuses it, and says where it is wrong
        try:
            async for entry in self.client.list_agent_versions(name.agent_id):
                if entry.version == name.version:
                    return entry
        except PlatformError as error:
            # The registration refuses an Agent of somebody else, of which nothing may be seen.
            if error.code not in {ErrorCode.NOT_FOUND, ErrorCode.FORBIDDEN}:
                raise
        return None

    async def _bound(self, entry: CatalogEntry) -> EndpointBound:
        """A verified Binding of this version before any other."""
        card = msgspec.json.decode(entry.card, type=AgentCard)
        provider_id = self.options.provider_id or card.owner.id
        earlier = [one for one in await self._bindings(provider_id, entry.agent_id) if one.version == entry.version]
        earlier.sort(key=lambda binding: binding.verification_status is not VerificationStatus.VERIFIED)
        if earlier:
            return EndpointBound(earlier[0], already=True)
        return EndpointBound(
            await self.client.create_endpoint_binding(
                provider_id, entry.agent_id, entry.version, card.protocol.endpoint
            )
        )

    async def _bindings(self, provider_id: str, agent_id: str) -> list[EndpointBinding]:
        try:
            return [one async for one in self.client.list_endpoint_bindings(provider_id, agent_id=agent_id)]
        except PlatformError as error:
            if error.code is not ErrorCode.NOT_FOUND:
                raise
            return []  # nobody has used this provider id yet

    async def _proof_steps(self, binding: EndpointBinding) -> AsyncGenerator[PublishStep, None]:
        if binding.verification_status is VerificationStatus.VERIFIED:
            return
        if self.options.proofs is None:
            raise ProofNeeded(binding.endpoint)
        ids = binding.provider_id, binding.binding_id
        challenge = await self.client.create_challenge(*ids)
        yield ChallengeCreated(challenge)
        with self.options.proofs(challenge):
            if self.options.wait_seconds:
                problem = await wait_until_served(challenge, self.options.wait_seconds)
                if problem is not None:
                    raise ProofNotServed(challenge.challenge_url, problem)
                yield ProofServed(challenge.challenge_url)
            proved = await self.client.complete_challenge(*ids, challenge.challenge_id)
        yield EndpointProved(proved)

    async def _last_steps(self, release: Release, entry: CatalogEntry) -> AsyncGenerator[PublishStep, None]:
        if release.state is ReleaseState.PENDING_VERIFICATION:
            release = await self.client.verify_release(release.release_id)
            yield ReleaseVerified(release)
        if release.state is ReleaseState.VERIFIED:
            yield ReleasePublished(await self.client.publish_release(release.release_id))
        elif release.state is ReleaseState.PUBLISHED:
            yield ReleasePublished(release, already=True)
        else:
            code = _ENDED.get(release.state, ErrorCode.CONFLICT)
            raise PublishStopped(code, f"the Release {release.release_id} is {release.state}", entry)


def released(last: PublishStep) -> Release:
    """The Release that the last step published."""
    if not isinstance(last, ReleasePublished):
        raise TypeError(f"publishing ended with {type(last).__name__}")
    return last.release
