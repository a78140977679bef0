"""Reader of the Authorization document: what permitted an Invocation. Its digest stands in the Ledger."""

from functools import lru_cache

import msgspec

from aop.base.canonical import canonical, digest
from aop.contracts.wire import Wire


class AuthorizedInstallation(Wire, frozen=True, kw_only=True):
    installation_id: str
    installed_version: str
    installed_release_id: str
    accepted_permissions: tuple[str, ...]


class AuthorizedRelease(Wire, frozen=True, kw_only=True):
    release_id: str
    card_digest: str
    endpoint_binding_id: str
    verification_method: str
    verification_evidence_digest: str
    published_at: str


class AuthorizationDocument(Wire, frozen=True, kw_only=True):
    installation: AuthorizedInstallation
    release: AuthorizedRelease

    @property
    def digest(self) -> str:
        return _digest(self)


# Every call needs the digest, and few Installations make most calls. Equal documents have one digest, whatever changes.
@lru_cache(maxsize=4096)
def _digest(authorization: AuthorizationDocument) -> str:
    return digest(canonical(msgspec.to_builtins(authorization)))


READERS: dict[str, type] = {"authorization/1": AuthorizationDocument}
