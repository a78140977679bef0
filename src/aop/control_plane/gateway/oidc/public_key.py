"""A key of the provider: its algorithm, and the check of a signature."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

_FORMS = {
    "RS256": {"kty": "RSA"},
    "ES256": {"kty": "EC", "crv": "P-256"},
    "EdDSA": {"kty": "OKP", "crv": "Ed25519"},
}
ALGORITHMS = frozenset(_FORMS)
_MIN_RSA_BITS = 2048
# A key set should hold no private key; the members that would make one are not read.
_PUBLIC_MEMBERS = ("kty", "crv", "n", "e", "x", "y")


class PublicKey:
    """Verifies nothing when the key is weak or cannot be read."""

    def __init__(self, algorithm: str, jwk: Mapping[str, Any]) -> None:
        self.algorithm = algorithm
        self._jwk = {member: jwk[member] for member in _PUBLIC_MEMBERS if member in jwk}

    def verifies(self, signed: bytes, signature: bytes) -> bool:
        # Imported with the first token: the library is large, and most deployments have no OpenID provider.
        import jwt  # noqa: PLC0415

        try:
            loaded = self._loaded
            return self._is_strong and bool(loaded.Algorithm.verify(signed, loaded.key, signature))
        except (jwt.PyJWTError, ValueError, TypeError):
            return False

    @cached_property
    def _loaded(self) -> Any:
        import jwt  # noqa: PLC0415

        return jwt.PyJWK(self._jwk, algorithm=self.algorithm)

    @property
    def _is_strong(self) -> bool:
        return self.algorithm != "RS256" or self._loaded.key.key_size >= _MIN_RSA_BITS


def signing_keys(document: object) -> Mapping[str, PublicKey] | None:
    """Returns the signing keys of a JWKS document by their ids, or None when it is no such document."""
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        return None
    found: dict[str, PublicKey] = {}
    for jwk in entries:
        if isinstance(jwk, dict) and isinstance(jwk.get("kid"), str):
            algorithm = next((name for name, form in _FORMS.items() if form.items() <= jwk.items()), None)
            if algorithm is not None and _is_for(algorithm, jwk):
                found.setdefault(jwk["kid"], PublicKey(algorithm, jwk))
    return found


def _is_for(algorithm: str, jwk: Mapping[str, Any]) -> bool:
    """What the provider says a key is for, it is for alone (RFC 7517, 4.2 to 4.4)."""
    operations = jwk.get("key_ops", ["verify"])
    may_verify = isinstance(operations, list) and "verify" in operations
    return may_verify and jwk.get("use", "sig") == "sig" and jwk.get("alg", algorithm) == algorithm
