"""The call that reads the figures of a Workspace."""

from datetime import datetime

from aop.client.call import Call, json_of
from aop.client.operation import operation
from aop.contracts.figures import Figures


class FigureCalls:
    """Count what was invoked."""

    @operation("GET", "/v1/workspaces/{workspaceId}/figures")
    def read_figures(
        self,
        workspace_id: str,
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        step: int | None = None,
    ) -> Call[Figures]:
        """Counts and latencies of a window, in total and by steps of so many seconds; the last hour by default.

        `since` and `until` are whole minutes, `step` is a multiple of 60, and there are at most 400 steps.

        >>> _ = client.invoke("demo", "acme:adder", "add", {"numbers": [1, 2]})
        >>> client.read_figures("demo").total.counts.failed
        0
        """
        query = {"since": since, "until": until, "step": step}
        return Call(json_of(Figures), {"workspaceId": workspace_id}, query)
