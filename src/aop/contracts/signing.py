"""Ed25519 keys as configuration spells them (contract 12.4)."""

from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from aop.base.canonical import from_base64url, to_base64url


@dataclass(frozen=True)
class SigningKey:
    """The Router's private key: the seed and its public half, which must match."""

    _key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def generate(cls) -> "SigningKey":
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def of_seed(cls, seed: bytes) -> "SigningKey":
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def parse(cls, text: str) -> "SigningKey":
        raw = from_base64url(text)
        if len(raw) != 64:
            raise ValueError("must be 64 bytes: the seed and the public key")
        key = cls.of_seed(raw[:32])
        if key.public.raw != raw[32:]:
            raise ValueError("holds a public half that does not belong to its seed")
        return key

    @property
    def text(self) -> str:
        """What `parse` reads; for whoever keeps the key."""
        return to_base64url(self._key.private_bytes_raw() + self.public.raw)

    @property
    def public(self) -> "VerifyKey":
        return VerifyKey(self._key.public_key())

    @property
    def public_text(self) -> str:
        return self.public.text

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message)


@dataclass(frozen=True)
class VerifyKey:
    _key: Ed25519PublicKey

    @classmethod
    def parse(cls, text: str) -> "VerifyKey":
        raw = from_base64url(text)
        if len(raw) != 32:
            raise ValueError("must be 32 bytes: the public key")
        return cls(Ed25519PublicKey.from_public_bytes(raw))

    @property
    def raw(self) -> bytes:
        return self._key.public_bytes_raw()

    @property
    def text(self) -> str:
        return to_base64url(self.raw)

    def confirms(self, message: bytes, signature: bytes) -> bool:
        try:
            self._key.verify(signature, message)
        except InvalidSignature:
            return False
        return True
