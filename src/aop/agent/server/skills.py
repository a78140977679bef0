"""What an Agent author writes: one async function per Skill, with the rules that read its input and join its chunks."""

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, get_type_hints

import msgspec

from aop.agent.guard.context import AgentContext
from aop.contracts.card import AgentCard

_EXACT = 2**53
"""Above it, a float may stand for several integers."""

SkillFunction = Callable[[Any, AgentContext], Awaitable[Any] | AsyncIterator[Any]]
"""Takes the input and the context of the call; returns the result, or yields it chunk by chunk."""


class InputRefused(Exception):
    """The Skill cannot work on this input. The Task is rejected; callers see this reason, but not the text."""


class SkillsMismatch(ValueError):
    """The functions do not match the Skills of the Card."""


def join_chunks(chunks: Sequence[Any]) -> Any:
    """Texts become one text, a single chunk is the result itself, and anything else becomes an array."""
    if all(isinstance(chunk, str) for chunk in chunks):
        return "".join(chunks)
    return chunks[0] if len(chunks) == 1 else list(chunks)


@dataclass(frozen=True)
class AgentSkill:
    """A function that streams, together with its own rule for the result of a call that does not stream.

    `join` gets at least one chunk.
    """

    function: SkillFunction
    join: Callable[[Sequence[Any]], Any] = join_chunks


class Skills:
    """The Skills of one Agent, by the ids in its Card."""

    def __init__(self, card: AgentCard, skills: Mapping[str, SkillFunction | AgentSkill]) -> None:
        declared = {skill.id for skill in card.skills}
        if declared != skills.keys():
            names = ", ".join(sorted(declared ^ skills.keys()))
            raise SkillsMismatch(f"in the Card or in the code, but not in both: {names}")
        found = {name: skill if isinstance(skill, AgentSkill) else AgentSkill(skill) for name, skill in skills.items()}
        self._skills = found
        inputs = {name: _input_type(skill.function) for name, skill in found.items()}
        self._takes_text = {name: _may_be_text(msgspec.inspect.type_info(kind)) for name, kind in inputs.items()}
        self._decoders = {name: msgspec.json.Decoder(kind) for name, kind in inputs.items()}

    def takes_text(self, skill_id: str) -> bool:
        """Whether a text part is the input: then the first parameter of the function may be a `str`."""
        return self._takes_text.get(skill_id, False)

    def chunks(self, skill_id: str, text: bytes, context: AgentContext) -> AsyncGenerator[Any, None]:
        """The work on an input, as JSON; it does not begin before the first step.

        The Router has checked the input against the Card. It is read again here because an Agent can run without it.
        """
        skill = self._skills.get(skill_id)
        if skill is None:
            raise InputRefused(f"This Agent offers {', '.join(self._skills)}.")
        try:
            decoded = _decoded(self._decoders[skill_id], text)
        except msgspec.DecodeError as problem:
            raise InputRefused(f"The input of {skill_id} is not right: {problem}") from None
        return _chunks(skill.function, decoded, context)

    def join(self, skill_id: str, chunks: Sequence[Any]) -> Any:
        return self._skills[skill_id].join(chunks)


def _decoded(decoder: msgspec.json.Decoder[Any], text: bytes) -> Any:
    """To a schema, 2.0 is an integer like 2, and the SDKs of A2A 1.0 write every number so: protobuf has no other."""
    try:
        return decoder.decode(text)
    except msgspec.ValidationError:
        return decoder.decode(msgspec.json.encode(_with_integers(msgspec.json.decode(text))))


def _with_integers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_integers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_integers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT else value


def _input_type(function: SkillFunction) -> Any:
    """The annotation of the first parameter; any JSON value without one."""
    parameters = list(inspect.signature(function).parameters)
    if len(parameters) != 2:
        raise SkillsMismatch(f"{function} takes {len(parameters)} arguments; a Skill takes its input and its context")
    return get_type_hints(function, include_extras=True).get(parameters[0], Any)


def _may_be_text(kind: msgspec.inspect.Type) -> bool:
    if isinstance(kind, msgspec.inspect.UnionType):
        return any(_may_be_text(one) for one in kind.types)
    return isinstance(kind, msgspec.inspect.StrType | msgspec.inspect.AnyType)


async def _chunks(function: SkillFunction, decoded: Any, context: AgentContext) -> AsyncGenerator[Any, None]:
    work = function(decoded, context)
    if isinstance(work, AsyncGenerator):
        async with aclosing(work) as chunks:
            async for chunk in chunks:
                yield chunk
    elif isinstance(work, AsyncIterator):
        async for chunk in work:
            yield chunk
    else:
        yield await work
