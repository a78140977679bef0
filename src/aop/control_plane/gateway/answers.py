"""What many routes answer alike: the result of one call about what a path names, and the page of a list."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from aop.control_plane.pages import ListPage
from aop.serving.edge.paging import ListAnswer, Paging
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Call

P = TypeVar("P")


def answer_of(act: Callable[..., Awaitable[object]], *names: str, status: int = 200) -> Call:
    """Answers with what `act` returns for the principal and these parts of the path."""

    async def call(request: Request) -> Response:
        return json_response(status, await act(request.principal, *(request.path[name] for name in names)))

    return call


def list_response(paging: Paging[P], page: ListPage[Any, P]) -> Response:
    cursor = msgspec.UNSET if page.last is None else paging.cursor(page.last)
    return json_response(200, ListAnswer(page.items, cursor))
