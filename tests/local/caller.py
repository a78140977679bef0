"""A caller of the Gateway as any program outside is one: a token, plain HTTP, nothing of ours."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from tests.support.waiting import PATIENCE_SECONDS


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        lines = self.body.decode().splitlines()
        return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


@dataclass(frozen=True)
class Caller:
    origin: str
    token: str

    def get(self, path: str) -> Reply:
        return self._ask("GET", path, None)

    def post(self, path: str, body: Any = None) -> Reply:
        return self._ask("POST", path, body)

    def put(self, path: str) -> Reply:
        return self._ask("PUT", path, None)

    def patch(self, path: str, body: Any) -> Reply:
        return self._ask("PATCH", path, body)

    def delete(self, path: str) -> Reply:
        return self._ask("DELETE", path, None)

    def _ask(self, method: str, path: str, body: Any) -> Reply:
        streamed = isinstance(body, dict) and body.get("stream") is True
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "text/event-stream" if streamed else "application/json",
        }
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.origin + path, content, headers, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
                return Reply(answer.status, answer.read())
        except urllib.error.HTTPError as refused:
            with refused:
                return Reply(refused.code, refused.read())
