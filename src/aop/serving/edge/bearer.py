"""Bearer values: how a token is taken from the Authorization header, and how service tokens are recognized."""

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from aop.base import json as strict_json
from aop.base.ids import is_safe_identifier
from aop.contracts.errors import Forbidden, Unauthenticated
from aop.serving.edge.request import Request

_BEARER = re.compile(rb"bearer ([\x21-\x7e]+)", re.IGNORECASE)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


def bearer_token(request: Request) -> str:
    """The one token of exactly one Authorization header; the scheme may be in any case."""
    header = request.single_header(b"authorization")
    match = None if header is None else _BEARER.fullmatch(header)
    if match is None:
        raise Unauthenticated("no single bearer token")
    return match[1].decode("ascii")


class _Entry(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    id: str
    token_sha256: str


@dataclass(frozen=True)
class ServicePrincipals:
    """The peers a unit knows, each by the SHA-256 of its token."""

    _digests: Sequence[tuple[bytes, str]]

    @classmethod
    def parse(cls, text: str) -> "ServicePrincipals":
        try:
            entries = strict_json.decode(text.encode(), list[_Entry])
        except msgspec.DecodeError:
            raise ValueError("must be a JSON array of {id, tokenSha256}") from None
        if not entries:
            raise ValueError("must hold at least one entry")
        if not all(is_safe_identifier(entry.id) and _SHA256.fullmatch(entry.token_sha256) for entry in entries):
            raise ValueError("must hold safe identifiers and lowercase hex SHA-256 values")
        ids = {entry.id for entry in entries}
        digests = {entry.token_sha256 for entry in entries}
        if len(ids) < len(entries) or len(digests) < len(entries):
            raise ValueError("must not repeat an entry")
        return cls([(bytes.fromhex(entry.token_sha256), entry.id) for entry in entries])

    async def authenticate(self, request: Request) -> None:
        """Names the calling unit; an unknown token is forbidden rather than unauthenticated."""
        digest = hashlib.sha256(bearer_token(request).encode("ascii")).digest()
        # Every entry is compared, so that timing does not show which one was close.
        matching = [principal for expected, principal in self._digests if hmac.compare_digest(expected, digest)]
        if not matching:
            raise Forbidden("unknown service token")
        request.caller = matching[0]
