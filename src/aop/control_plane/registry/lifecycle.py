"""The state machines of Cards, Bindings and Releases as tables of transitions."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from aop.contracts.catalog import PublicationStatus as Card
from aop.contracts.publication import ReleaseState as Release
from aop.contracts.publication import VerificationStatus as Binding

S = TypeVar("S", Card, Release)


@dataclass(frozen=True)
class Transition(Generic[S]):
    sources: frozenset[S]
    target: S


def _from(*sources: S, to: S) -> Transition[S]:
    return Transition(frozenset(sources), to)


PUBLISH_CARD = _from(Card.DRAFT, to=Card.PUBLISHED)
DISABLE_CARD = _from(Card.DRAFT, Card.PUBLISHED, to=Card.DISABLED)

VERIFY_RELEASE = _from(Release.PENDING_VERIFICATION, to=Release.VERIFIED)
PUBLISH_RELEASE = _from(Release.VERIFIED, to=Release.PUBLISHED)
SUSPEND_RELEASE = _from(Release.VERIFIED, Release.PUBLISHED, to=Release.SUSPENDED)
REVOKE_RELEASE = _from(Release.VERIFIED, Release.PUBLISHED, Release.SUSPENDED, to=Release.REVOKED)

CREATED_RELEASE = {Binding.PENDING: Release.PENDING_VERIFICATION, Binding.VERIFIED: Release.VERIFIED}
"""The first state of a Release by the state of its Binding. There is none for a failed Binding."""

CHALLENGEABLE = frozenset({Binding.PENDING, Binding.FAILED})
