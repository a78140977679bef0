"""Routes of the Gateway as the OpenAPI document has them: method, path and the statuses of success."""

from dataclasses import dataclass
from typing import TypeVar

from aop.client.call import Call, Request, target_of

T = TypeVar("T")


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    statuses: tuple[int, ...]

    def request(self, call: Call[T]) -> Request[T]:
        return Request(self.method, target_of(self.path, call.path, call.query), self.statuses, call)
