"""Lists: the requests for one page after the other."""

from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from aop.client.call import Call, Page, Request
from aop.client.route import Route

T = TypeVar("T")

LARGEST_PAGE: Final = 100


@dataclass(frozen=True)
class ListRequest(Generic[T]):
    route: Route
    call: Call[Page[T]]

    def page(self, limit: int | None = LARGEST_PAGE, cursor: str | None = None) -> Request[Page[T]]:
        query = {**self.call.query, "limit": limit, "cursor": cursor}
        return self.route.request(replace(self.call, query=query))

    def after(self, page: Page[T]) -> Request[Page[T]] | None:
        """The request for what follows; None behind the last page."""
        return None if page.next_cursor is None else self.page(cursor=page.next_cursor)
