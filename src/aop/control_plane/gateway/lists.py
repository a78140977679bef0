"""The answer of every list: its items, and a cursor where there is a next page."""

from typing import Any, TypeVar

import msgspec

from aop.control_plane.pages import Page
from aop.serving.edge.paging import ListAnswer, Paging
from aop.serving.edge.response import Response, json_response

P = TypeVar("P")


def list_response(paging: Paging[P], page: Page[Any, P]) -> Response:
    return json_response(200, ListAnswer(page.items, next_cursor(paging, page)))


def next_cursor(paging: Paging[P], page: Page[Any, P]) -> str | msgspec.UnsetType:
    return msgspec.UNSET if page.last is None else paging.cursor(page.last)
