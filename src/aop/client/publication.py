"""Calls of trusted publication: Bindings, Challenges and Releases, and what a provider has of them."""

from typing import Final

import msgspec

from aop.client.call import Call, Page, json_of, page_of
from aop.client.operation import list_operation, operation
from aop.contracts.catalog import CatalogEntry
from aop.contracts.publication import (
    BindingRequest,
    EndpointBinding,
    IssuedChallenge,
    Release,
    ReleaseRequest,
    VerificationMethod,
)
from aop.contracts.reach import ReleaseObservation, ReleaseReach

_PROVIDER = "/v1/providers/{providerId}"
_BINDING = _PROVIDER + "/endpoint-bindings/{bindingId}"
_RELEASE = "/v1/releases/{releaseId}"
# The longest that fetching a proof may be configured to take, and some time for the answer.
_COMPLETION_SECONDS: Final = 75.0


class PublicationCalls:
    """Prove who controls an endpoint, and release the version behind it."""

    @operation("POST", _PROVIDER + "/agents/{agentId}/endpoint-bindings", 201)
    def create_endpoint_binding(
        self, provider_id: str, agent_id: str, version: str, endpoint: str
    ) -> Call[EndpointBinding]:
        """Binds the Card's endpoint to an exact version; the first Binding claims the provider id."""
        body = BindingRequest(endpoint=endpoint, method=VerificationMethod.HTTP_WELL_KNOWN, version=version)
        path = {"providerId": provider_id, "agentId": agent_id}
        return Call(json_of(EndpointBinding), path, body=msgspec.json.encode(body))

    @list_operation(_PROVIDER + "/endpoint-bindings")
    def list_endpoint_bindings(self, provider_id: str, *, agent_id: str | None = None) -> Call[Page[EndpointBinding]]:
        """The Bindings of a provider, newest first."""
        return Call(page_of(EndpointBinding), {"providerId": provider_id}, {"agentId": agent_id})

    @operation("GET", _BINDING)
    def read_endpoint_binding(self, provider_id: str, binding_id: str) -> Call[EndpointBinding]:
        """One Binding with the outcome of its last verification."""
        return Call(json_of(EndpointBinding), {"providerId": provider_id, "bindingId": binding_id})

    @operation("POST", _BINDING + "/challenges", 201)
    def create_challenge(self, provider_id: str, binding_id: str) -> Call[IssuedChallenge]:
        """A new challenge. Only here is its `proof` returned; serve exactly that at `challenge_url`."""
        return Call(json_of(IssuedChallenge), {"providerId": provider_id, "bindingId": binding_id})

    @operation("POST", _BINDING + "/challenges/{challengeId}/complete")
    def complete_challenge(self, provider_id: str, binding_id: str, challenge_id: str) -> Call[EndpointBinding]:
        """Makes the platform fetch the proof once. The Binding is then `verified`, or the error says why not."""
        path = {"providerId": provider_id, "bindingId": binding_id, "challengeId": challenge_id}
        return Call(json_of(EndpointBinding), path, patience=_COMPLETION_SECONDS)

    @operation("POST", _PROVIDER + "/agents/{agentId}/releases", 201)
    def create_release(self, provider_id: str, agent_id: str, version: str, endpoint_binding_id: str) -> Call[Release]:
        """The one Release of a version, over its Binding."""
        body = ReleaseRequest(version=version, endpoint_binding_id=endpoint_binding_id)
        path = {"providerId": provider_id, "agentId": agent_id}
        return Call(json_of(Release), path, body=msgspec.json.encode(body))

    @list_operation(_PROVIDER + "/releases")
    def list_releases(self, provider_id: str, *, agent_id: str | None = None) -> Call[Page[Release]]:
        """The Releases of a provider, newest first."""
        return Call(page_of(Release), {"providerId": provider_id}, {"agentId": agent_id})

    @list_operation(_PROVIDER + "/agents")
    def list_provider_agents(self, provider_id: str) -> Call[Page[CatalogEntry]]:
        """The caller's own Card versions under a provider id, or under none yet, newest first."""
        return Call(page_of(CatalogEntry), {"providerId": provider_id})

    @operation("GET", _RELEASE)
    def read_release(self, release_id: str) -> Call[Release]:
        """One Release. Only its owner sees it when it is not published."""
        return Call(json_of(Release), {"releaseId": release_id})

    @operation("GET", _RELEASE + "/reach")
    def read_release_reach(self, release_id: str) -> Call[ReleaseReach]:
        """How many Workspaces, Installations and calls depend on an own Release: counts only."""
        return Call(json_of(ReleaseReach), {"releaseId": release_id})

    @operation("GET", _RELEASE + "/observation")
    def read_release_observation(self, release_id: str) -> Call[ReleaseObservation]:
        """What the Router knows of an own Release. After a suspend or revoke, its new state shows here."""
        return Call(json_of(ReleaseObservation), {"releaseId": release_id})

    @operation("POST", _RELEASE + "/verify")
    def verify_release(self, release_id: str) -> Call[Release]:
        """Takes over the evidence of a Binding that was verified after the Release was created."""
        return Call(json_of(Release), {"releaseId": release_id})

    @operation("POST", _RELEASE + "/publish")
    def publish_release(self, release_id: str) -> Call[Release]:
        """Makes a verified Release installable, and its Card public."""
        return Call(json_of(Release), {"releaseId": release_id})

    @operation("POST", _RELEASE + "/suspend")
    def suspend_release(self, release_id: str) -> Call[Release]:
        """Blocks new Invocations of the Release. This cannot be undone."""
        return Call(json_of(Release), {"releaseId": release_id})

    @operation("POST", _RELEASE + "/revoke")
    def revoke_release(self, release_id: str) -> Call[Release]:
        """Ends the Release. This cannot be undone."""
        return Call(json_of(Release), {"releaseId": release_id})
