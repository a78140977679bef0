"""Operations of bundles: what others need to check an Invocation or a Trace offline."""

from typing import Final

from msgspec.structs import replace

from aop.client.call import Call, json_of
from aop.client.operation import operation, whole_operation
from aop.client.request import Parts
from aop.contracts.ledger_tree import BundledInvocation, LedgerBundle, LedgerBundlePage

_WORKSPACE = "/v1/workspaces/{workspaceId}"
_MAX_PAGES: Final = 100_000
_PAGES: Final = Parts[LedgerBundlePage](
    cursor=lambda page: page.next_cursor or None,
    joined=lambda first, rest: replace(rest, invocations=first.invocations + rest.invocations),
    max_pages=_MAX_PAGES,
)


def whole_bundle(name: str, pages: LedgerBundlePage) -> LedgerBundle:
    """All pages of an Invocation (`inv_…`) or a Trace as one bundle, as a small one comes in one answer."""
    calls = list[BundledInvocation]()
    for part in pages.invocations:
        if part.card:
            calls.append(BundledInvocation(authorization=part.authorization, card=part.card, leaves=part.leaves))
        else:
            calls[-1] = replace(calls[-1], leaves=calls[-1].leaves + part.leaves)
    about = {"invocation_id" if name.startswith("inv_") else "trace_id": name}
    return LedgerBundle(schema_version="1", head=pages.head, invocations=tuple(calls), **about)


class BundleCalls:
    @operation("GET", _WORKSPACE + "/invocations/{invocationId}/bundle")
    def read_invocation_bundle(self, workspace_id: str, invocation_id: str) -> Call[LedgerBundle]:
        """The events of an ended Invocation with their proofs, what permitted the call, and the Card."""
        return Call(json_of(LedgerBundle), {"workspaceId": workspace_id, "invocationId": invocation_id})

    @operation("GET", _WORKSPACE + "/traces/{traceId}/bundle")
    def read_trace_bundle(self, workspace_id: str, trace_id: str) -> Call[LedgerBundle]:
        """The same of all Invocations of a Trace, in one document."""
        return Call(json_of(LedgerBundle), {"workspaceId": workspace_id, "traceId": trace_id})

    @whole_operation(_WORKSPACE + "/invocations/{invocationId}/bundle/pages", _PAGES)
    def read_invocation_bundle_pages(self, workspace_id: str, invocation_id: str) -> Call[LedgerBundlePage]:
        """A bundle that is too large for one answer, in several requests; `whole_bundle` makes one bundle of it."""
        return Call(json_of(LedgerBundlePage), {"workspaceId": workspace_id, "invocationId": invocation_id})

    @whole_operation(_WORKSPACE + "/traces/{traceId}/bundle/pages", _PAGES)
    def read_trace_bundle_pages(self, workspace_id: str, trace_id: str) -> Call[LedgerBundlePage]:
        """The same of all Invocations of a Trace."""
        return Call(json_of(LedgerBundlePage), {"workspaceId": workspace_id, "traceId": trace_id})
