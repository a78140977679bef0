"""Routes as data: which method and path is served by whom, behind which checks."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol
from urllib.parse import unquote_to_bytes

from aop.base.ids import is_safe_identifier, is_trace_id
from aop.base.semver import Version, VersionSyntax
from aop.contracts.errors import Envelope, ErrorCode, InvalidRequest, Reason, Violation
from aop.net.asgi import Send
from aop.serving.edge.admission import Slots
from aop.serving.edge.query import QueryRules
from aop.serving.edge.request import Request
from aop.serving.edge.response import Headers


class RouteAnswer(Protocol):
    """What a call returns: a whole response or an event stream."""

    async def deliver(self, request: Request, extra: Headers, send: Send) -> None: ...

    @property
    def status(self) -> int: ...

    @property
    def code(self) -> ErrorCode | None: ...

    @property
    def reason(self) -> Reason | None: ...


Call = Callable[[Request], Awaitable[RouteAnswer]]
Access = Callable[[Request], Awaitable[None]]


async def anyone(request: Request) -> None:
    """Access rule of the public read, health and metrics: no authentication."""


class Spanned(Enum):
    """Whether calls of a route have a span, and whose word on the parent of that span counts."""

    NOT = "not"
    AS_ROOT = "as root"
    UNDER_CALLER = "under caller"


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    call: Call
    envelope: Envelope = Envelope.CATALOG
    access: Access = anyone
    slots: Slots | None = None
    query: QueryRules | None = field(default_factory=dict)
    head: bool = True
    spanned: Spanned = Spanned.AS_ROOT


@dataclass
class _Node:
    fixed: dict[str, "_Node"] = field(default_factory=dict)
    parameter: "_Node | None" = None
    routes: dict[str, Route] = field(default_factory=dict)
    names: Sequence[str] = ()


# Callers repeat the paths of their Workspaces. What a path leads to never changes.
_MAX_KEPT = 1024
_MAX_KEPT_BYTES = 256


class RouteTable:
    """Finds the routes of a path; segments are percent-decoded exactly once, after splitting."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._root = _Node()
        self._kept: dict[bytes, tuple[Mapping[str, Route], dict[str, str]]] = {}
        for route in routes:
            self._add(route)

    def find(self, raw_path: bytes) -> tuple[Mapping[str, Route], dict[str, str]] | None:
        """The routes of the path by method, and its parameters, not yet judged; None when the path is unknown."""
        kept = self._kept.get(raw_path)
        if kept is None:
            kept = self._walk(raw_path)
            if kept is None:
                return None
            if len(raw_path) <= _MAX_KEPT_BYTES:
                if len(self._kept) >= _MAX_KEPT:
                    self._kept.clear()
                self._kept[raw_path] = kept
        routes, values = kept
        return routes, values.copy()

    def _walk(self, raw_path: bytes) -> tuple[Mapping[str, Route], dict[str, str]] | None:
        node, values = self._root, []
        # The server lets nothing but visible ASCII stand in a path.
        segments = raw_path.decode("ascii").split("/")
        for segment in segments[1:]:
            text = segment if "%" not in segment else unquote_to_bytes(segment).decode("utf-8", "replace")
            child = node.fixed.get(text)
            if child is None and text:
                child = node.parameter
                values.append(text)
            if child is None:
                return None
            node = child
        return (node.routes, dict(zip(node.names, values, strict=True))) if node.routes else None

    def _add(self, route: Route) -> None:
        node, names = self._root, []
        for segment in route.path.split("/")[1:]:
            if segment.startswith(":"):
                names.append(segment[1:])
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                node = node.fixed.setdefault(segment, _Node())
        node.names = names
        methods = ("GET", "HEAD") if route.method == "GET" and route.head else (route.method,)
        node.routes.update(dict.fromkeys(methods, route))


def _is_version(text: str) -> bool:
    try:
        Version.parse(text)
    except VersionSyntax:
        return False
    return True


_PUBLIC_AGENT_ID = re.compile(r"agt_[0-9a-f]{32}", re.ASCII)
_PATH_RULES: Mapping[str, Callable[[str], bool]] = {
    "version": _is_version,
    "traceId": is_trace_id,
    "publicAgentId": lambda text: _PUBLIC_AGENT_ID.fullmatch(text) is not None,
}


def require_path_values(values: Mapping[str, str]) -> None:
    """Each identifier of the path must have the form of contract section 1."""
    broken = [name for name, text in values.items() if not _PATH_RULES.get(name, is_safe_identifier)(text)]
    if broken:
        raise InvalidRequest(*(Violation(f"/{name}", "path_value") for name in broken))
