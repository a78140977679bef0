"""Bundles: the Router's proof of an Invocation or a Trace, with what permitted each call and its Card."""

from base64 import b64encode
from typing import Final

import msgspec

from aop.contracts.authorization import AuthorizationDocument
from aop.contracts.errors import DependencyFailed, PayloadTooLarge
from aop.contracts.ledger_tree import BundledInvocation, InvocationProof, LedgerBundle, LedgerLeaf, LedgerProof
from aop.control_plane.dispatch.lineage import LineageReads
from aop.control_plane.registry.pins import Pins
from aop.control_plane.workspace.installation_states import InstallationStates

MAX_CARD_CHARACTERS: Final = 16 * 1024 * 1024
"""Of all Cards in one bundle together, as they are written: each Invocation has its own."""


class Bundles:
    def __init__(self, lineage: LineageReads, states: InstallationStates, pins: Pins) -> None:
        self._lineage = lineage
        self._states = states
        self._pins = pins

    async def of_invocation(self, workspace_id: str, invocation_id: str) -> LedgerBundle:
        proof = await self._lineage.proof(workspace_id, "invocations", invocation_id)
        made = await self._bundled(workspace_id, proof)
        if [_first(each).invocation_id for each in proof.invocations] != [invocation_id]:
            raise DependencyFailed("the Router proved another Invocation")
        return LedgerBundle(schema_version="1", invocation_id=invocation_id, head=proof.head, invocations=made)

    async def of_trace(self, workspace_id: str, trace_id: str) -> LedgerBundle:
        proof = await self._lineage.proof(workspace_id, "traces", trace_id)
        made = await self._bundled(workspace_id, proof)
        if any(_first(each).trace_id != trace_id for each in proof.invocations):
            raise DependencyFailed("the Router proved another Trace")
        return LedgerBundle(schema_version="1", trace_id=trace_id, head=proof.head, invocations=made)

    async def _bundled(self, workspace_id: str, proof: LedgerProof) -> tuple[BundledInvocation, ...]:
        """The same Card and the same authorization are read once."""
        cards, permitted = dict[str, str](), dict[str, AuthorizationDocument]()
        made, characters = list[BundledInvocation](), 0
        for each in proof.invocations:
            first = _first(each)
            if first.workspace_id != workspace_id:
                raise DependencyFailed("the Router proved an Invocation of another Workspace")
            digest = first.agent_card_digest
            if digest not in cards:
                card = await self._pins.document(first.target_agent_id, first.agent_card_version, digest)
                cards[digest] = b64encode(card).decode("ascii")
            characters += len(cards[digest])
            if characters > MAX_CARD_CHARACTERS:
                raise PayloadTooLarge("the Cards of the bundle")
            authorization: AuthorizationDocument | msgspec.UnsetType = msgspec.UNSET
            if first.authorization_digest is not msgspec.UNSET:
                authorization = permitted.get(first.authorization_digest) or await self._authorization(first)
                permitted[first.authorization_digest] = authorization
            made.append(BundledInvocation(authorization=authorization, card=cards[digest], leaves=each.leaves))
        return tuple(made)

    async def _authorization(self, first: LedgerLeaf) -> AuthorizationDocument:
        for document in await self._states.authorizations(
            first.workspace_id, first.target_agent_id, first.agent_card_version
        ):
            if document.digest == first.authorization_digest:
                return document
        raise DependencyFailed("what permitted the call is not what the Ledger says")


def _first(proof: InvocationProof) -> LedgerLeaf:
    return msgspec.json.decode(proof.leaves[0].leaf, type=LedgerLeaf)
