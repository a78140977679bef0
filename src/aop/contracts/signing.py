"""Ed25519 keys as configuration spells them (contract 12.4), and the key of delegations, which is derived from them."""

import hmac
from dataclasses import dataclass, field

from nacl.bindings import (
    crypto_sign,
    crypto_sign_BYTES,
    crypto_sign_keypair,
    crypto_sign_open,
    crypto_sign_seed_keypair,
    crypto_sign_SEEDBYTES,
)
from nacl.exceptions import BadSignatureError

from aop.base.canonical import from_base64url, to_base64url

_DELEGATION_INFO = b"platform-delegation"


@dataclass(frozen=True)
class SigningKey:
    """The Router's private key: the seed and its public half, which must match."""

    _pair: bytes = field(repr=False)

    @classmethod
    def generate(cls) -> "SigningKey":
        return cls(crypto_sign_keypair()[1])

    @classmethod
    def of_seed(cls, seed: bytes) -> "SigningKey":
        return cls(crypto_sign_seed_keypair(seed)[1])

    @classmethod
    def parse(cls, text: str) -> "SigningKey":
        raw = from_base64url(text)
        if len(raw) != 64:
            raise ValueError("must be 64 bytes: the seed and the public key")
        key = cls.of_seed(raw[:crypto_sign_SEEDBYTES])
        if key.public.raw != raw[crypto_sign_SEEDBYTES:]:
            raise ValueError("holds a public half that does not belong to its seed")
        return key

    @property
    def text(self) -> str:
        """What `parse` reads; for storing the key."""
        return to_base64url(self._pair)

    @property
    def seed(self) -> bytes:
        return self._pair[:crypto_sign_SEEDBYTES]

    @property
    def public(self) -> "VerifyKey":
        return VerifyKey(self._pair[crypto_sign_SEEDBYTES:])

    @property
    def public_text(self) -> str:
        return self.public.text

    def sign(self, message: bytes) -> bytes:
        return crypto_sign(message, self._pair)[:crypto_sign_BYTES]

    def delegation_key(self) -> "MacKey":
        """HKDF-SHA-256 (RFC 5869) of the seed: empty salt, 32 bytes, which is one block. In memory only."""
        extracted = hmac.digest(b"", self.seed, "sha256")
        return MacKey(hmac.digest(extracted, _DELEGATION_INFO + b"\x01", "sha256"))


@dataclass(frozen=True)
class MacKey:
    """A key of HMAC-SHA-256: who can confirm a tag can also make it."""

    _raw: bytes = field(repr=False)

    def tag(self, message: bytes) -> bytes:
        return hmac.digest(self._raw, message, "sha256")

    def confirms(self, message: bytes, tag: bytes) -> bool:
        """In constant time."""
        return hmac.compare_digest(self.tag(message), tag)


@dataclass(frozen=True)
class VerifyKey:
    raw: bytes

    @classmethod
    def parse(cls, text: str) -> "VerifyKey":
        raw = from_base64url(text)
        if len(raw) != 32:
            raise ValueError("must be 32 bytes: the public key")
        return cls(raw)

    @property
    def text(self) -> str:
        return to_base64url(self.raw)

    def confirms(self, message: bytes, signature: bytes) -> bool:
        if len(signature) != crypto_sign_BYTES:  # the rest would be read as part of the message
            return False
        try:
            crypto_sign_open(signature + message, self.raw)
        except BadSignatureError:
            return False
        return True
