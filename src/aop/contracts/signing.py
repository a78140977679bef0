"""Ed25519 keys as configuration spells them (contract 12.4)."""

from dataclasses import dataclass, field

from nacl import signing
from nacl.exceptions import BadSignatureError

from aop.base.base64url import from_base64url, to_base64url


@dataclass(frozen=True)
class SigningKey:
    """The Router's private key: the seed and its public half, which must match."""

    _key: signing.SigningKey = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> "SigningKey":
        raw = from_base64url(text)
        if len(raw) != 64:
            raise ValueError("must be 64 bytes: the seed and the public key")
        key = signing.SigningKey(raw[:32])
        if key.verify_key.encode() != raw[32:]:
            raise ValueError("holds a public half that does not belong to its seed")
        return cls(key)

    @property
    def public(self) -> "VerifyKey":
        return VerifyKey(self._key.verify_key)

    @property
    def public_text(self) -> str:
        return to_base64url(self._key.verify_key.encode())

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message).signature


@dataclass(frozen=True)
class VerifyKey:
    _key: signing.VerifyKey

    @classmethod
    def parse(cls, text: str) -> "VerifyKey":
        raw = from_base64url(text)
        if len(raw) != 32:
            raise ValueError("must be 32 bytes: the public key")
        return cls(signing.VerifyKey(raw))

    def confirms(self, message: bytes, signature: bytes) -> bool:
        try:
            self._key.verify(message, signature)
        except (BadSignatureError, ValueError):
            return False
        return True
