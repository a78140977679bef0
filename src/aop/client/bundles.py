"""Operations of bundles: what others need to check an Invocation or a Trace offline."""

from aop.client.call import Call, json_of
from aop.client.operation import operation
from aop.contracts.ledger_tree import LedgerBundle

_WORKSPACE = "/v1/workspaces/{workspaceId}"


class BundleCalls:
    @operation("GET", _WORKSPACE + "/invocations/{invocationId}/bundle")
    def read_invocation_bundle(self, workspace_id: str, invocation_id: str) -> Call[LedgerBundle]:
        """The events of an ended Invocation with their proofs, what permitted the call, and the Card."""
        return Call(json_of(LedgerBundle), {"workspaceId": workspace_id, "invocationId": invocation_id})

    @operation("GET", _WORKSPACE + "/traces/{traceId}/bundle")
    def read_trace_bundle(self, workspace_id: str, trace_id: str) -> Call[LedgerBundle]:
        """The same of all Invocations of a Trace, in one document."""
        return Call(json_of(LedgerBundle), {"workspaceId": workspace_id, "traceId": trace_id})
