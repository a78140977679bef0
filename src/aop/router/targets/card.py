"""The exact Card an Invocation runs against, reduced to what running needs."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from aop.contracts.card import AgentCard, AuthenticationType, Limits
from aop.net.origin import Endpoint

_KEPT_BYTES = 2_000
_KEPT_BYTES_PER_SKILL = 1_000


@dataclass(frozen=True)
class SkillSchemas:
    """The schemas of a Skill as text. `SchemaChecks` keeps what it prepares from them."""

    input: bytes
    output: bytes


@dataclass(frozen=True)
class TargetCard:
    agent_id: str
    name: str
    version: str
    digest: str
    endpoint: Endpoint
    authentication: AuthenticationType
    limits: Limits
    required_permissions: Mapping[str, frozenset[str]]
    skills: Mapping[str, SkillSchemas]
    kept_bytes: int
    """Roughly how much memory it takes."""


def target_card(document: bytes, digest: str) -> TargetCard:
    """ValueError when the bytes are not a Card that can be run."""
    card = msgspec.json.decode(document, type=AgentCard)
    skills = {skill.id: SkillSchemas(bytes(skill.input_schema), bytes(skill.output_schema)) for skill in card.skills}
    schemas = sum(len(skill.input) + len(skill.output) for skill in skills.values())
    permissions = sum(map(len, (name for skill in card.skills for name in skill.required_permissions)))
    return TargetCard(
        agent_id=card.agent_id,
        name=card.name,
        version=card.version,
        digest=digest,
        endpoint=Endpoint.parse(card.protocol.endpoint),
        authentication=card.authentication.type,
        limits=card.limits,
        required_permissions={skill.id: frozenset(skill.required_permissions) for skill in card.skills},
        skills=skills,
        kept_bytes=_KEPT_BYTES + _KEPT_BYTES_PER_SKILL * len(skills) + schemas + 10 * permissions,
    )
