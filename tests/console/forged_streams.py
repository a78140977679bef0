"""Result streams a Gateway would never send, and one longer than any sample Agent's, put in its place."""

import json
from collections.abc import Iterable
from typing import Any

from playwright.sync_api import Page, Route

from tests.console.stack import Json

IDS = {"invocationId": f"inv_{'1' * 32}", "rootTaskId": f"task_{'2' * 32}", "traceId": "3" * 32}


def event(sequence: int, kind: str, status: str, **members: Any) -> Json:
    return {"schemaVersion": "2", "sequence": sequence, "type": kind, "status": status, **IDS, **members}


def accepted() -> Json:
    return event(0, "accepted", "pending")


def chunk(sequence: int, value: Any, index: int | None = None, **members: Any) -> Json:
    numbered = sequence - 1 if index is None else index
    return event(sequence, "chunk", "running", chunkIndex=numbered, chunk=value, **members)


def completed(sequence: int) -> Json:
    return event(sequence, "completed", "succeeded")


def answer_with(page: Page, events: Iterable[Json]) -> None:
    """Every Invocation of the page is answered with these events."""
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in events)

    def answer(route: Route) -> None:
        origin = route.request.headers["origin"]
        headers = {"content-type": "text/event-stream", "access-control-allow-origin": origin}
        route.fulfill(status=200, headers=headers, body=body)

    page.route("**/v1/workspaces/*/invocations", answer)
