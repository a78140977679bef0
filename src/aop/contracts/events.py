"""Readers of the event feed: an Invocation Event as a CloudEvent, and a page of them."""

from typing import Final, Literal, get_args

from aop.contracts.lineage import EventType, InvocationEvent
from aop.contracts.wire import Wire

CloudEventType = Literal[
    "aop.invocation.created",
    "aop.invocation.routing",
    "aop.invocation.started",
    "aop.invocation.stream",
    "aop.invocation.succeeded",
    "aop.invocation.failed",
    "aop.invocation.canceled",
    "aop.invocation.timed_out",
]
_TYPES: Final[dict[EventType, CloudEventType]] = {
    EventType(name.rpartition(".")[2]): name for name in get_args(CloudEventType)
}


class InvocationCloudEvent(Wire, frozen=True, kw_only=True):
    """The envelope repeats what its data says; `source` and `id` together are its permanent name."""

    specversion: Literal["1.0"]
    id: str
    source: str
    type: CloudEventType
    subject: str
    time: str
    datacontenttype: Literal["application/json"]
    dataschema: Literal["urn:aop:contract:invocation-event:0.3"]
    data: InvocationEvent


class EventPage(Wire, frozen=True, kw_only=True):
    """`after` is where the next read goes on, also when there are no items yet."""

    items: tuple[InvocationCloudEvent, ...]
    after: str


def cloud_event(event: InvocationEvent) -> InvocationCloudEvent:
    return InvocationCloudEvent(
        specversion="1.0",
        id=event.event_id,
        source=f"/v1/workspaces/{event.workspace_id}",
        type=_TYPES[event.type],
        subject=event.invocation_id,
        time=event.occurred_at,
        datacontenttype="application/json",
        dataschema="urn:aop:contract:invocation-event:0.3",
        data=event,
    )


READERS: dict[str, type] = {"invocation-cloud-event/1": InvocationCloudEvent, "event-page/1": EventPage}
