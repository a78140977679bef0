"""The exact Card an Invocation runs against, with its Skills ready to check input and output."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import jsonschema_rs
import msgspec

from aop.base import json
from aop.base.origin import Endpoint
from aop.contracts.card import AgentCard, AuthenticationType, Skill
from aop.contracts.documents import compiled


class SkillChecks:
    """Compiled once per Card and Skill; nothing is fetched and every pattern runs in linear time."""

    def __init__(self, skill: Skill) -> None:
        self._skill = skill

    @cached_property
    def input(self) -> jsonschema_rs.Draft202012Validator:
        return _validator(self._skill.input_schema)

    @cached_property
    def output(self) -> jsonschema_rs.Draft202012Validator:
        return _validator(self._skill.output_schema)


@dataclass(frozen=True)
class TargetCard:
    agent_id: str
    version: str
    digest: str
    endpoint: Endpoint
    authentication: AuthenticationType
    timeout_ms: int
    max_input_bytes: int
    max_output_bytes: int
    streaming: bool
    required_permissions: Mapping[str, frozenset[str]]
    skills: Mapping[str, SkillChecks]


def target_card(document: bytes, digest: str) -> TargetCard:
    """ValueError when the bytes are not a Card that can be run."""
    card = msgspec.json.decode(document, type=AgentCard)
    return TargetCard(
        agent_id=card.agent_id,
        version=card.version,
        digest=digest,
        endpoint=Endpoint.parse(card.protocol.endpoint),
        authentication=card.authentication.type,
        timeout_ms=card.limits.timeout_ms,
        max_input_bytes=card.limits.max_input_bytes,
        max_output_bytes=card.limits.max_output_bytes,
        streaming=card.limits.streaming,
        required_permissions={skill.id: frozenset(skill.required_permissions) for skill in card.skills},
        skills={skill.id: SkillChecks(skill) for skill in card.skills},
    )


def _validator(schema: msgspec.Raw) -> jsonschema_rs.Draft202012Validator:
    parsed = json.parse(bytes(schema), json.UNIT_DEPTH)
    if not isinstance(parsed, dict):
        raise TypeError("a Skill schema is an object")
    return compiled(parsed, formats=False)
