"""The Router's proof, checked leaf by leaf: it may have megabytes, and other requests have their turn meanwhile."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from aop.base import json
from aop.contracts.documents import Document, document
from aop.contracts.errors import DependencyFailed
from aop.contracts.ledger_tree import InvocationProof, LeafProof, LedgerHead, LedgerProof, LedgerProofPage
from aop.contracts.wire import Wire

_LEAVES_AT_ONCE: Final = 32
"""A leaf with its path has up to 3 kB, and its check takes about 0.1 ms."""
_MIN_LEAVES: Final = 2


class _Leaves(Wire, frozen=True, kw_only=True):
    leaves: tuple[msgspec.Raw, ...]


class _Outline(Wire, frozen=True, kw_only=True):
    """The parts of a proof, or of a page of one, as bytes that are still unread."""

    head: msgspec.Raw
    invocations: tuple[_Leaves, ...]
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET

    def as_bytes(self) -> bytes:
        invocations = b",".join(b'{"leaves":[%b]}' % b",".join(map(bytes, each.leaves)) for each in self.invocations)
        cursor = b"" if self.next_cursor is msgspec.UNSET else b',"nextCursor":' + msgspec.json.encode(self.next_cursor)
        return b'{"head":%b,"invocations":[%b]%b}' % (bytes(self.head), invocations, cursor)


async def read_proof(body: bytes) -> LedgerProof:
    """As strict as for any other answer: the outline is exactly these bytes, and each part follows the contract."""
    page = await _read(body, _MIN_LEAVES)
    if page.next_cursor is not msgspec.UNSET:
        raise _unexpected()
    return LedgerProof(head=page.head, invocations=page.invocations)


async def read_proof_page(body: bytes) -> LedgerProofPage:
    """Likewise. Of an Invocation that goes on in the next page it may have one leaf."""
    return await _read(body, 1)


async def _read(body: bytes, min_leaves: int) -> LedgerProofPage:
    try:
        outline = msgspec.json.decode(body, type=_Outline)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise _unexpected() from None
    if outline.as_bytes() != body or not outline.invocations:
        raise _unexpected()
    head = _part(outline.head, document("ledger-head/1"), LedgerHead)
    invocations = [await _invocation(each.leaves, min_leaves) for each in outline.invocations]
    return LedgerProofPage(head=head, invocations=tuple(invocations), next_cursor=outline.next_cursor)


async def _invocation(leaves: Sequence[msgspec.Raw], min_leaves: int) -> InvocationProof:
    if len(leaves) < min_leaves:
        raise _unexpected()
    expected, read = document("ledger-proof/1#leaf"), list[LeafProof]()
    for start in range(0, len(leaves), _LEAVES_AT_ONCE):
        read += [_part(leaf, expected, LeafProof) for leaf in leaves[start : start + _LEAVES_AT_ONCE]]
        await asyncio.sleep(0)
    return InvocationProof(leaves=tuple(read))


def _part(raw: msgspec.Raw, expected: Document, kind: Any) -> Any:
    try:
        value = json.parse(bytes(raw), json.UNIT_DEPTH)
    except json.JsonRefused:
        raise _unexpected() from None
    if not expected.is_valid(value):
        raise _unexpected()
    return msgspec.json.decode(raw, type=kind)


def _unexpected() -> DependencyFailed:
    return DependencyFailed("the Router's proof does not follow the contract")
