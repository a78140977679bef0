"""The call that reads the event feed of a Workspace."""

from aop.client.call import Call, json_of
from aop.client.operation import operation
from aop.contracts.events import EventPage


class EventCalls:
    """Follow what happens in a Workspace."""

    @operation("GET", "/v1/workspaces/{workspaceId}/events")
    def read_events(self, workspace_id: str, *, after: str | None = None, limit: int | None = None) -> Call[EventPage]:
        """Events after a position, as CloudEvents in the order of the Ledger; from the first one without `after`.

        Keep the page's `after` once its items are processed, and give it to the next read. An empty page says that
        nothing is there yet. `limit` is at most 100, and 25 by default.

        >>> ran = client.invoke("demo", "acme:adder", "add", {"numbers": [1, 2]})
        >>> page = client.read_events("demo", limit=100)
        >>> {item.specversion for item in page.items} <= {"1.0"}
        True
        """
        return Call(json_of(EventPage), {"workspaceId": workspace_id}, {"after": after, "limit": limit})
