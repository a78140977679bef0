"""The three Skills: what each takes, and how its result is made."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated, Any, Final

import msgspec

from aop.agent import AgentContext, SkillFunction
from summarizer.sentences import ranked, summary, tokens

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=200_000)]
SpokenText = Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]
Count = Annotated[int, msgspec.Meta(ge=1, le=20)]
Pace = Annotated[int, msgspec.Meta(ge=0, le=1_000)]
WordsPerMinute = Annotated[int, msgspec.Meta(ge=30, le=6_000)]


class SkillInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """An input is read as its Skill declares it; one that does not fit is rejected with the reason."""


class SummarizeInput(SkillInput, frozen=True):
    text: Text
    sentences: Count = 3
    pace_ms: Pace = 0


class RankInput(SkillInput, frozen=True):
    text: Text
    sentences: Count = 5


class ReadInput(SkillInput, frozen=True):
    text: SpokenText
    words_per_minute: WordsPerMinute = 180


def summarize(request: SummarizeInput, _: AgentContext) -> AsyncIterator[str]:
    return _spoken(summary(request.text, request.sentences), request.pace_ms / 1_000)


async def rank_sentences(request: RankInput, _: AgentContext) -> dict[str, Any]:
    return {"sentences": [asdict(sentence) for sentence in ranked(request.text, request.sentences)]}


def read_aloud(request: ReadInput, _: AgentContext) -> AsyncIterator[str]:
    return _spoken(request.text, 60 / request.words_per_minute)


async def _spoken(text: str, pause: float) -> AsyncIterator[str]:
    """A text word by word, with a pause before each."""
    for word in tokens(text):
        await asyncio.sleep(pause)
        yield word


SKILLS: Final[dict[str, SkillFunction]] = {
    "summarize": summarize,
    "rank-sentences": rank_sentences,
    "read-aloud": read_aloud,
}
