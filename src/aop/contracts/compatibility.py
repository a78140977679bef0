"""Reader of what moving from one version of an Agent to another means for those who use its Skills."""

from enum import StrEnum

import msgspec

from aop.contracts.wire import Wire


class Compatible(StrEnum):
    YES = "yes"
    NO = "no"
    NOT_DECIDED = "not_decided"


class SchemaAnswer(Wire, frozen=True, kw_only=True):
    """Of one schema. Only with NO there is an example: one version accepts it and the other refuses it."""

    compatible: Compatible
    example: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class SkillAnswers(Wire, frozen=True, kw_only=True):
    """`inputs`: whether those of the old version stay valid. `outputs`: whether new ones are valid for old readers."""

    skill_id: str
    inputs: SchemaAnswer
    outputs: SchemaAnswer


class AgentCompatibility(Wire, frozen=True, kw_only=True, rename={"agent_id": "agentId", "from_version": "from"}):
    """Of each Skill that both versions have, in the order of the newer one."""

    agent_id: str
    from_version: str
    version: str
    skills: tuple[SkillAnswers, ...]


READERS: dict[str, type] = {
    "agent-compatibility/1": AgentCompatibility,
    "agent-compatibility/1#skill": SkillAnswers,
    "agent-compatibility/1#answer": SchemaAnswer,
}
