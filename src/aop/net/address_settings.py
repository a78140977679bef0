"""Reads the settings that name addresses: where to listen, and the origins and URLs of others."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from aop.base.settings import integer
from aop.net.origin import Endpoint, parse_origin
from aop.net.sockets import MAX_PATH_BYTES, is_path


@dataclass(frozen=True)
class ListenAddress:
    host: str
    port: int

    @property
    def text(self) -> str:
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.text}"


def listen_address(text: str) -> ListenAddress:
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not colon or not bare or (":" in bare) != host.startswith("["):
        raise ValueError("must be host:port, with an IPv6 host in brackets")
    return ListenAddress(bare, integer(1, 65535)(port))


def socket_path(text: str) -> str:
    """Of a unix socket, written `unix:/absolute/path`."""
    scheme, colon, path = text.partition(":")
    if scheme + colon != "unix:" or not is_path(path) or path.startswith("//") or "\0" in path:
        raise ValueError("must be unix: and an absolute path")
    if len(os.fsencode(path)) > MAX_PATH_BYTES:
        raise ValueError(f"must have a path of at most {MAX_PATH_BYTES} bytes")
    return path


def origin(text: str) -> str:
    try:
        return parse_origin(text).origin
    except ValueError:
        raise ValueError("must be an exact http or https origin, without path or trailing slash") from None


def origin_list(text: str) -> Sequence[str]:
    return tuple(origin(item) for item in text.split(","))


def http_url(text: str) -> str:
    try:
        Endpoint.parse(text)
    except ValueError:
        raise ValueError("must be an http or https URL without user info, query or fragment") from None
    return text
