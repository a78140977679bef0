"""The one strict reader of http and https endpoints and origins: canonical output only, everything unclear refused."""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address
from typing import Self

MAX_LENGTH = 2048
MAX_HOST = 253
DEFAULT_PORTS = {"http": 80, "https": 443}

_ENDPOINT = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>\[[^\[\]/]*+\]|[^\[\]/:]*+)"
    r"(?::(?P<port>[0-9]++))?"
    # The path characters of RFC 3986 without percent escapes; no query, no fragment.
    r"(?P<path>(?:/[-.~0-9A-Z_a-z!$&'()*+,;=:@/]*+)?)",
    re.ASCII | re.IGNORECASE,
)
_LABEL = re.compile(r"[-0-9a-z]{1,63}", re.ASCII)
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_DOT_SEGMENT = re.compile(r"/\.{1,2}(?:/|$)")


class InvalidEndpoint(ValueError):
    """The text is no endpoint in the platform's sense; says why, never what it read."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A canonical endpoint. An IPv6 host is held without its brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, text: str) -> Self:
        match = _ENDPOINT.fullmatch(text) if len(text) <= MAX_LENGTH else None
        if match is None and "://" not in text:
            raise InvalidEndpoint("write http:// or https:// before it")
        if match is None:
            raise InvalidEndpoint("not an http or https endpoint without user info, query, fragment or escapes")
        scheme, path = match["scheme"].lower(), match["path"]
        if _DOT_SEGMENT.search(path) is not None:
            raise InvalidEndpoint("a path segment is . or ..")
        port = DEFAULT_PORTS[scheme] if match["port"] is None else canonical_port(match["port"])
        return cls(scheme, canonical_host(match["host"]), port, path or "/")

    @property
    def is_loopback(self) -> bool:
        """By its address. A name is none, whatever it resolves to."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_default_port(self) -> bool:
        return DEFAULT_PORTS[self.scheme] == self.port

    @property
    def authority(self) -> str:
        """Host and non-default port, as in a Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.is_default_port else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def canonical(self) -> str:
        return self.origin + self.path


def parse_origin(text: str) -> Endpoint:
    """Reads a configured origin, which must be spelled canonically: no path, no default port, lowercase."""
    endpoint = Endpoint.parse(text)
    if endpoint.origin != text:
        raise InvalidEndpoint("not the canonical spelling of an origin")
    return endpoint


def canonical_host(text: str) -> str:
    """The canonical form of a host as written in a URL: an IPv6 address in brackets, an IPv4 address or a name."""
    if text.startswith("[") and text.endswith("]"):
        return _canonical_ipv6(text[1:-1])
    host = text.lower().removesuffix(".")
    if not 0 < len(host) <= MAX_HOST:
        raise InvalidEndpoint("the host is empty or too long")
    labels = host.split(".")
    if not all(_LABEL.fullmatch(label) for label in labels):
        raise InvalidEndpoint("a host label is empty, too long or holds other than letters, digits and hyphens")
    # Resolvers read `127.1`, `0x7f.1` and `2130706433` as addresses; only the plain spelling is one here.
    if _NUMERIC_LABEL.fullmatch(labels[-1]) is not None and not _is_ipv4(host):
        raise InvalidEndpoint("the host ends in a number but is not a plain IPv4 address")
    return host


def canonical_port(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_LENGTH else 0
    if not 0 < number <= 65535:
        raise InvalidEndpoint("the port is not a number from 1 to 65535")
    return number


def _is_ipv4(host: str) -> bool:
    try:
        return str(IPv4Address(host)) == host
    except AddressValueError:
        return False


def _canonical_ipv6(text: str) -> str:
    if not text.isascii() or "%" in text:
        raise InvalidEndpoint("an IPv6 zone or a character no address has")
    try:
        address = IPv6Address(text)
    except AddressValueError:
        raise InvalidEndpoint("not an IPv6 address") from None
    # RFC 5952 section 5: an IPv4-mapped address shows its dotted quad. Interpreters differ in this one case.
    mapped = address.ipv4_mapped
    return str(address) if mapped is None else f"::ffff:{mapped}"
