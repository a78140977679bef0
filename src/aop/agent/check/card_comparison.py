"""Compares an Agent that answers with its Card, and says what to change before the Card is released."""

from collections.abc import Iterator
from dataclasses import dataclass

from aop.a2a.versions import A2AVersion
from aop.agent.check.a2a_address import FoundAgent
from aop.agent.check.a2a_card import MAX_SKILLS, A2ACard, A2ASecurity
from aop.agent.check.card_draft import usable_skill_id
from aop.contracts.card import AgentCard

_MAX_NAMES = 10


@dataclass(frozen=True)
class Difference:
    """What differs and the way out. `breaks_calls`: Invocations fail as long as it is so."""

    text: str
    fix: str
    breaks_calls: bool = True


def differences(card: AgentCard, agent: FoundAgent) -> list[Difference]:
    """What matters most comes first."""
    found = [*_protocol(agent), *_streaming(card, agent), *_skills(card, agent), *_authentication(agent)]
    found += _older_card(card, agent)
    return sorted(found, key=lambda one: not one.breaks_calls)


def _protocol(agent: FoundAgent) -> Iterator[Difference]:
    if A2AVersion.V0_3 in agent.speaks:
        return
    if A2AVersion.V1_0 in agent.speaks:
        yield Difference(
            "the Agent speaks A2A 1.0 only, and the platform calls Agents with A2A 0.3.0",
            f"put `aop front --to {agent.endpoint}` in front of it, or let it answer 0.3 too:"
            " enable_v0_3_compat=True in a2a-sdk, legacyCompat in @a2a-js/sdk",
        )
    else:
        yield Difference(
            "the Agent offers A2A 0.3.0 over JSON-RPC neither in its agent card nor in its answers",
            "serve A2A 0.3.0 over JSON-RPC, or put `aop front` in front of it",
        )


def _streaming(card: AgentCard, agent: FoundAgent) -> Iterator[Difference]:
    if card.limits.streaming and not agent.card.streaming:
        yield Difference(
            "the Card says that the Agent streams, and the Agent says that it does not",
            'write "streaming": false in `limits` of the Card, or switch streaming on in the Agent',
        )


def _skills(card: AgentCard, agent: FoundAgent) -> Iterator[Difference]:
    """An Agent that names no Skill has nothing to compare."""
    named = {usable_skill_id(skill.id) for skill in agent.card.skills}
    missing = [skill.id for skill in card.skills if skill.id not in named]
    if named and missing:
        yield Difference(
            f"the Agent does not name the Skill {_listed(missing)} of the Card; it names {_listed(sorted(named))}",
            "use the ids of the Agent in the Card, or add the Skill to the Agent",
        )


def _older_card(card: AgentCard, agent: FoundAgent) -> Iterator[Difference]:
    """Of an Agent that makes its agent card from its Card: it was started before the Card changed."""
    served = agent.card
    if served.agent_id != card.agent_id:
        return
    others = [name for name, differs in _members_that_differ(card, served) if differs]
    if served.version != card.version:
        text = f"the running Agent has the Card of version {served.version or '(none)'}, and this is {card.version}"
    elif others:
        text = f"the running Agent was started before its Card changed: {_listed(others)}"
    else:
        return
    fix = "stop the Agent and start it again, so that it runs what you publish"
    yield Difference(text, fix, breaks_calls=False)


def _members_that_differ(card: AgentCard, served: A2ACard) -> Iterator[tuple[str, bool]]:
    """Of those that both have; texts are compared as a reader of A2A reads them."""
    yield "name", card.name.strip() != served.name
    yield "description", card.description.strip() != served.description
    skills = {(skill.id, skill.name.strip(), skill.description.strip()) for skill in card.skills[:MAX_SKILLS]}
    yield "skills", skills != {(skill.id, skill.name, skill.description) for skill in served.skills}


def _authentication(agent: FoundAgent) -> Iterator[Difference]:
    asks = agent.card.security
    if agent.checks_callers is False:
        yield Difference(
            "the Agent answers callers without a credential, so whoever reaches its address can use it",
            f"put `aop front --to {agent.endpoint}` in front of it, or verify the Router's credential with aop.agent",
            breaks_calls=False,
        )
    elif asks and A2ASecurity.HTTP_BEARER not in asks:
        yield Difference(
            f"the Agent asks its callers for {_listed(sorted(asks))}, and the platform presents its own HTTP bearer"
            " credential only",
            f"put `aop front --to {agent.endpoint}` in front of it, with the secret in the settings of the front",
        )


def _listed(names: list[str]) -> str:
    rest = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {rest} more" if rest > 0 else "")
