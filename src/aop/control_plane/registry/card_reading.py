"""An Agent Card as registered: read strictly, canonical bytes and digest computed once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from aop.base.canonical import canonical, digest
from aop.contracts.card import AgentCard
from aop.contracts.errors import InvalidRequest
from aop.control_plane.registry.card_rules import card_violations


@dataclass(frozen=True)
class ReadCard:
    card: AgentCard
    document: bytes
    digest: str


def read_card(raw: bytes, value: object) -> ReadCard:
    """`value` is the parsed text of `raw` and follows the Card's schema; CARD-1 to CARD-6 are checked here."""
    violations = card_violations(raw, cast("Mapping[str, Any]", value))
    if violations:
        raise InvalidRequest(*violations)
    document = canonical(value)
    return ReadCard(msgspec.json.decode(document, type=AgentCard), document, digest(document))
