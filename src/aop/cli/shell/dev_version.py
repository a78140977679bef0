"""Development versions: under which version a Card is published while its Agent is developed."""

import re
from collections.abc import Mapping

from aop.base.canonical import canonical, digest
from aop.base.json import parse
from aop.base.semver import Version
from aop.cli.shell.card_version import with_version
from aop.contracts.card import AgentCard
from aop.contracts.catalog import CatalogEntry, PublicationStatus
from aop.contracts.publication import ReleaseState

_DEVELOPMENT = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+-dev\.[0-9]+", re.ASCII)
_ENDED = frozenset({ReleaseState.SUSPENDED, ReleaseState.REVOKED})


def is_development(version: str) -> bool:
    return _DEVELOPMENT.fullmatch(version) is not None


def development_version(raw: bytes, card: AgentCard, entries: Mapping[str, CatalogEntry]) -> str:
    """The version that has this very Card already, else the next X.Y.Z-dev.N.

    A version that its author has not published is never published here, whatever its Card is.
    """
    own = entries.get(card.version)
    if own is not None and own.installable and own.card_digest == _digest(raw, card.version):
        return card.version
    base = ".".join(map(str, Version.parse(card.version).precedence[:3]))
    beginning, highest = f"{base}-dev.", 0
    for version, entry in entries.items():
        if is_development(version) and version.startswith(beginning):
            highest = max(highest, int(version.removeprefix(beginning)))
            if _is_usable(entry) and entry.card_digest == _digest(raw, version):
                return version
    return f"{beginning}{highest + 1}"


def _is_usable(entry: CatalogEntry) -> bool:
    ended = entry.release is not None and entry.release.state in _ENDED
    return entry.publication_status is not PublicationStatus.DISABLED and not ended


def _digest(raw: bytes, version: str) -> str:
    return digest(canonical(parse(with_version(raw.decode(), version).encode())))
