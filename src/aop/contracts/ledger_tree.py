"""Readers of what lets others check the Ledger: leaves of its tree, heads, proofs and bundles."""

from typing import Literal

import msgspec

from aop.contracts.authorization import AuthorizationDocument
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import EventFacts
from aop.contracts.wire import Wire


class LeafError(Wire, frozen=True, kw_only=True):
    code: ErrorCode
    reason: Reason | msgspec.UnsetType = msgspec.UNSET
    trace_id: str
    invocation_id: str
    root_task_id: str


class LedgerLeaf(EventFacts, frozen=True, kw_only=True):
    """An Invocation Event without the message of its error."""

    error: LeafError | msgspec.UnsetType = msgspec.UNSET


class LedgerHead(Wire, frozen=True, kw_only=True):
    """The root over the leaves of all numbers before `size`."""

    size: int
    root: str


class LedgerConsistency(Wire, frozen=True, kw_only=True):
    old: LedgerHead
    new: LedgerHead
    path: tuple[str, ...]


class LeafProof(Wire, frozen=True, kw_only=True):
    """`leaf` stays bytes: they are what was hashed."""

    number: int
    leaf: msgspec.Raw
    path: tuple[str, ...]


class InvocationProof(Wire, frozen=True, kw_only=True):
    leaves: tuple[LeafProof, ...]


class LedgerProof(Wire, frozen=True, kw_only=True):
    """What the Router proves; the Gateway adds what permitted each call, and its Card."""

    head: LedgerHead
    invocations: tuple[InvocationProof, ...]


class LedgerProofPage(LedgerProof, frozen=True, kw_only=True):
    """A part of a proof that is larger than one answer; an Invocation may go on in the next one."""

    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


class BundledInvocation(Wire, frozen=True, kw_only=True):
    authorization: AuthorizationDocument | msgspec.UnsetType = msgspec.UNSET
    card: str
    leaves: tuple[LeafProof, ...]


class LedgerBundle(Wire, frozen=True, kw_only=True):
    """Of one Invocation or of one Trace."""

    schema_version: Literal["1"]
    invocation_id: str | msgspec.UnsetType = msgspec.UNSET
    trace_id: str | msgspec.UnsetType = msgspec.UNSET
    head: LedgerHead
    invocations: tuple[BundledInvocation, ...]


class BundledPart(Wire, frozen=True, kw_only=True):
    """An Invocation of a page. One without a Card goes on where the page before it ended."""

    authorization: AuthorizationDocument | msgspec.UnsetType = msgspec.UNSET
    card: str | msgspec.UnsetType = msgspec.UNSET
    leaves: tuple[LeafProof, ...]


class LedgerBundlePage(Wire, frozen=True, kw_only=True):
    """A part of a bundle that is larger than one answer."""

    head: LedgerHead
    invocations: tuple[BundledPart, ...]
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


READERS: dict[str, type] = {
    "ledger-leaf/1": LedgerLeaf,
    "ledger-leaf/1#error": LeafError,
    "ledger-head/1": LedgerHead,
    "ledger-consistency/1": LedgerConsistency,
    "ledger-proof/1": LedgerProof,
    "ledger-proof/1#invocation": InvocationProof,
    "ledger-proof/1#leaf": LeafProof,
    "ledger-bundle/1": LedgerBundle,
    "ledger-bundle/1#invocation": BundledInvocation,
    "ledger-proof-page/1": LedgerProofPage,
    "ledger-proof-page/1#invocation": InvocationProof,
    "ledger-bundle-page/1": LedgerBundlePage,
    "ledger-bundle-page/1#invocation": BundledPart,
}
