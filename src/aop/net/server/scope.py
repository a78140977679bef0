"""The ASGI scope of one request."""

from typing import Any
from urllib.parse import unquote_to_bytes

from aop.net.server.exchange import Exchange, Scope
from aop.net.server.request import RequestReader

_PERCENT = ord("%")
_ASGI = {"version": "3.0", "spec_version": "2.4"}

Endpoint = tuple[str, int]


def asgi_scope(
    reader: RequestReader, exchange: Exchange, client: Endpoint | None, server_name: Endpoint | None
) -> Scope:
    """Beside what ASGI names: the disconnect, quicker ways to body and answer, and what is wrong with the request."""
    path = reader.path
    return {
        "type": "http",
        "asgi": _ASGI,
        "http_version": reader.version,
        "method": reader.method,
        "scheme": "http",
        "path": path.decode("ascii") if _PERCENT not in path else unquote_to_bytes(path).decode("utf-8", "replace"),
        "raw_path": path,
        "query_string": reader.query,
        "root_path": "",
        "headers": reader.headers,
        "client": client,
        "server": server_name,
        "aop.disconnected": exchange.disconnect,
        "aop.whole_body": exchange.whole_body,
        "aop.answer": exchange.answer,
        "aop.comment": exchange.comment,
        "aop.ambiguity": reader.ambiguity,
    }


def endpoint(name: Any) -> Endpoint | None:
    return (name[0], name[1]) if name else None
