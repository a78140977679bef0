"""Bundles: the Router's proof of an Invocation or a Trace, with what permitted each call and its Card."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from aop.contracts.authorization import AuthorizationDocument
from aop.contracts.errors import DependencyFailed, PayloadTooLarge
from aop.contracts.ledger_tree import (
    BundledInvocation,
    BundledPart,
    InvocationProof,
    LedgerBundle,
    LedgerBundlePage,
    LedgerLeaf,
)
from aop.control_plane.dispatch.lineage import LineageReads
from aop.control_plane.registry.pins import Pins
from aop.control_plane.workspace.installation_states import InstallationStates

Bundled = Literal["invocations", "traces"]
"""A bundle is of one Invocation or of one Trace."""

MAX_CARD_CHARACTERS: Final = 16 * 1024 * 1024
"""Of all Cards in one bundle together, as they are written: each Invocation has its own."""


class Bundles:
    def __init__(self, lineage: LineageReads, states: InstallationStates, pins: Pins) -> None:
        self._lineage = lineage
        self._states = states
        self._pins = pins

    async def whole(self, workspace_id: str, of: Bundled, name: str) -> LedgerBundle:
        """The same Card and the same authorization are read once."""
        proof = await self._lineage.proof(workspace_id, of, name)
        if of == "invocations" and len(proof.invocations) != 1:
            raise DependencyFailed("the Router proved other Invocations too")
        cards, permitted = dict[str, str](), dict[str, AuthorizationDocument]()
        made, characters = list[BundledInvocation](), 0
        for each in proof.invocations:
            first = _first(each, workspace_id, of, name)
            digest = first.agent_card_digest
            if digest not in cards:
                cards[digest] = await self._card(first)
            characters += len(cards[digest])
            if characters > MAX_CARD_CHARACTERS:
                raise PayloadTooLarge("the Cards of the bundle")
            authorization = await self._permitted(first, permitted)
            made.append(BundledInvocation(authorization=authorization, card=cards[digest], leaves=each.leaves))
        return LedgerBundle(
            schema_version="1",
            invocation_id=name if of == "invocations" else msgspec.UNSET,
            trace_id=name if of == "traces" else msgspec.UNSET,
            head=proof.head,
            invocations=tuple(made),
        )

    async def page(self, workspace_id: str, of: Bundled, name: str, query: Mapping[str, str]) -> LedgerBundlePage:
        """A part of a bundle of any size. Its Invocations are few, so that their Cards need no limit."""
        page = await self._lineage.proof_page(workspace_id, of, name, query)
        permitted, parts = dict[str, AuthorizationDocument](), list[BundledPart]()
        for each in page.invocations:
            first = _first(each, workspace_id, of, name)
            if first.sequence > 0:
                parts.append(BundledPart(leaves=each.leaves))
                continue
            authorization = await self._permitted(first, permitted)
            parts.append(BundledPart(authorization=authorization, card=await self._card(first), leaves=each.leaves))
        return LedgerBundlePage(head=page.head, invocations=tuple(parts), next_cursor=page.next_cursor)

    async def _card(self, first: LedgerLeaf) -> str:
        card = await self._pins.document(first.target_agent_id, first.agent_card_version, first.agent_card_digest)
        return b64encode(card).decode("ascii")

    async def _permitted(
        self, first: LedgerLeaf, permitted: dict[str, AuthorizationDocument]
    ) -> AuthorizationDocument | msgspec.UnsetType:
        """What was read before is in `permitted`."""
        digest = first.authorization_digest
        if digest is msgspec.UNSET:
            return msgspec.UNSET
        if digest not in permitted:
            documents = await self._states.authorizations(
                first.workspace_id, first.target_agent_id, first.agent_card_version
            )
            named = [document for document in documents if document.digest == digest]
            if not named:
                raise DependencyFailed("what permitted the call is not what the Ledger says")
            permitted[digest] = named[0]
        return permitted[digest]


def _first(proof: InvocationProof, workspace_id: str, of: Bundled, name: str) -> LedgerLeaf:
    """The first leaf of an Invocation, which must be of what was asked for."""
    first = msgspec.json.decode(proof.leaves[0].leaf, type=LedgerLeaf)
    if first.workspace_id != workspace_id:
        raise DependencyFailed("the Router proved an Invocation of another Workspace")
    if name != (first.invocation_id if of == "invocations" else first.trace_id):
        raise DependencyFailed("the Router proved something else")
    return first
