"""Requests made of calls: at which route, with which target, and for a list one page after the other."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Generic, TypeVar
from urllib.parse import quote, urlencode

from aop.client.call import Call, Page, QueryValue
from aop.client.errors import BrokenAnswer

T = TypeVar("T")

MAX_PAGE: Final = 100
MAX_PAGES: Final = 100
"""Of one document; the largest of the platform has six."""


@dataclass(frozen=True)
class OperationRequest(Generic[T]):
    """A call at its route, ready to be sent once."""

    method: str
    target: str
    statuses: tuple[int, ...]
    call: Call[T]


@dataclass(frozen=True)
class OperationRoute:
    method: str
    path: str
    statuses: tuple[int, ...]

    def request(self, call: Call[T]) -> OperationRequest[T]:
        return OperationRequest(self.method, target_of(self.path, call.path, call.query), self.statuses, call)


@dataclass(frozen=True)
class ListRequest(Generic[T]):
    route: OperationRoute
    call: Call[Page[T]]

    def page(self, limit: int | None = MAX_PAGE, cursor: str | None = None) -> OperationRequest[Page[T]]:
        query = {**self.call.query, "limit": limit, "cursor": cursor}
        return self.route.request(replace(self.call, query=query))

    def after(self, page: Page[T]) -> OperationRequest[Page[T]] | None:
        """The request for what follows; None behind the last page."""
        return None if page.next_cursor is None else self.page(cursor=page.next_cursor)


@dataclass(frozen=True)
class Parts(Generic[T]):
    """How the pages of one document become the document again."""

    cursor: Callable[[T], str | None]
    joined: Callable[[T, T], T]
    max_pages: int = MAX_PAGES


@dataclass(frozen=True)
class WholeRequest(Generic[T]):
    """A document that may come in pages."""

    route: OperationRoute
    call: Call[T]
    parts: Parts[T]

    async def read(self, send: Callable[[OperationRequest[T]], Awaitable[T]]) -> T:
        """All pages as one document."""
        found = await send(self.route.request(self.call))
        for _ in range(self.parts.max_pages):
            cursor = self.parts.cursor(found)
            if cursor is None:
                return found
            following = replace(self.call, query={**self.call.query, "cursor": cursor})
            found = self.parts.joined(found, await send(self.route.request(following)))
        raise BrokenAnswer(f"its pages do not end: {self.route.method} {self.route.path}", status=200)


def target_of(template: str, path: Mapping[str, str], query: Mapping[str, QueryValue]) -> str:
    """The request target; ValueError for an empty identifier, which would name another path.

    >>> target_of("/v1/agents/{agentId}", {"agentId": "acme:adder"}, {"limit": 5, "cursor": None})
    '/v1/agents/acme:adder?limit=5'
    """
    if not all(path.values()):
        raise ValueError(f"empty: {', '.join(name for name, value in path.items() if not value)}")
    filled = template.format_map({name: quote(value, safe=":") for name, value in path.items()})
    text = urlencode(
        {name: _query_text(value) for name, value in query.items() if value is not None}, quote_via=quote, safe=":"
    )
    return f"{filled}?{text}" if text else filled


def _query_text(value: str | int | bool | datetime) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("a time without a zone")
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return str(value)
